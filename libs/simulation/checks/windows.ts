import type { Check, OfLine } from '../../evaluation-definition/index.js';
import type { CallPart, CallView } from '../timeline/call-view.js';
import { BROKEN_OFF, partOfTurns, turnsOfLine } from '../timeline/parts.js';
import { END_CODES } from '../timeline/end-codes.js';
import { count, type Finding, undecided } from './check-result.js';
import { EventFinder } from './occurrences.js';
import { isRecording } from './recorded.js';

/** Where a check is evaluated: each time that its line was said, or on the whole call. */
export const timesOf = (check: Check, finder: EventFinder): readonly EventFinder[] =>
  check.step === undefined
    ? [finder]
    : turnsOfLine(finder.view, check).map((turns) => within(finder, partOfTurns(finder.view, turns)));

/** What was found in the end: a check holds if it does so each time. */
export function ofTimes(found: readonly Finding[]): Finding {
  const decisive = found.find(({ met }) => met === false) ?? found.find(({ met }) => met === null) ?? found[0]!;
  if (found.length === 1) return decisive;
  const which =
    decisive.met === true
      ? `each of ${found.length} times; the first time`
      : `time ${found.indexOf(decisive) + 1} of ${found.length}`;
  return { ...decisive, detail: `${decisive.detail} (${which})` };
}

export const within = ({ view, yieldToEventLoop }: EventFinder, part: CallPart): EventFinder =>
  new EventFinder(view.within(part), yieldToEventLoop);

/** A line that was left out as the script says expects nothing; one that was not reached is not met. */
export function neverSaid({ step = 0, isOptional }: OfLine, { entries, end }: CallView): Finding {
  if (isRecording({ end })) return undecided('A recording does not show which line of the script the caller said');
  const reached = entries.reduce(
    (most, entry) => ('script' in entry && entry.script ? Math.max(most, entry.script.step) : most),
    end?.code === 'script_over' || end?.code === 'caller_done' ? Infinity : -1,
  );
  if (isOptional && reached >= step) {
    return { met: true, detail: 'The caller had no reason to say this line, so nothing was expected', evidence: [] };
  }
  const ended = `before the caller said this line${end ? `: ${END_CODES[end.code]}` : ''}`;
  if (end && BROKEN_OFF.has(end.code)) return undecided(`The call broke off ${ended}`);
  return { met: false, detail: `The call ended ${ended}`, evidence: [] };
}

/** Undecided if what the agent began to do while the caller spoke could change the finding. */
export async function withOpenActs(
  finder: EventFinder,
  evaluate: (finder: EventFinder) => Promise<Finding>,
): Promise<Finding> {
  const finding = await evaluate(finder);
  const { part, entries } = finder.view;
  if (!part || part.open.size === 0 || finding.met === null) return finding;
  const whole = { entries: new Set([...part.entries, ...part.open]), open: new Set<number>() };
  if ((await evaluate(within(finder, whole))).met === finding.met) return finding;
  const acts = [...part.open].filter((index) => ['speech', 'tool_call', 'platform'].includes(entries[index]!.type));
  const late = acts.filter((index) => 'reported' in entries[index]!).length;
  const whys = [
    ...(late === acts.length ? [] : [`the agent began ${count(acts.length - late, 'act')} while the caller spoke`]),
    ...(late === 0 ? [] : [`${count(late, 'tool call')} reported without "at" may be of an earlier turn`]),
  ];
  return undecided(
    `${finding.detail}, which cannot be decided because ${whys.join(' and ')}`,
    acts.slice(0, MAX_EVIDENCE).map((entry) => ({ entry, quote: '' })),
  );
}

const MAX_EVIDENCE = 5;
