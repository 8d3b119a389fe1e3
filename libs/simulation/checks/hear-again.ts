import type { Check } from '../../evaluation-definition/index.js';
import type { YieldToEventLoop } from '../time/yield-to-event-loop.js';
import type { CallView, Utterance } from '../timeline/call-view.js';
import { withUnknownWords } from '../timeline/known-words.js';
import type { SpeechEntry } from '../timeline/timeline.js';
import { type WordDifference, wordDifferences } from '../timeline/word-differences.js';
import type { CheckResult } from './check-result.js';
import { evaluateChecks, type EvaluateVoiceCheck } from './evaluate-checks.js';
import { needsOf } from './needs.js';

/** A call as a recogniser heard it a second time: the same entries, with other words. */
export interface SecondHearing {
  readonly view: CallView;
  readonly evaluateVoiceCheck: EvaluateVoiceCheck;
}

interface Hearings {
  readonly view: CallView;
  /** Undefined if there is none. */
  readonly second: SecondHearing | undefined;
  readonly yieldToEventLoop: YieldToEventLoop;
  readonly evaluateVoiceCheck: EvaluateVoiceCheck;
}

/** Texts of a check that are tried where the hearings differ. */
const MAX_NAMED = 80;
/** Where more words in a row are heard differently, anything may have been said. */
const MAX_ROW = 4;

/** Whether a check would fail the call by words that were heard once. */
export const isInDoubt = (check: Check, { met, required }: CheckResult): boolean =>
  required && met === false && needsOf(check).includes('words');

/**
 * The results of checks on words that a recogniser heard twice: one that would fail the call is undecided if other words could
 * meet it where the two hearings differ.
 */
export async function confirmed(
  checks: readonly Check[],
  results: readonly CheckResult[],
  hearings: Hearings,
): Promise<CheckResult[]> {
  const decided: CheckResult[] = [];
  for (const [position, result] of results.entries()) {
    const check = checks[position]!;
    const isOpen = isInDoubt(check, result) && (await couldBeMet(check, hearings));
    decided.push(isOpen ? unclear(result, hearings) : result);
  }
  return decided;
}

function unclear({ decidedByEntry: _, ...result }: CheckResult, { second }: Hearings): CheckResult {
  const why = second ? 'words of the agent were heard differently a second time' : 'the agent cannot be heard again';
  return { ...result, met: null, detail: `${result.detail}, which is not certain: ${why}`, undecided: 'words_unclear' };
}

async function couldBeMet(check: Check, { view, second, yieldToEventLoop, ...first }: Hearings): Promise<boolean> {
  if (!second || withUnknownWords(second.view).length > 0) return true;
  const isMet = async (heard: CallView, { evaluateVoiceCheck }: Pick<SecondHearing, 'evaluateVoiceCheck'>) =>
    (await evaluateChecks([check], heard, yieldToEventLoop, evaluateVoiceCheck))[0]!.met !== false;
  if (await isMet(second.view, second)) return true;
  const turns = differingTurns(view, second.view);
  if (turns.some(({ differences }) => differences.some(({ words }) => words > MAX_ROW))) return true;
  for (const words of alternatives(turns, check)) {
    if (await isMet(withTexts(view, turns, words), first)) return true;
  }
  return false;
}

/** What the agent said in one turn, as it was heard both times. */
interface HeardTurn {
  readonly first: Utterance;
  readonly second: string;
  readonly differences: readonly Difference[];
}

interface Difference extends WordDifference {
  /** Number of words, in the hearing with more of them. */
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

/**
 * What may have been said instead, as texts of the turns: each difference as it was heard the other time, and all of them as
 * words that the check names, no more than were heard, or nothing.
 */
function* alternatives(turns: readonly HeardTurn[], check: Check): Generator<string[]> {
  const bases = ['first', 'second'] as const;
  for (const base of bases) {
    for (const [position, turn] of turns.entries()) {
      for (const difference of turn.differences) {
        yield turns.map((one, index) =>
          replaced(one, base, (each) => (index === position && each === difference ? undefined : null)),
        );
      }
    }
    for (const named of ['', ...namedBy(check)]) {
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

/** The words of a check's texts and patterns, also several that follow each other, and two as one. */
function namedBy(check: Check): string[] {
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

/** Texts of a check that are not its name. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => (key === 'name' || key === 'type' ? [] : textsIn(part)));
}

/** The call with other words in some turns; their first entries have all of them. */
function withTexts(view: CallView, turns: readonly HeardTurn[], texts: readonly string[]): CallView {
  const entries = [...view.entries];
  for (const [index, { first }] of turns.entries()) {
    for (const [position, { index: at, entry }] of first.parts.entries()) {
      const { uncertain: _, ...rest } = entry;
      entries[at] = { ...rest, text: position === 0 ? texts[index]! : '' } satisfies SpeechEntry;
    }
  }
  return view.withEntries(entries);
}
