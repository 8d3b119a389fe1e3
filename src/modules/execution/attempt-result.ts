import type { CallExchange, CallResult, TimelineEntry } from '../../../libs/simulation/index.js';
import { clipped } from '../../../libs/text/index.js';
import type { AttemptResult } from '../runs/call-attempt.entity.js';

/** Maximum length of a stored result, in characters of JSON. */
export const MAX_RESULT = 256 * 1024;
/** Limits of a shortened result: its timeline in characters of JSON, and each text. */
const MAX_TIMELINE = MAX_RESULT / 3;
const MAX_TEXT = 1_000;
/** Number of requests, the last ones. */
const MAX_REQUESTS = 20;

/**
 * The result of an earlier attempt as it is stored, at most `MAX_RESULT` characters of JSON: an agent may send megabytes in
 * each attempt. Timelines lose their last entries first, so that references to entries stay valid.
 * @throws RangeError for a result that is nested too deeply for JSON.stringify
 */
export function attemptResultJson(result: CallResult): string {
  const whole = JSON.stringify(result);
  if (whole.length <= MAX_RESULT) return whole;
  const timeline = beginning(result.timeline);
  const short: AttemptResult = { ...result, timeline, isShortened: true };
  const json = JSON.stringify(short);
  if (json.length <= MAX_RESULT) return json;
  const least: AttemptResult = {
    ...short,
    checks: [],
    criteria: [],
    unusableAnswers: [],
    exchange: result.exchange && lastRequests(result.exchange),
  };
  return JSON.stringify(least);
}

function lastRequests({ requests, omittedRequests, ...exchange }: CallExchange): CallExchange {
  const last = requests.slice(-MAX_REQUESTS).map((request) => ({ ...request, tokenTimesMs: [] }));
  return { ...exchange, requests: last, omittedRequests: omittedRequests + requests.length - last.length };
}

/** The first entries, with shortened texts. Measured as JSON, because control characters take six characters there. */
function beginning(timeline: readonly TimelineEntry[]): TimelineEntry[] {
  const kept: TimelineEntry[] = [];
  let left = MAX_TIMELINE;
  for (const entry of timeline) {
    const short = shortened(entry);
    left -= JSON.stringify(short).length;
    if (left < 0) break;
    kept.push(short);
  }
  return kept;
}

function shortened(entry: TimelineEntry): TimelineEntry {
  if (entry.type === 'speech') return { ...entry, text: clipped(entry.text, MAX_TEXT) };
  if (entry.type !== 'tool_call') return entry;
  const { result, ...call } = entry;
  const isLarge = result !== undefined && JSON.stringify(result).length > MAX_TEXT;
  const short = isLarge ? { ...call, isResultOmitted: true as const } : entry;
  const json = JSON.stringify(entry.arguments);
  return json.length <= MAX_TEXT ? short : { ...short, arguments: null, rawArguments: clipped(json, MAX_TEXT) };
}
