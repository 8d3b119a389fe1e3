import type { CallView, Utterance } from '../timeline/call-view.js';
import { areSimilar } from '../matching/similarity.js';
import { type CallerConduct, evidenceOf, type Invalidity } from './invalidity.js';
import { isOnlyAgreement, wantsRepetition } from '../matching/phrases.js';

/** A line of the caller with what the agent said before it. */
interface CallerLine {
  readonly utterance: Utterance;
  /** Undefined before the agent's first words, and after a silence. */
  readonly heard: string | undefined;
  readonly isAfterSilence: boolean;
}

/** Number of lines in a row that make a circle of one line, whether the agent repeats itself as well or not. */
const SAME = 3;
const SAME_TO_SAME = 5;
/** Circles of several lines, such as A B A B, are noticed the second time round. */
const PERIODS = [2, 3, 4];
/** "Yes." may be the right answer several times in a row. */
const AGREEMENTS = 8;

/** Detects a caller that repeats a line or goes in circles, unless the agent repeats itself first or did not understand. */
export function repeatedItself({ view }: CallerConduct): Invalidity | undefined {
  const lines = linesOf(view);
  for (const start of lines.keys()) {
    const circle = sameLine(lines, start) ?? circleAt(lines, start);
    if (circle) return circle;
  }
  return undefined;
}

function linesOf(view: CallView): CallerLine[] {
  const agent = new Map(view.said('agent').map(({ turn, text }) => [turn, text]));
  return view.said('caller').map((utterance, index) => {
    const heard = agent.get(utterance.turn - 1);
    return { utterance, heard, isAfterSilence: index > 0 && heard === undefined };
  });
}

function sameLine(lines: readonly CallerLine[], start: number): Invalidity | undefined {
  const run = runOf(lines, start, 1);
  const [first, second, third] = run;
  if (!first || !second || !third) return undefined;
  if (isOnlyAgreement(first.utterance.text) && run.length < AGREEMENTS) return undefined;
  const isAsked = [second, third].some(({ heard, isAfterSilence }) => isAfterSilence || wantsRepetition(heard ?? ''));
  const isDifferent = !areSimilar(second.heard ?? '', third.heard ?? '');
  const isSame = run.length >= SAME && isDifferent && !isAsked;
  if (!isSame && !(run.length >= SAME_TO_SAME && !isAsked && repeatedFirst(first, second))) return undefined;
  const to = isSame ? ' to different answers' : '';
  return broke(`The caller said the same ${isSame ? SAME : run.length} times in a row${to}`, run.slice(1));
}

function circleAt(lines: readonly CallerLine[], start: number): Invalidity | undefined {
  for (const period of PERIODS) {
    const run = runOf(lines, start, period);
    const [first, again] = [run[0], run[period]];
    if (run.length < 2 * period || !first || !again || !repeatedFirst(first, again)) continue;
    // A caller that is not understood says its last line again, and tries its few ways to say it only in the end.
    if (run.slice(period).every(({ heard }) => wantsRepetition(heard ?? ''))) continue;
    const once = run.slice(0, period).map(({ utterance }) => utterance.text);
    if (once.every(isOnlyAgreement) || areSimilar(once[0]!, once[1]!)) continue;
    return broke(`The caller went in circles: it said the same ${period} lines again`, run.slice(period));
  }
  return undefined;
}

/** The lines from a start on, as far as each is the same as the one a period before it. */
function runOf(lines: readonly CallerLine[], start: number, period: number): CallerLine[] {
  let end = start + period;
  const text = (index: number) => lines[index]!.utterance.text;
  while (end < lines.length && areSimilar(text(end), text(end - period))) end++;
  return lines.slice(start, end);
}

/** Whether nothing that the agent said was a reason to say a line again. */
function repeatedFirst(line: CallerLine, again: CallerLine): boolean {
  if (again.isAfterSilence || again.heard === undefined) return false;
  return line.heard === undefined || !areSimilar(line.heard, again.heard);
}

const broke = (message: string, repeats: readonly CallerLine[]): Invalidity => ({
  code: 'repeated_itself',
  message,
  evidence: repeats.map(({ utterance }) => evidenceOf(utterance)),
});
