import {
  type Check,
  CHECKS,
  type Condition,
  type CriterionSpec,
  needsOf,
  type ScriptStep,
  type SoundCheckSpec,
} from '../../evaluation-definition/index.js';
import { holds } from '../matching/matching.js';
import type { YieldToEventLoop } from '../time/yield-to-event-loop.js';
import type { CallView, Utterance } from '../timeline/call-view.js';
import { withUnknownWords } from '../timeline/known-words.js';
import type { SpeechEntry } from '../timeline/timeline.js';
import { type WordDifference, wordDifferences } from '../timeline/word-differences.js';
import type { CheckResult } from './check-result.js';
import { evaluateChecks } from './evaluate-checks.js';
import type { Leaf } from './kind.js';

/** A call as a recogniser heard it; the second time it has the same entries, with other words. */
export interface SecondHearing {
  readonly view: CallView;
  readonly soundChecks: Leaf<SoundCheckSpec>;
}

/** Texts of a check that are tried where the hearings differ. */
const MAX_NAMED = 80;
/** Where more words in a row are heard differently, anything may have been said. */
const MAX_ROW = 4;
/** If a larger share of the words was heard differently, neither hearing says anything. */
const MAX_DIFFERENT = 1 / 3;

/** The first hearing of a call. */
interface FirstHearing extends SecondHearing {
  readonly judged: Leaf<CriterionSpec>;
  /** Of the caller; empty for a generated one. */
  readonly script: readonly ScriptStep[];
  readonly yieldToEventLoop: YieldToEventLoop;
}

/** What a second hearing can do to a check: change its result, or only refute the words that meet it. */
type Doubt = 'changeable' | 'refutable';

/**
 * The required checks, by position, that must not be decided by words that were heard once: those that would fail the
 * call, also because the caller misunderstood the agent, those that are met although one word is missing to what
 * they forbid, and those that are met by the words of a single turn.
 */
export async function inDoubt(
  checks: readonly Check[],
  results: readonly CheckResult[],
  first: FirstHearing,
): Promise<ReadonlyMap<number, Doubt>> {
  const doubts = new Map<number, Doubt>();
  for (const [position, result] of results.entries()) {
    const check = checks[position]!;
    if (isByConduct(check, result, first)) doubts.set(position, 'changeable');
    else if (!isByWords(check, result)) continue;
    else if (!result.met || (await isNearlyViolated(check, first))) doubts.set(position, 'changeable');
    else if (await isMetByOneTurn(check, first)) doubts.set(position, 'refutable');
  }
  return doubts;
}

/** Whether the outcome depends on a check that words have decided. */
const isByWords = (check: Check, { met, required }: CheckResult): boolean =>
  required && met !== null && needsOf(check).includes('words');

/** Whether a required check is not met, and might be if a caller that decides by words had done something else. */
const isByConduct = ({ type, step }: Check, { met, required }: CheckResult, { script }: FirstHearing): boolean =>
  required &&
  met === false &&
  (step !== undefined || !CHECKS[type].ofAgentAlone) &&
  (script.length === 0 || conditionsIn(script).length > 0);

/**
 * The results of checks in doubt by two hearings: undecided if other words could change them where the hearings differ;
 * all checks on words are, if the hearings have little in common.
 * @param second undefined if there is none
 */
export async function confirmed(
  checks: readonly Check[],
  results: readonly CheckResult[],
  doubts: ReadonlyMap<number, Doubt>,
  { first, second }: { readonly first: FirstHearing; readonly second: SecondHearing | undefined },
): Promise<CheckResult[]> {
  if (second && isComplete(second) && differentShare(first.view, second.view) > MAX_DIFFERENT) {
    return results.map((result, index) =>
      isByWords(checks[index]!, result) || doubts.has(index) ? unclear(result, second) : result,
    );
  }
  const decided = [...results];
  const isOfConduct = (position: number) => isByConduct(checks[position]!, results[position]!, first);
  const misledAt = second && [...doubts.keys()].some(isOfConduct) ? await firstOpenDecision(first, second) : undefined;
  for (const [position, doubt] of doubts) {
    const result = results[position]!;
    const check = checks[position]!;
    const isMisled = misledAt !== undefined && isOfConduct(position) && (result.decidedByEntry ?? Infinity) > misledAt;
    const isOpen =
      isMisled ||
      (second
        ? isByWords(check, result) && (await leavesOpen(doubt, check, result.met, first, second))
        : doubt === 'changeable');
    if (isOpen) decided[position] = unclear(result, second);
  }
  return decided;
}

function unclear({ decidedByEntry: _, ...result }: CheckResult, second: SecondHearing | undefined): CheckResult {
  const why = second ? 'words of the agent were heard differently a second time' : 'the agent cannot be heard again';
  return { ...result, met: null, detail: `${result.detail}, which is not certain: ${why}`, undecided: 'words_unclear' };
}

async function metBy(check: Check, { view, soundChecks }: SecondHearing, { yieldToEventLoop, judged }: FirstHearing) {
  return (await evaluateChecks([check], view, yieldToEventLoop, soundChecks, judged))[0]!.met;
}

/** Whether the server understood every piece; one that failed refutes nothing. */
const isComplete = ({ view }: SecondHearing): boolean => withUnknownWords(view).length === 0;

/** Whether the second hearing leaves open how a check on words is decided; one that is refutable was heard once already. */
const leavesOpen = (
  doubt: Doubt,
  check: Check,
  met: boolean | null,
  first: FirstHearing,
  second: SecondHearing,
): Promise<boolean> =>
  doubt === 'refutable' ? isRefuted(check, first, second) : couldChange(check, met, first, second);

/** Whether a check that is met hangs on words that were heard as quite different ones the second time. */
async function isRefuted(check: Check, first: FirstHearing, second: SecondHearing): Promise<boolean> {
  if (!isComplete(second) || (await metBy(check, second, first)) !== false) return false;
  const turns = differingTurns(first.view, second.view);
  for (const turn of turns) {
    for (const difference of turn.differences) {
      if (isSpelling(turn.first.text.slice(...difference.first), turn.second.slice(...difference.second))) continue;
      const texts = turns.map((one) => replaced(one, 'first', (each) => (each === difference ? undefined : null)));
      if ((await metBy(check, { ...first, view: withTexts(first.view, turns, texts) }, first)) !== true) return true;
    }
  }
  return false;
}

/** Whether two hearings of the same words differ only as a recogniser's spelling does: "Bellavista", "Bella Vista". */
function isSpelling(first: string, second: string): boolean {
  const [a, b] = [first, second].map((text) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')) as [string, string];
  return a === b;
}

/** Whether a check is met, and would not be without the words of one of the agent's turns. */
async function isMetByOneTurn(check: Check, first: FirstHearing): Promise<boolean> {
  for (const utterance of first.view.said('agent')) {
    const without = withTexts(first.view, [{ first: utterance }], ['']);
    if ((await metBy(check, { ...first, view: without }, first)) === false) return true;
  }
  return false;
}

async function couldChange(
  check: Check,
  met: boolean | null,
  first: FirstHearing,
  second: SecondHearing,
): Promise<boolean> {
  if (!isComplete(second)) return true;
  if ((await metBy(check, second, first)) !== met) return true;
  const turns = differingTurns(first.view, second.view);
  if (turns.some(({ differences }) => differences.some(({ words }) => words > MAX_ROW))) return true;
  const named = met ? await harmlessWords(check, first) : namedBy(check);
  for (const words of alternatives(turns, named)) {
    if ((await metBy(check, { ...first, view: withTexts(first.view, turns, words) }, first)) !== met) return true;
  }
  return false;
}

/**
 * The entry of the agent to which the caller might have reacted otherwise if it had heard other words; the earliest of
 * several, undefined if there is none.
 */
async function firstOpenDecision(first: FirstHearing, second: SecondHearing): Promise<number | undefined> {
  for (const turn of differingTurns(first.view, second.view)) {
    const at = turn.first.parts.at(-1)!.index;
    const said = first.view.said('caller').map(({ parts }) => parts[0]!);
    const next = said.find(({ index }) => index > at);
    // The caller decided nothing after the agent's last words if the agent hung up.
    if (!next && first.view.end?.by === 'agent') continue;
    const { script } = first;
    const from = said.findLast(({ index }) => index < at)?.entry.script?.step ?? 0;
    // Lines with `to` are said in any order.
    const isRecalled = script.some((step) => 'say' in step && step.to);
    const reached = isRecalled ? script : script.slice(from, (next?.entry.script?.step ?? script.length) + 1);
    const conditions = conditionsIn(reached);
    if (script.length === 0 || (await areOpen(conditions, turn, first))) return at;
  }
  return undefined;
}

/** Whether a condition holds for one of the texts that the agent may have said in a turn, and not for another. */
async function areOpen(conditions: readonly Condition[], turn: HeardTurn, { yieldToEventLoop }: FirstHearing) {
  for (const condition of conditions) {
    const wasMet = holds(condition, turn.first.text);
    // A single word that decides alone may have been said anywhere.
    const named = namedBy(condition).filter(
      (words) => wordsIn(words).length === 1 && holds(condition, words) === holds(condition, ''),
    );
    for (const [text] of alternatives([turn], named)) {
      await yieldToEventLoop();
      if (holds(condition, text!) !== wasMet) return true;
    }
  }
  return false;
}

/** What the caller decides by: the conditions of steps, of answers, and of their end. */
const conditionsIn = (script: readonly ScriptStep[]): Condition[] =>
  script.flatMap((step) => {
    const own = [step.when ?? [], ('say' in step && step.to) || []].flat();
    if (!('answers' in step)) return own;
    return [...own, ...step.answers.map(({ when }) => when), ...(step.until ? [step.until] : [])];
  });

/** Whether a check is met, and would not be if one word of the agent were another one that the check names. */
async function isNearlyViolated(check: Check, first: FirstHearing): Promise<boolean> {
  // More words can only meet it.
  if (check.type === 'says' && check.times?.max === undefined) return false;
  const said = first.view.said('agent');
  for (const word of await harmlessWords(check, first)) {
    for (let from = 0; from < STRIDE; from++) {
      const texts = said.map(({ text }) => withWordAt(text, from, word));
      if (!(await isMetBeside(check, texts, first))) return true;
    }
  }
  return false;
}

/** One word in a row of this many is replaced: what is forbidden may have two words fewer. */
const STRIDE = 6;

function withWordAt(text: string, from: number, word: string): string {
  let position = 0;
  return text.replace(/\S+/gu, (own) => (position++ % STRIDE === from ? word : own));
}

/** Single words that a check names and that violate nothing by themselves. */
async function harmlessWords(check: Check, first: FirstHearing): Promise<string[]> {
  const harmless: string[] = [];
  const said = first.view.said('agent');
  for (const word of namedBy(check).filter((named) => wordsIn(named).length === 1)) {
    if (
      await isMetBeside(
        check,
        said.map(() => word),
        first,
      )
    )
      harmless.push(word);
  }
  return harmless;
}

/** Whether a check is still met if the agent had said something else in its turns besides. */
async function isMetBeside(check: Check, texts: readonly string[], first: FirstHearing): Promise<boolean> {
  const turns = first.view.said('agent').map((utterance) => ({ first: utterance }));
  const besides = turns.map(({ first: { text } }, index) => `${text} ${APART} ${texts[index]!}`);
  return (await metBy(check, { ...first, view: withTexts(first.view, turns, besides) }, first)) !== false;
}

/** Stands between texts that do not belong together. */
const APART = '¶';

/** What the agent said in one turn, as it was heard both times. */
interface HeardTurn {
  readonly first: Utterance;
  readonly second: string;
  readonly differences: readonly Difference[];
}

interface Difference extends WordDifference {
  /** Word count of the longer transcription. */
  readonly words: number;
}

function differingTurns(first: CallView, second: CallView): HeardTurn[] {
  const again = new Map(second.said('agent').map(({ turn, text }) => [turn, text]));
  return first.said('agent').flatMap((utterance) => {
    const text = again.get(utterance.turn) ?? '';
    const differences = wordDifferences(utterance.text, text).map((difference) => ({
      ...difference,
      words: Math.max(
        wordsIn(utterance.text.slice(...difference.first)).length,
        wordsIn(text.slice(...difference.second)).length,
      ),
    }));
    return differences.length === 0 ? [] : [{ first: utterance, second: text, differences }];
  });
}

/** Share of the words that were not heard alike. */
function differentShare(first: CallView, second: CallView): number {
  const different = differingTurns(first, second).flatMap(({ differences }) => differences.map(({ words }) => words));
  const all = first.said('agent').reduce((sum, { text }) => sum + wordsIn(text).length, 0);
  return different.reduce((sum, words) => sum + words, 0) / Math.max(1, all);
}

/**
 * What may have been said instead, as texts of the turns: each difference as it was heard the other time, and all of them as
 * words given words, no more than were heard, or nothing.
 */
function* alternatives(turns: readonly HeardTurn[], names: readonly string[]): Generator<string[]> {
  const bases = ['first', 'second'] as const;
  for (const base of bases) {
    for (const [position, turn] of turns.entries()) {
      for (const difference of turn.differences) {
        yield turns.map((one, index) =>
          replaced(one, base, (each) => (index === position && each === difference ? undefined : null)),
        );
      }
    }
    for (const named of ['', ...names]) {
      const { length } = wordsIn(named);
      yield turns.map((turn) => replaced(turn, base, ({ words }) => (length <= words ? named : null)));
    }
  }
}

/**
 * A hearing of a turn with other words where the hearings differ.
 * @param wordAt null: as in this hearing; undefined: as in the other one
 */
function replaced(
  { first, second, differences }: HeardTurn,
  base: 'first' | 'second',
  wordAt: (difference: Difference) => string | null | undefined,
): string {
  const texts = { first: first.text, second };
  const other = base === 'first' ? 'second' : 'first';
  let text = '';
  let at = 0;
  for (const difference of differences) {
    const [from, to] = difference[base];
    const word = wordAt(difference);
    const own = texts[base].slice(from, to);
    const heard = word === null ? own : (word ?? texts[other].slice(...difference[other]));
    text += `${texts[base].slice(at, from)}${heard} `;
    at = to;
  }
  return (text + texts[base].slice(at)).replace(/ {2,}/g, ' ').trim();
}

const wordsIn = (text: string): readonly string[] => text.match(/\S+/gu) ?? [];

/** The words of the texts and patterns of a check or condition, also several that follow each other, and two as one. */
function namedBy(check: Check | Condition): string[] {
  const words: string[] = [];
  for (const text of textsIn(check)) {
    const found =
      text.replace(/\(\?[a-z]+\)|\\[bBsSdDwW]/g, ' ').match(/[\p{L}\p{N}]+(?:[.:,'’][\p{L}\p{N}]+)*/gu) ?? [];
    for (let length = 1; length <= MAX_ROW; length++) {
      for (let at = 0; at + length <= found.length; at++) words.push(found.slice(at, at + length).join(' '));
    }
    words.push(...found.slice(1).map((word, index) => found[index]! + word));
  }
  return [...new Set(words)].slice(0, MAX_NAMED);
}

/** Texts of a check that the agent may have said: not its name, and not a statement about the call. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => (NOT_SAID.has(key) ? [] : textsIn(part)));
}

const NOT_SAID: ReadonlySet<string> = new Set(['name', 'type', 'criterion']);

/** The call with other words in some turns; their first entries have all of them. */
function withTexts(view: CallView, turns: readonly Pick<HeardTurn, 'first'>[], texts: readonly string[]): CallView {
  const entries = [...view.entries];
  for (const [index, { first }] of turns.entries()) {
    for (const [position, { index: at, entry }] of first.parts.entries()) {
      const { uncertain: _, ...rest } = entry;
      entries[at] = { ...rest, text: position === 0 ? texts[index]! : '' } satisfies SpeechEntry;
    }
  }
  return view.withEntries(entries);
}
