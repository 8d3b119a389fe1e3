import type { Check, NestedCheck, Speaker } from '../../evaluation-definition/index.js';
import { TooManySteps } from '../../json-schema/index.js';
import type { CallView } from '../call-view.js';
import { truncate } from '../text.js';
import type { YieldToEventLoop } from '../yield-to-event-loop.js';
import { describeCheck } from './check-description.js';
import { type CheckResult, count, failedBy, type Finding } from './check-result.js';
import { allOf, anyOf, notMet, whenMet } from './composition.js';
import { happens, neverHappens } from './happens.js';
import { EventFinder } from './occurrences.js';
import { inOrder, saysBefore } from './order.js';
import { durationWithin, latencyWithin, silenceWithin } from './times.js';

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
  const finder = new EventFinder(view, yieldToEventLoop);
  const results: CheckResult[] = [];
  for (const [index, check] of checks.entries()) {
    const { type, weight, required } = check;
    const name = check.name ?? describeCheck(check);
    const { settledBy, ...finding } = await evaluate(check, finder);
    const decided = finding.met === false && settledBy !== undefined ? { decidedByEntry: settledBy } : {};
    results.push({ index, type, name, weight, required, ...finding, ...decided });
  }
  return results;
}

async function evaluate(check: NestedCheck, finder: EventFinder): Promise<Finding> {
  try {
    return await found(check, finder);
  } catch (error) {
    if (error instanceof TooManySteps) return { met: null, detail: error.message, evidence: [] };
    throw error;
  }
}

async function found(check: NestedCheck, finder: EventFinder): Promise<Finding> {
  const { view } = finder;
  const inner = (nested: NestedCheck) => evaluate(nested, finder);
  switch (check.type) {
    case 'says':
    case 'calls_tool':
      return happens(check, finder);
    case 'never_says':
    case 'never_calls_tool':
      return neverHappens(check, finder);
    case 'in_order':
      return inOrder(check, finder);
    case 'says_before':
      return saysBefore(check, finder);
    case 'any_of':
      return anyOf(check, inner);
    case 'all_of':
      return allOf(check, inner);
    case 'not':
      return notMet(check, inner);
    case 'when':
      return whenMet(check, inner);
    case 'ends_by':
      return endsBy(check.by, view);
    case 'max_turns':
      return failedBy(turnsWithin(check.turns, view), view.answers[check.turns]?.parts[0]?.index);
    case 'max_duration_ms':
      return durationWithin(check.ms, view);
    case 'max_latency_ms':
      return latencyWithin(check.ms, check.percentile, view);
    case 'max_silence_ms':
      return silenceWithin(check.ms, view);
  }
}

function endsBy(by: Speaker, view: CallView): Finding {
  const { end } = view;
  const who = end?.by === 'tester' ? 'neither side' : `the ${end?.by}`;
  const evidence = end ? [{ entry: view.entries.indexOf(end), quote: truncate(end.reason, 240) }] : [];
  return { met: end?.by === by, detail: `The call was ended by ${who}`, evidence };
}

function turnsWithin(limit: number, { turns }: CallView): Finding {
  return { met: turns <= limit, detail: `The call had ${count(turns, 'turn')}; the limit is ${limit}`, evidence: [] };
}
