import { type NoPersonalDataSpec, PERSONAL_DATA_KINDS } from '../definition/definition.js';
import { PLAIN } from './common.js';
import type { Kinds } from './kind.js';
import { allowed, check, speaker } from './parts-schema.js';

export const PERSONAL_DATA = {
  no_personal_data: {
    ...PLAIN,
    schema: check(
      'No personal data',
      'The speaker says no card number (with a valid check digit), IBAN (likewise), e-mail address or phone number. What is found is never shown in full.',
      {
        speaker,
        kinds: {
          type: 'array',
          description: 'Kinds of data; all if absent',
          items: { type: 'string', enum: PERSONAL_DATA_KINDS },
          minItems: 1,
          uniqueItems: true,
        },
        allow: allowed,
      },
      [],
    ),
    needs: (spec) => (spec.speaker === 'caller' ? [] : ['words']),
    describe: (spec) => `${spec.speaker} says no personal data${spec.kinds ? ` (${spec.kinds.join(', ')})` : ''}`,
    isProhibition: () => true,
    ofAgentAlone: true,
    notInRecording: null,
  },
} satisfies Pick<Kinds, NoPersonalDataSpec['type']>;
