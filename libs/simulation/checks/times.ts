import type { MaxLatencySpec, MaxTimeSpec } from '../../evaluation-definition/index.js';
import { MIN_TURNS_FOR_PERCENTILES, percentile } from '../../statistics/index.js';
import type { CallView, Wait } from '../timeline/call-view.js';
import { longestOf } from '../measures/measures.js';
import { count, failedBy, type Finding, undecided, wordsAt } from './check-result.js';
import { type Leaves, WITHOUT_WORDS } from './kind.js';

export const TIMES = {
  max_duration_ms: { ...WITHOUT_WORDS, evaluate: ({ ms }, { view }) => durationWithin(ms, view) },
  max_latency_ms: { ...WITHOUT_WORDS, evaluate: ({ ms, percentile: n }, { view }) => latencyWithin(ms, n, view) },
  max_silence_ms: { ...WITHOUT_WORDS, evaluate: ({ ms }, { view }) => silenceWithin(ms, view) },
  max_time_to_first_word_ms: { ...WITHOUT_WORDS, evaluate: ({ ms }, { view }) => firstWordWithin(ms, view) },
  max_pause_ms: { ...WITHOUT_WORDS, evaluate: ({ ms }, { view }) => pauseWithin(ms, view) },
} satisfies Pick<Leaves, (MaxTimeSpec | MaxLatencySpec)['type']>;

function durationWithin(limit: number, view: CallView): Finding {
  const endMs = Math.round(view.end?.end ?? 0);
  const ms = Math.round(view.withoutThinking(endMs));
  const plusMinusMs = view.stallWithin(0, endMs);
  const without = ms < endMs ? ` without the ${endMs - ms} ms in which the caller thought` : '';
  const detail = `The call lasted ${time({ ms, plusMinusMs })}${without}; the limit is ${limit}`;
  const late = view.entries.findIndex(({ end }) => view.withoutThinking(end) > limit);
  const finding = timeFinding(decide(limit, { ms, plusMinusMs }), detail);
  return failedBy(finding, late);
}

/** A missing answer counts once the caller has waited longer than the limit. */
export function latencyWithin(ms: number, percent: number, view: CallView): Finding {
  const waits = view.waits.filter((wait) => wait.answer || wait.ms > ms).sort((a, b) => a.ms - b.ms);
  const rank = (values: readonly number[]) =>
    percentile(
      values.toSorted((a, b) => a - b),
      percent,
    );
  const value = rank(waits.map((wait) => wait.ms));
  const found = waits.find((wait) => wait.ms === value);
  if (!found && view.isAlwaysSounding) return ALWAYS_SOUNDING;
  const none = 'There was no answer to measure';
  // A caller who follows no script may hang up before the agent could answer.
  if (!found) return view.end?.recorded ? undecided(none) : { met: false, detail: none, evidence: [] };
  const low = rank(waits.map(lowest))!;
  const high = rank(waits.map((wait) => wait.ms + wait.plusMinusMs))!;
  const few = percent < 100 && percent > 50 && waits.length < MIN_TURNS_FOR_PERCENTILES;
  const which = percent === 100 ? 'slowest answer started' : `answer at the ${percent}th percentile started`;
  const met = high <= ms ? true : low > ms ? false : null;
  const tooSlow = view.waits.find((wait) => lowest(wait) > ms);
  const shown = percent === 100 ? (waits.findLast((wait) => lowest(wait) > ms) ?? found) : found;
  const within = `The ${which} after ${time(shown)}; the limit is ${ms}`;
  const detail = few ? `${within} (only ${count(waits.length, 'answer')} measured)` : within;
  const finding = timeFinding(met, detail, [waitEvidence(shown)], shown);
  // Further answers could lower any other percentile below the limit.
  return percent === 100 && tooSlow ? failedBy(finding, waitEvidence(tooSlow).entry) : finding;
}

const ALWAYS_SOUNDING = undecided(
  "The agent sounded whenever the caller's words ended, so an answer cannot be told from an echo of the caller",
);

const waitEvidence = ({ answer, words }: Wait) => wordsAt(answer ?? words);

const NOT_HEARD: Finding = {
  met: null,
  detail: 'The agent was not heard',
  evidence: [],
  undecided: 'not_exercised',
};

function silenceWithin(ms: number, view: CallView): Finding {
  const tooLong = view.gaps.filter((gap) => decide(ms, gap) === false);
  if (tooLong.length === 0 && view.isUnheard) return NOT_HEARD;
  const longest = longestOf(tooLong.length > 0 ? tooLong : view.gaps);
  const isDecided = view.gaps.every((gap) => decide(ms, gap) !== null);
  const after = view.entries.findIndex((entry) => entry.type !== 'silence' && entry.start > longest.start);
  const evidence = after === -1 ? [] : [{ entry: after, quote: '' }];
  const detail = `The longest silence lasted ${time(longest)}; the limit is ${ms}`;
  const finding = timeFinding(tooLong.length > 0 ? false : isDecided || null, detail, evidence, longest);
  return failedBy(finding, after);
}

export interface Measured {
  readonly ms: number;
  readonly plusMinusMs: number;
  readonly isBesideBed?: true;
}

const lowest = ({ ms, plusMinusMs }: Measured): number => ms - plusMinusMs;

/** Whether a time is within a limit; null if the limit is within the uncertainty of the measurement. */
export function decide(limit: number, { ms, plusMinusMs }: Measured): boolean | null {
  if (ms + plusMinusMs <= limit) return true;
  return lowest({ ms, plusMinusMs }) > limit ? false : null;
}

/** Why a time is undecided that stalls of the tester made uncertain. */
export const WHILE_STALLED = 'because the tester stalled';

export function timeFinding(
  met: boolean | null,
  detail: string,
  evidence: Finding['evidence'] = [],
  { isBesideBed }: Pick<Measured, 'isBesideBed'> = {},
): Finding {
  if (met !== null) return { met, detail, evidence };
  if (!isBesideBed) return { met, detail: `${detail}, which cannot be decided ${WHILE_STALLED}`, evidence };
  const why = 'quiet audio of the agent may be the beginning or end of its words, or background audio';
  return undecided(`${detail}, which cannot be decided because ${why}`, evidence);
}

export const time = ({ ms, plusMinusMs }: Measured): string =>
  plusMinusMs === 0 ? `${Math.round(ms)} ms` : `${Math.round(ms)} ± ${Math.ceil(plusMinusMs)} ms`;

/** The caller's waits before it first spoke are its own, unless the agent spoke first. */
export function firstWordWithin(limit: number, view: CallView): Finding {
  const first = view.said('agent')[0]?.parts[0];
  if (!first) return { met: false, detail: 'The agent never said a word', evidence: [] };
  const { start, turn } = first.entry;
  const waits = turn === 0 ? [] : view.entries.filter((entry) => entry.type === 'silence' && entry.of === 'caller');
  const waited = waits
    .filter((wait) => wait.turn === 0)
    .reduce((sum, wait) => sum + Math.max(0, Math.min(wait.end, start) - wait.start), 0);
  const measured = { ms: start - waited, ...view.firstWordDoubt(start) };
  const detail = `The agent's first word came after ${time(measured)}; the limit is ${limit}`;
  return failedBy(timeFinding(decide(limit, measured), detail, [wordsAt(first)], measured), first.index);
}

function pauseWithin(limit: number, view: CallView): Finding {
  if (view.isUnheard) return NOT_HEARD;
  const { pauses } = view;
  const tooLong = pauses.filter((pause) => decide(limit, pause) === false);
  const longest = (tooLong.length > 0 ? tooLong : pauses).toSorted((a, b) => b.ms - a.ms)[0];
  if (!longest) return { met: true, detail: 'The agent did not pause inside an answer', evidence: [] };
  const isDecided = pauses.every((pause) => decide(limit, pause) !== null);
  const detail = `The longest pause inside an answer lasted ${time(longest)}; the limit is ${limit}`;
  const met = tooLong.length > 0 ? false : isDecided || null;
  const finding = timeFinding(met, detail, [wordsAt(longest.part)], longest);
  return failedBy(finding, tooLong[0]?.part.index);
}
