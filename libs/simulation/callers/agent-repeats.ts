import { distance } from 'fastest-levenshtein';
import { holdsOn } from '../matching/phrases.js';
import { contentOf } from '../matching/similarity.js';
import { truncate } from '../timeline/text.js';
import type { CallerAction } from './caller.js';

/** An answer of the script and the agent's line to which it was said. */
export interface Exchange {
  readonly heard: string;
  readonly said: string;
}

const MAX_REPEATS = 3;
const MAX_QUOTE = 300;
/** A recogniser may hear one letter of a longer word differently. */
const MIN_MISHEARD = 4;

/**
 * The end of a call whose agent says the same line again although it was answered three times in a row; undefined for
 * another line. An agent that asks for a moment has not repeated itself.
 */
export function agentRepeats(answer: string, exchanges: readonly Exchange[]): CallerAction | undefined {
  const latest = exchanges.slice(-MAX_REPEATS);
  const [first] = latest;
  const isRepeated = latest.length === MAX_REPEATS && latest.every(({ heard }) => isSameLine(heard, answer));
  if (!first || !isRepeated || holdsOn(answer)) return undefined;
  const [line, said] = [answer, first.said].map((text) => truncate(text, MAX_QUOTE));
  return {
    type: 'hang_up',
    code: 'agent_repeats',
    reason: `The agent repeated "${line}" three times after "${said}"`,
  };
}

/** Whether two lines have the same words, fillers aside. Another number, day or name is progress, however long the rest is. */
function isSameLine(one: string, other: string): boolean {
  const [a, b] = [contentOf(one), contentOf(other)];
  return a.length > 0 && a.length === b.length && a.every((word, index) => soundsLike(word, b[index]!));
}

const soundsLike = (a: string, b: string): boolean =>
  a === b || (Math.min(a.length, b.length) >= MIN_MISHEARD && !/\d/.test(a + b) && distance(a, b) === 1);
