import type { SpeakableSpec } from '../../evaluation-definition/index.js';
import { MAX_SEARCH_LENGTH } from '../matching/matching.js';
import { type CallView, partAt } from '../timeline/call-view.js';
import { truncate } from '../timeline/text.js';
import type { YieldToEventLoop } from '../time/yield-to-event-loop.js';
import { failedBy, type Finding } from './check-result.js';
import type { Leaves } from './kind.js';
import { requireSearched } from './occurrences.js';

const MAX_FINDINGS = 5;
const DEFAULT_MAX_DIGITS = 4;

const EMAIL = /[\p{L}\d._%+-]{1,64}@[\p{L}\d-]{1,63}(?:\.[\p{L}\d-]{1,63}){1,5}/gu;
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
    evaluate: (check, { view, yieldToEventLoop }) => isSpeakable(check, view, yieldToEventLoop),
    // What is known is the least that was said.
    couldChange: (_, { met }) => met === true,
  },
} satisfies Pick<Leaves, SpeakableSpec['type']>;

/** Whether the agent says nothing that a voice would stumble over. */
async function isSpeakable(spec: SpeakableSpec, view: CallView, yieldToEventLoop: YieldToEventLoop): Promise<Finding> {
  const { maxDigits = DEFAULT_MAX_DIGITS, allow = [] } = spec;
  const obstacles: readonly (readonly [string, readonly RegExp[]])[] = [
    ['an e-mail address', [EMAIL]],
    ['a web address', [URL]],
    ['Markdown', MARKDOWN],
    ['an emoji', [EMOJI]],
    [`more than ${maxDigits} digits run together`, [new RegExp(`\\d{${maxDigits + 1},}`, 'gu')]],
  ];
  const allowed = new Set(allow.map((text) => text.toLowerCase()));
  const found: { readonly what: string; readonly entry: number; readonly quote: string }[] = [];
  for (const utterance of view.said('agent')) {
    await yieldToEventLoop();
    // Whole, since a pause may divide an address.
    const text = utterance.text.slice(0, MAX_SEARCH_LENGTH);
    for (const [what, patterns] of obstacles) {
      const matches = patterns.flatMap((pattern) => [...text.matchAll(pattern)]);
      const first = matches.find(([match]) => !allowed.has(match.trim().toLowerCase()));
      if (!first) continue;
      const { index } = partAt(utterance, first.index).part;
      found.push({ what, entry: index, quote: truncate(first[0].trim(), 120) });
    }
  }
  const [first] = found;
  if (!first) requireSearched(view.said('agent'));
  if (!first) return { met: true, detail: 'The agent said nothing that a voice would stumble over', evidence: [] };
  const texts = found.slice(0, MAX_FINDINGS).map(({ what, quote }) => `${what} ("${quote}")`);
  const more = found.length > MAX_FINDINGS ? ` and ${found.length - MAX_FINDINGS} more` : '';
  const evidence = found.slice(0, MAX_FINDINGS).map(({ entry, quote }) => ({ entry, quote }));
  return failedBy({ met: false, detail: `The agent said ${texts.join(', ')}${more}`, evidence }, first.entry);
}
