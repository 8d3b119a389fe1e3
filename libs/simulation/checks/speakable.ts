import type { SpeakableSpec } from '../../evaluation-definition/index.js';
import { truncate } from '../timeline/text.js';
import { EMAIL, type Forbidden, saysNone } from './forbidden-words.js';
import type { Leaves } from './kind.js';
import type { EventFinder } from './occurrences.js';

const DEFAULT_MAX_DIGITS = 4;

const URL =
  /(?:https?:\/\/|www\.)[^\s<>"')]{1,500}|\b[a-z\d-]{2,63}(?:\.[a-z\d-]{2,63}){0,3}\.(?:com|org|net|info|io|app|dev|eu|de|at|ch|fr|es|it|nl|be|co\.uk|uk|us|ca|au)\b(?:\/[^\s<>"')]{0,500})?/giu;
const MARKDOWN = [
  /\*\*[^*\n]{1,200}\*\*|__[^_\n]{1,200}__/gu,
  /(?<![\p{L}\d*])\*[^*\s][^*\n]{0,200}\*(?![\p{L}\d*])/gu,
  /`{3}|`[^`\n]{1,200}`/gu,
  /!?\[[^\]\n]{1,200}\]\([^)\s]{1,500}\)/gu,
  /^[ \t]{0,3}(?:#{1,6}|[-*+•>]|\d{1,3}[.)])[ \t]+\S/gmu,
  /^[ \t]{0,3}\|.{0,200}\|[ \t]*$/gmu,
];
const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F/gu;

export const SPEAKABLE = {
  speakable: {
    evaluate: isSpeakable,
    // What is known is the least that was said.
    couldChange: (_, { met }) => met === true,
  },
} satisfies Pick<Leaves, SpeakableSpec['type']>;

/** Whether the agent says nothing that a voice would stumble over. */
function isSpeakable({ maxDigits = DEFAULT_MAX_DIGITS, allow = [] }: SpeakableSpec, finder: EventFinder) {
  const obstacles: readonly (readonly [string, readonly RegExp[]])[] = [
    ['an e-mail address', [EMAIL]],
    ['a web address', [URL]],
    ['Markdown', MARKDOWN],
    ['an emoji', [EMOJI]],
    [`more than ${maxDigits} digits run together`, [new RegExp(`\\d{${maxDigits + 1},}`, 'gu')]],
  ];
  const allowed = new Set(allow.map((text) => text.toLowerCase()));
  const search = (text: string) =>
    obstacles.flatMap(([what, patterns]): Forbidden[] => {
      const matches = patterns.flatMap((pattern) => [...text.matchAll(pattern)]);
      const first = matches.find(([match]) => !allowed.has(match.trim().toLowerCase()));
      if (!first) return [];
      const quote = truncate(first[0].trim(), 120);
      return [{ at: first.index, quote, text: `${what} ("${quote}")` }];
    });
  return saysNone('agent', finder, search, 'The agent said nothing that a voice would stumble over');
}
