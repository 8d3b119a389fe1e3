import { distance } from 'fastest-levenshtein';
import { holdsOn } from '../matching/phrases.js';
import { contentOf } from '../matching/similarity.js';
import { truncate } from '../timeline/text.js';
import type { CallerAction } from './caller.js';

/** A line of the agent in a step with answers, and what the caller said to it. */
export interface Exchange {
  readonly heard: string;
  readonly said: string;
  /** Whether the script has no answer to it. */
  readonly isOtherwise: boolean;
}

const MAX_REPEATS = 3;
/** Lines that an agent repeats in turn; more of them may be the questions about each of several guests. */
const MAX_LINES = 3;
const MAX_QUOTE = 300;
/** A recogniser may hear one letter of a longer word differently. */
const MIN_MISHEARD = 4;

/**
 * The end of a call whose agent says the same line, or the same lines in turn, again although it was answered three times;
 * undefined for another line. An agent that asks for a moment has not repeated itself. If the script has no answer to one of
 * the lines, that may be why.
 */
export function agentRepeats(answer: string, exchanges: readonly Exchange[]): CallerAction | undefined {
  if (holdsOn(answer)) return undefined;
  const lengths = Array.from({ length: MAX_LINES }, (_, index) => index + 1);
  const length = lengths.find((each) => isRepeated(answer, exchanges, each));
  const latest = length === undefined ? [] : exchanges.slice(-length * MAX_REPEATS);
  const [first] = latest;
  const unanswered = latest.filter(({ isOtherwise }) => isOtherwise);
  if (!first || unanswered.length === latest.length) return undefined;
  if (unanswered[0]) return noAnswer(unanswered[0].heard);
  const [line, said] = [answer, first.said].map((text) => truncate(text, MAX_QUOTE));
  const between = length === 1 ? '' : ', with the same in between';
  return {
    type: 'hang_up',
    code: 'agent_repeats',
    reason: `The agent repeated "${line}" three times after "${said}"${between}`,
  };
}

export const noAnswer = (heard: string): CallerAction => ({
  type: 'hang_up',
  code: 'no_answer',
  reason: `The script has no answer to "${truncate(heard, MAX_QUOTE)}"`,
});

/** Whether as many lines as `length` came three times in turn, and the first of them comes now. */
function isRepeated(answer: string, exchanges: readonly Exchange[], length: number): boolean {
  const heard = [...exchanges.slice(-length * MAX_REPEATS).map((each) => each.heard), answer];
  const last = heard.length - 1;
  const isAgain = (line: string, index: number) => isSameLine(line, heard[last - ((last - index) % length)]!);
  return last === length * MAX_REPEATS && heard.every(isAgain);
}

/** Whether two lines have the same words, fillers aside. Another number, day or name is progress, however long the rest is. */
function isSameLine(one: string, other: string): boolean {
  const [a, b] = [contentOf(one), contentOf(other)];
  return a.length > 0 && a.length === b.length && a.every((word, index) => soundsLike(word, b[index]!));
}

const soundsLike = (a: string, b: string): boolean =>
  a === b || (Math.min(a.length, b.length) >= MIN_MISHEARD && !/\d/.test(a + b) && distance(a, b) === 1);
