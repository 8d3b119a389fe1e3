import type { AgentSound, MediaTiming, Span, VoiceFacts } from '../facts/facts.js';
import { FRAME_MS } from '../../../audio/index.js';
import { lagAt } from './lag.js';
import { joinedStalls } from './stall-within.js';
import { contains, overlapOf } from '../facts/spans.js';

type Stalls = MediaTiming['stalls'];
type Underruns = VoiceFacts['underruns'];

/** If a `clear` ended the sound, the gate closed at most this long before it. */
const BEFORE_CLEAR_MS = 200;

/**
 * Facts of the call as if the tester had read everything that a stall may have delayed at the beginning of that stall. The truth
 * lies between these and the given facts, so a verdict that differs between them is not certain. Without a stall both are equal.
 */
export function heardAtTheEarliest(facts: VoiceFacts): VoiceFacts {
  const { stalls } = facts.timing;
  if (stalls.length === 0) return facts;
  const underruns = facts.stalled?.underruns ?? [];
  const clears = facts.clears.map((clear) => ({ ...clear, atMs: clear.atMs - delayAt(stalls, clear.atMs) }));
  const agent: AgentSound[] = [];
  for (const sound of facts.agent) agent.push(earlier(facts, sound, agent.at(-1)?.endMs ?? 0));
  const lagDuring = (ms: number) => {
    const index = facts.agent.findIndex((sound) => contains(sound, ms));
    return index === -1 ? 0 : facts.agent[index]!.endMs - agent[index]!.endMs;
  };
  return {
    ...facts,
    isEarliest: true,
    agent,
    clears,
    caller: facts.caller.map((act) => {
      if (act.type !== 'say' || !act.bargeIn) return act;
      const bufferedMs = Math.max(0, act.bargeIn.bufferedMs - lagDuring(act.startMs));
      return { ...act, bargeIn: { ...act.bargeIn, bufferedMs } };
    }),
    underruns: [...facts.underruns, ...underruns, ...hiddenUnderruns(facts)].sort((a, b) => a.startMs - b.startMs),
    wireFindings: facts.wireFindings.filter(({ code }) => !facts.stalled?.findings.includes(code)),
  };
}

/** @param fromMs end of the agent's previous sound */
function earlier(facts: VoiceFacts, sound: AgentSound, fromMs: number): AgentSound {
  const { clears, stalled } = facts;
  const { stalls } = facts.timing;
  const { firstByteMs, startMs, endMs } = sound;
  const first = delayAt(stalls, firstByteMs);
  const lag = (untilMs: number) => {
    const lagMs = lagOf(stalls, stalled?.underruns ?? [], { startMs: firstByteMs, endMs: untilMs });
    return Math.max(first + lagMs, lagAt(facts, untilMs));
  };
  const cut = clears.find(({ atMs }) => atMs >= endMs && atMs <= endMs + BEFORE_CLEAR_MS);
  const start = Math.max(fromMs, startMs - lag(startMs));
  const end = Math.min(endMs - lag(endMs), cut ? cut.atMs - delayAt(stalls, cut.atMs) : Infinity);
  return { ...sound, firstByteMs: firstByteMs - first, startMs: start, endMs: Math.max(start, end) };
}

/** Maximum delay between arrival and reading of a message that was, or would have been, read at this time. */
export function delayAt(stalls: Stalls, readMs: number): number {
  return joinedStalls(stalls).reduce((worst, { at, ms }) => {
    const isAffected = readMs >= at && readMs <= at + ms + FRAME_MS;
    return isAffected ? Math.max(worst, Math.min(ms, readMs - at)) : worst;
  }, 0);
}

/** How much stalls delayed audio that the agent sends in real time: the buffer ran empty during each of them. */
const lagOf = (stalls: Stalls, underruns: Underruns, span: Span): number =>
  underruns
    .filter(({ startMs }) => startMs >= span.startMs && startMs < span.endMs)
    .reduce((sum, underrun) => sum + Math.min(underrun.endMs - underrun.startMs, stalledOver(stalls, underrun)), 0);

/**
 * Underruns that a stall may have hidden. After the stall, audio that the agent sends in real time is played later than it
 * arrives, so a pause between two messages only shortens this delay.
 */
function hiddenUnderruns({ arrivals, agent, timing: { stalls } }: VoiceFacts): Underruns {
  const hidden: Underruns[number][] = [];
  let delay = 0;
  for (const { arrivedMs, playedFromMs } of arrivals) {
    delay = Math.max(delay, delayAt(stalls, arrivedMs));
    if (delay === 0) continue;
    const ahead = Math.max(0, playedFromMs - arrivedMs);
    const isRead = delayAt(stalls, arrivedMs) === 0;
    if (!isRead || ahead >= delay) continue;
    const span = { startMs: playedFromMs, endMs: playedFromMs + delay - ahead };
    if (ahead > 0 && agent.some((sound) => contains(sound, playedFromMs)))
      hidden.push({ ...span, isBetweenSpeech: true });
    delay = ahead;
  }
  return hidden;
}

/** Total length of the stalls that delayed the end of an underrun. */
const stalledOver = (stalls: Stalls, { startMs, endMs }: Span): number =>
  joinedStalls(stalls).reduce((sum, { at, ms }) => {
    const delaying = { startMs: at - FRAME_MS, endMs: at + ms + FRAME_MS };
    return overlapOf(delaying, { startMs, endMs }) > 0 ? sum + ms : sum;
  }, 0);
