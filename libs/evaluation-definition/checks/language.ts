import type { LanguageSpec } from '../definition/definition.js';
import { isLanguageTag, languageName } from '../definition/language.js';
import { anchorsOf, anchorText, needsOfEvent, PLAIN } from './common.js';
import type { Kinds } from './kind.js';
import { check, placement, turnNumber } from './parts-schema.js';

export const LANGUAGE = {
  language: {
    ...PLAIN,
    schema: check(
      'Language',
      'The agent answers in this language. Undecided if it says too little to tell.',
      {
        language: {
          type: 'string',
          description: 'Language as BCP 47; only the first part counts, so `en` and `en-GB` mean the same',
          minLength: 2,
          maxLength: 35,
          pattern: '^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$',
          patternErrorMessage: 'must be a language such as en or de-AT',
          examples: ['en'],
        },
        turn: turnNumber,
        after: placement.after,
        before: placement.before,
      },
      ['language'],
    ),
    needs: (spec) => ['words', ...anchorsOf(spec).flatMap(([, event]) => needsOfEvent(event))],
    describe: ({ language, turn, ...anchors }) => {
      const inTurn = turn === undefined ? '' : ` in turn ${turn}`;
      return `the agent answers in ${isLanguageTag(language) ? languageName(language) : language}${inTurn}${anchorText(anchors)}`;
    },
    events: anchorsOf,
    ofAgentAlone: true,
    notInRecording: null,
  },
} satisfies Pick<Kinds, LanguageSpec['type']>;
