import { type Failure, failure } from '../../timeline/failure.js';
import { isReliable } from '../../time/stalls.js';
import type { CallerAct, Span, VoiceFacts } from '../facts/facts.js';
import { ANSWERED_NOISE_MS, KEPT_MS, YIELD_MS } from '../measures/floor.js';
import { delayAt, floorWaitsOf, heardAtTheEarliest, silencesOf, stallWithin } from '../measures/index.js';

/**
 * Whether the tester's own faults are too large for any statement about the agent. Smaller ones leave single checks undecided.
 */
export function overload(facts: VoiceFacts, turnEndMs: number): Failure | undefined {
  const { timing } = facts;
  // Regardless of the tester, the agent sent more than it may.
  if (facts.failure?.code === 'answer_too_large') return undefined;
  if (!timing.sentAsPlanned) return failure('tester_overloaded', "the caller's sound was not sent in time");
  const spans = [...waitsOf(facts), ...silencesOf(facts), ...measuredSpans(facts, turnEndMs)];
  const worst = (of: Parameters<typeof stallWithin>[0]) => Math.max(0, ...spans.map((span) => stallWithin(of, span)));
  const stalled = worst({ stalls: timing.stalls });
  if (!isReliable(stalled)) {
    return failure('tester_overloaded', `it stalled for ${Math.round(stalled)} ms while a time was measured`);
  }
  const lost = timing.lineGaps ? worst(timing) : 0;
  if (!isReliable(lost)) {
    return failure('line_lost', `${Math.round(lost)} ms of the agent were lost while a time was measured`);
  }
  if (endedTurnTooSoon(facts, turnEndMs)) {
    return failure('tester_overloaded', "it stalled, and the caller acted before the agent's turn had ended");
  }
  return mayHaveMissedAnswer(facts)
    ? failure('tester_overloaded', 'it stalled at the end of the time in which the agent could answer a noise')
    : undefined;
}

/** From the end of each line to its answer. An earlier lag makes this time uncertain, but is not a stall within it. */
const waitsOf = (facts: VoiceFacts): Span[] =>
  floorWaitsOf(facts).flatMap(({ latency: { heardMs }, sinceMs }) =>
    heardMs === null ? [] : [{ startMs: sinceMs, endMs: sinceMs + heardMs }],
  );

/** Measured spans other than waits and silences. */
function measuredSpans({ agent, caller }: VoiceFacts, turnEndMs: number): Span[] {
  // Audio that arrived during a stall is played after it, so the agent may have been silent only for the tester.
  const turnEnds = agent.map(({ endMs }) => ({ startMs: endMs, endMs: endMs + turnEndMs }));
  return [...turnEnds, ...caller.flatMap((act) => measuredAt(act, agent))];
}

function measuredAt(act: CallerAct, agent: VoiceFacts['agent']): Span[] {
  const { startMs, endMs } = act;
  if (act.type === 'press') return [];
  if (act.type !== 'say') {
    const lasts = act.afterMs === null ? ANSWERED_NOISE_MS : KEPT_MS;
    return act.possible ? [{ startMs, endMs: startMs + lasts }] : [];
  }
  // Interruptions, and the times in which the agent yields.
  const spoken = { startMs, endMs };
  if (!act.bargeIn?.possible) return [spoken];
  const heardUntil = agent.findLast((sound) => sound.startMs <= startMs)?.endMs ?? startMs;
  return [spoken, { startMs, endMs: Math.min(heardUntil, startMs + YIELD_MS) }];
}

/** Whether the caller acted in a silence that only seemed to end the agent's turn. */
function endedTurnTooSoon(facts: VoiceFacts, turnEndMs: number): boolean {
  const earliest = heardAtTheEarliest(facts).agent;
  return facts.agent.slice(1).some(({ startMs }, index) => {
    const { endMs } = facts.agent[index]!;
    const [before, after] = [earliest[index]!, earliest[index + 1]!];
    if (startMs - endMs < turnEndMs || after.startMs - before.endMs >= turnEndMs) return false;
    return facts.caller.some((act) => act.startMs >= endMs && act.startMs < startMs);
  });
}

/** Whether an answer to a noise in silence may have arrived in time but been read too late. */
const mayHaveMissedAnswer = ({ caller, timing }: VoiceFacts): boolean =>
  caller.some((act) => {
    const isInSilence = act.type === 'noise' && act.possible && act.afterMs === null;
    return isInSilence && delayAt(timing.stalls, act.startMs + ANSWERED_NOISE_MS) > 0;
  });
