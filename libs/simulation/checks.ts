import type { Check, Speaker, SpokenMatcher } from '../evaluation-definition/index.js';
import { MIN_TURNS_FOR_PERCENTILES, percentile } from '../statistics/index.js';
import type { YieldToEventLoop } from './yield-to-event-loop.js';
import { truncate } from './text.js';
import { describeCheck, quoteOf } from './check-description.js';
import type { CallView, Placed, Utterance, Wait } from './call-view.js';
import { find, searchLimitOf } from './matching.js';
import { longestOf } from './measures.js';
import { containsJson } from './contains-json.js';
import type { ToolCallEntry } from './timeline.js';

/** A place on the timeline that proves a result. */
export interface Evidence {
  /** Index of the timeline entry. */
  readonly entry: number;
  /** The words of that entry, verbatim. */
  readonly quote: string;
}

export interface CheckResult {
  /** Position among the definition's checks. */
  readonly index: number;
  readonly type: Check['type'];
  /** The check's name, or a description if it has none. */
  readonly name: string;
  readonly weight: number;
  readonly required: boolean;
  /** Null if it could not be decided: the tester stalled, and the limit is within the uncertainty of the measurement. */
  readonly met: boolean | null;
  /** What was found, as a sentence without full stop. */
  readonly detail: string;
  readonly evidence: readonly Evidence[];
  /** Present if not met and nothing later in the call could have changed that: the timeline entry that decided it. */
  readonly decidedByEntry?: number;
}

type Finding = Pick<CheckResult, 'met' | 'detail' | 'evidence' | 'decidedByEntry'>;
type Decided = Finding & { readonly met: boolean };

/** An unmet finding that nothing later could change. */
const decidedBy = (finding: Finding, entry: number | undefined): Finding =>
  finding.met !== false || entry === undefined || entry < 0 ? finding : { ...finding, decidedByEntry: entry };

/**
 * Evaluates every check on a finished timeline.
 * @param view of the timeline
 * @throws the reason of the aborted signal
 */
export async function evaluateChecks(
  checks: readonly Check[],
  view: CallView,
  yieldToEventLoop: YieldToEventLoop,
): Promise<CheckResult[]> {
  const results: CheckResult[] = [];
  for (const [index, check] of checks.entries()) {
    const { type, weight, required } = check;
    const name = check.name ?? describeCheck(check);
    results.push({ index, type, name, weight, required, ...(await evaluate(check, view, yieldToEventLoop)) });
  }
  return results;
}

async function evaluate(check: Check, view: CallView, yieldToEventLoop: YieldToEventLoop): Promise<Finding> {
  switch (check.type) {
    case 'says':
      return says(check, view, yieldToEventLoop);
    case 'never_says': {
      const found = await says(check, view, yieldToEventLoop);
      const finding = { ...found, met: !found.met };
      // What the caller says is not decided against the agent.
      return check.speaker === 'agent' ? decidedBy(finding, found.evidence[0]?.entry) : finding;
    }
    case 'calls_tool':
      return callsTool(check, view);
    case 'never_calls_tool': {
      const { met, detail, evidence } = callsTool(check, view);
      // A call with other arguments is not evidence that the tool was never called with these.
      return decidedBy({ met: !met, detail, evidence: met ? evidence : [] }, evidence[0]?.entry);
    }
    case 'ends_by':
      return endsBy(check.by, view);
    case 'max_turns':
      return decidedBy(turnsWithin(check.turns, view), view.answers[check.turns]?.parts[0]?.index);
    case 'max_duration_ms':
      return durationWithin(check.ms, view);
    case 'max_latency_ms':
      return latencyWithin(check.ms, check.percentile, view);
    case 'max_silence_ms':
      return silenceWithin(check.ms, view);
    case 'says_before':
      return saysBefore(check, view, yieldToEventLoop);
  }
}

interface Saying {
  readonly evidence: Evidence;
  /** Spoken order: index of the utterance and position within it. */
  readonly place: readonly [utterance: number, position: number];
}

async function says(matcher: SpokenMatcher, view: CallView, yieldToEventLoop: YieldToEventLoop): Promise<Decided> {
  const saying = await firstSaying(matcher, view, yieldToEventLoop);
  if ('missing' in saying) return { met: false, detail: saying.missing, evidence: [] };
  const quote = truncate(saying.evidence.quote, 120);
  return { met: true, detail: `The ${matcher.speaker} said "${quote}"`, evidence: [saying.evidence] };
}

/** Search limit for a whole call, as a multiple of the limit per turn; keeps a check from taking minutes. */
const SEARCH_LIMITS_PER_CALL = 10;

/** Finds the first match, or explains that there is none. */
async function firstSaying(
  matcher: SpokenMatcher,
  view: CallView,
  yieldToEventLoop: YieldToEventLoop,
): Promise<Saying | { readonly missing: string }> {
  const searchLimit = searchLimitOf(matcher);
  let left = SEARCH_LIMITS_PER_CALL * searchLimit;
  let isWhole = true;
  for (const [index, utterance] of view.utterances.entries()) {
    if (utterance.speaker !== matcher.speaker) continue;
    await yieldToEventLoop();
    const text = utterance.text.slice(0, Math.min(searchLimit, left));
    left -= text.length;
    isWhole &&= text.length === utterance.text.length;
    const found = find(matcher, text);
    if (!found) continue;
    const part = partAt(utterance, found.position);
    return { evidence: { entry: part.index, quote: found.quote }, place: [index, found.position] };
  }
  const limits = `only the first ${searchLimit} characters of a turn and ${SEARCH_LIMITS_PER_CALL * searchLimit} of a call are searched`;
  const never = `The ${matcher.speaker} never said ${quoteOf(matcher)}`;
  return { missing: isWhole ? never : `${never} in the part that was searched: ${limits}` };
}

/** Maps a position in the text of a turn to its timeline entry. */
function partAt({ parts }: Utterance, position: number): Placed {
  let end = -1;
  for (const part of parts) {
    end += part.entry.text.length + (part.entry.continues ? 0 : 1);
    if (position < end) return part;
  }
  return parts[0]!;
}

async function saysBefore(
  { first, then }: { readonly first: SpokenMatcher; readonly then: SpokenMatcher },
  view: CallView,
  yieldToEventLoop: YieldToEventLoop,
): Promise<Finding> {
  const [earlier, later] = [
    await firstSaying(first, view, yieldToEventLoop),
    await firstSaying(then, view, yieldToEventLoop),
  ];
  const evidence = [earlier, later].flatMap((saying) => ('missing' in saying ? [] : saying.evidence));
  if ('missing' in earlier) {
    const finding = { met: false, detail: earlier.missing, evidence };
    return 'missing' in later ? finding : decidedBy(finding, later.evidence.entry);
  }
  if ('missing' in later) return { met: false, detail: later.missing, evidence };
  const [a, b] = [earlier.place, later.place];
  const met = a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
  const detail = `${quoteOf(first)} was said ${met ? 'before' : 'only after'} ${quoteOf(then)}`;
  return decidedBy({ met, detail, evidence }, later.evidence.entry);
}

function callsTool(check: { tool: string; arguments?: Readonly<Record<string, unknown>> }, view: CallView): Decided {
  const calls = view.toolCalls.filter(({ entry }) => entry.name === check.tool);
  const fitting = calls.find(({ entry }) => containsJson(check.arguments ?? {}, entry.arguments ?? {}));
  if (fitting) {
    return { met: true, detail: `The agent called ${toolCallText(fitting.entry)}`, evidence: [toolEvidence(fitting)] };
  }
  if (calls.length === 0) {
    return { met: false, detail: `The agent never called ${check.tool}`, evidence: [] };
  }
  const wanted = truncate(JSON.stringify(check.arguments), 200);
  const got = calls.map(({ entry }) => toolCallText(entry)).join(', ');
  return {
    met: false,
    detail: `The agent called ${truncate(got, 400)}, not with ${wanted}`,
    evidence: calls.slice(0, 5).map(toolEvidence),
  };
}

const toolEvidence = ({ index, entry }: Placed<ToolCallEntry>): Evidence => ({
  entry: index,
  quote: toolCallText(entry),
});

/** Formats a tool call for results. */
export const toolCallText = ({ name, arguments: args, rawArguments }: ToolCallEntry): string =>
  `${name}(${truncate(args ? JSON.stringify(args) : (rawArguments ?? ''), 300)})`;

function endsBy(by: Speaker, view: CallView): Finding {
  const { end } = view;
  const who = end?.by === 'tester' ? 'neither side' : `the ${end?.by}`;
  const evidence = end ? [{ entry: view.entries.indexOf(end), quote: truncate(end.reason, 240) }] : [];
  return { met: end?.by === by, detail: `The call was ended by ${who}`, evidence };
}

function turnsWithin(limit: number, { turns }: CallView): Finding {
  return { met: turns <= limit, detail: `The call had ${count(turns, 'turn')}; the limit is ${limit}`, evidence: [] };
}

function durationWithin(limit: number, view: CallView): Finding {
  const ms = Math.round(view.end?.end ?? 0);
  const plusMinusMs = view.stallWithin(0, ms);
  const detail = `The call lasted ${time({ ms, plusMinusMs })}; the limit is ${limit}`;
  const late = view.entries.findIndex(({ end }) => end > limit);
  return decidedBy(timeFinding(decide(limit, { ms, plusMinusMs }), detail), late);
}

/** A missing answer counts once the caller has waited longer than the limit. */
function latencyWithin(ms: number, percent: number, view: CallView): Finding {
  const waits = view.waits.filter((wait) => wait.answer || wait.ms > ms).sort((a, b) => a.ms - b.ms);
  const rank = (values: readonly number[]) =>
    percentile(
      values.toSorted((a, b) => a - b),
      percent,
    );
  const value = rank(waits.map((wait) => wait.ms));
  const found = waits.find((wait) => wait.ms === value);
  if (!found) return { met: false, detail: 'There was no answer to measure', evidence: [] };
  const low = rank(waits.map(lowest))!;
  const high = rank(waits.map((wait) => wait.ms + wait.plusMinusMs))!;
  const few = percent < 100 && percent > 50 && waits.length < MIN_TURNS_FOR_PERCENTILES;
  const which = percent === 100 ? 'slowest answer started' : `answer at the ${percent}th percentile started`;
  const met = high <= ms ? true : low > ms ? false : null;
  const tooSlow = view.waits.find((wait) => lowest(wait) > ms);
  const shown = percent === 100 ? (waits.findLast((wait) => lowest(wait) > ms) ?? found) : found;
  const within = `The ${which} after ${time(shown)}; the limit is ${ms}`;
  const detail = few ? `${within} (only ${count(waits.length, 'answer')} measured)` : within;
  const finding = timeFinding(met, detail, [waitEvidence(shown)]);
  // Further answers could bring any other percentile below the limit.
  return percent === 100 && tooSlow ? decidedBy(finding, waitEvidence(tooSlow).entry) : finding;
}

function waitEvidence({ answer, words }: Wait): Evidence {
  const { index, entry } = answer ?? words;
  return { entry: index, quote: truncate(entry.text, 240) };
}

function silenceWithin(ms: number, view: CallView): Finding {
  const tooLong = view.gaps.filter((gap) => decide(ms, gap) === false);
  const longest = longestOf(tooLong.length > 0 ? tooLong : view.gaps);
  const isDecided = view.gaps.every((gap) => decide(ms, gap) !== null);
  const after = view.entries.findIndex((entry) => entry.type !== 'silence' && entry.start > longest.start);
  const evidence = after === -1 ? [] : [{ entry: after, quote: '' }];
  const detail = `The longest silence lasted ${time(longest)}; the limit is ${ms}`;
  return decidedBy(timeFinding(tooLong.length > 0 ? false : isDecided || null, detail, evidence), after);
}

interface Measured {
  readonly ms: number;
  readonly plusMinusMs: number;
}

const lowest = ({ ms, plusMinusMs }: Measured): number => ms - plusMinusMs;

/** Whether a time is within a limit; null if the limit is within the uncertainty of the measurement. */
function decide(limit: number, { ms, plusMinusMs }: Measured): boolean | null {
  if (ms + plusMinusMs <= limit) return true;
  return lowest({ ms, plusMinusMs }) > limit ? false : null;
}

const timeFinding = (met: boolean | null, detail: string, evidence: Finding['evidence'] = []): Finding => ({
  met,
  detail: met === null ? `${detail}, which cannot be decided because the tester stalled` : detail,
  evidence,
});

const time = ({ ms, plusMinusMs }: Measured): string =>
  plusMinusMs === 0 ? `${Math.round(ms)} ms` : `${Math.round(ms)} ± ${Math.ceil(plusMinusMs)} ms`;

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;
