import type { OfLine } from '../../evaluation-definition/index.js';
import type { CallPart, CallView } from './call-view.js';
import type { EndCode } from './end-codes.js';
import type { SpeechEntry, TimelineEntry } from './timeline.js';

/**
 * What the agent did from the end of the caller's lines in these turns until the caller spoke again. What it began to do while
 * the caller spoke may be an answer to that line or belong to the turn before, so it is open, as is a
 * tool call that was reported without its time.
 */
export function partOfTurns({ entries }: Pick<CallView, 'entries'>, turns: ReadonlySet<number>): CallPart {
  const spokenUntil = new Map<number, number>();
  for (const entry of entries) if (isCallers(entry)) spokenUntil.set(entry.turn, entry.end);
  const part = { entries: new Set<number>(), open: new Set<number>() };
  for (const [index, entry] of entries.entries()) {
    if (mayBeEarlier(entry, entries)) {
      if ([...turns].some((turn) => turn <= entry.turn)) part.open.add(index);
      continue;
    }
    const isOwn = turns.has(entry.turn);
    const isDuringLine = !isCallers(entry) && entry.start < (spokenUntil.get(entry.turn) ?? -Infinity);
    const isBefore = isDuringLine && turns.has(entry.turn - 1);
    if (isOwn && (!isDuringLine || isBefore)) part.entries.add(index);
    else if (isDuringLine && (isOwn || isBefore)) part.open.add(index);
  }
  return part;
}

/** A report without a time arrives in the turn of the tool call, or in a later one. */
function mayBeEarlier(entry: TimelineEntry, entries: readonly TimelineEntry[]): boolean {
  if (entry.type !== 'tool_call' || entry.reported !== 'arrival') return false;
  return entry.turn > 1 || (entry.turn === 1 && entries.some(isGreeting));
}

const isGreeting = (entry: TimelineEntry): boolean =>
  entry.type === 'speech' && entry.speaker === 'agent' && entry.turn === 0;

const isCallers = (entry: TimelineEntry): entry is SpeechEntry => entry.type === 'speech' && entry.speaker === 'caller';

/** The turns of each time that a line was said, with those in which the caller repeated it because there was no answer. */
export function turnsOfLine({ entries }: Pick<CallView, 'entries'>, { step, answer }: OfLine): Set<number>[] {
  const times: Set<number>[] = [];
  for (const { turn, script } of entries.filter(isCallers)) {
    const isLine = script?.step === step && (answer === undefined || script?.answers?.includes(answer));
    if (isLine && !script?.repeated) times.push(new Set([turn]));
    else if (isLine) times.at(-1)?.add(turn);
  }
  return times;
}

/** Ends that say nothing about the agent. */
export const BROKEN_OFF: ReadonlySet<EndCode> = new Set(['failure', 'caller_broken', 'platform_hung_up']);
