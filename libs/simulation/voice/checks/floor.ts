import { count, type Finding } from '../../checks/check-result.js';
import { decide, time, timeFinding } from '../../checks/times.js';
import type { TimelineEntry } from '../../timeline/timeline.js';
import type { VoiceFacts } from '../facts/facts.js';
import { isCutByEnd, YIELD_MS } from '../measures/floor.js';
import { uncertaintyWithin } from '../measures/uncertainty.js';
import type { BargeInResult, SoundResult } from '../facts/results.js';
import { at, notExercised, settled } from './finding.js';
import type { VoiceEvidence } from './evidence.js';

type Entries = readonly TimelineEntry[];

const isCallersLine = (entry: TimelineEntry): boolean => entry.type === 'speech' && entry.speaker === 'caller';
const isAgentsSpeech = (entry: TimelineEntry): boolean => entry.type === 'speech' && entry.speaker === 'agent';
const isSound = (entry: TimelineEntry): boolean => entry.type === 'sound';

const CURE = 'ask for a longer answer, or lower afterMs';

/** Every barge-in of the script is yielded to within the limit. */
export function agentYields(limit: number, { voice, facts }: VoiceEvidence, entries: Entries): Finding {
  if (voice.bargeIns.length === 0) return notExercised('The caller never barged in');
  const findings = voice.bargeIns.map((attempt): Finding => {
    const evidence = at(entries, isCallersLine, attempt.atMs);
    return { ...yielded(limit, attempt, facts), evidence };
  });
  const failed = findings.find(({ met }) => met === false);
  return failed ? settled(failed) : (findings.find(({ met }) => met === null) ?? findings.at(-1)!);
}

function yielded(limit: number, attempt: BargeInResult, facts: VoiceFacts): Finding {
  const { possible, yielded: hasYielded, yieldMs, atMs } = attempt;
  if (!possible) return notExercised(`The agent's turn ended before the caller could barge in: ${CURE}`);
  if (hasYielded === null && yieldMs !== null && isCutByEnd(facts, atMs + yieldMs))
    return notExercised('The call ended while the agent still spoke, too soon after the barge-in');
  if (hasYielded === null || yieldMs === null)
    return notExercised(`The agent had finished by itself when the caller barged in: ${CURE}`);
  const heard = { startMs: atMs, endMs: atMs + yieldMs };
  const measured = { ms: yieldMs, ...uncertaintyWithin(facts, heard) };
  if (!hasYielded) {
    const more = `it was heard for ${time(measured)} more`;
    const detail = yieldMs > YIELD_MS ? more : `${more}, all the sound that it had sent, without a clear`;
    return { met: false, detail: `The agent did not yield: ${detail}`, evidence: [] };
  }
  return timeFinding(
    decide(limit, measured),
    `The agent stopped after ${time(measured)}; the limit is ${limit}`,
    [],
    measured,
  );
}

/** The agent goes on through every backchannel and noise of the script, and does not answer a noise in silence. */
export function agentKeepsSpeaking({ voice }: VoiceEvidence, entries: Entries): Finding {
  const { backchannels } = voice;
  if (backchannels.length === 0) return notExercised('The caller made no backchannel or noise');
  const evidence = ({ atMs }: SoundResult) => at(entries, isSound, atMs);
  const lost = backchannels.find(({ kept }) => kept === false);
  if (lost)
    return settled({ met: false, detail: `The agent took a ${lost.type} for a turn`, evidence: evidence(lost) });
  const open = backchannels.find(({ kept }) => kept === null);
  if (open)
    return {
      ...notExercised(`The agent, or the call, ended too soon around a ${open.type}`),
      evidence: evidence(open),
    };
  return { met: true, detail: `The agent kept its turn through ${count(backchannels.length, 'sound')}`, evidence: [] };
}

/** Where one side was never heard, neither could speak over the other. */
const oneSideUnheard = ({ speech }: VoiceEvidence['voice']): Finding =>
  notExercised(speech.agentMs === 0 ? 'The agent was not heard' : 'The caller said nothing');

export function interruptionsWithin(limit: number, { voice }: VoiceEvidence, entries: Entries): Finding {
  const { interruptions, overlapMs } = voice;
  if (overlapMs === null) return oneSideUnheard(voice);
  const detail = `The agent interrupted the caller ${count(interruptions.length, 'time')}; the limit is ${limit}`;
  const beyond = interruptions[limit] ?? interruptions.at(-1);
  const evidence = beyond ? at(entries, isAgentsSpeech, beyond.atMs) : [];
  return settled({ met: interruptions.length <= limit, detail, evidence });
}

export function overlapWithin(limit: number, { voice, facts }: VoiceEvidence, entries: Entries): Finding {
  const { interruptions, overlapMs: ms } = voice;
  if (ms === null) return oneSideUnheard(voice);
  const doubts = interruptions.map(({ atMs, overlapMs }) =>
    uncertaintyWithin(facts, { startMs: atMs, endMs: atMs + overlapMs }),
  );
  const plusMinusMs = doubts.reduce((sum, doubt) => sum + doubt.plusMinusMs, 0);
  const beside = doubts.find(({ isBesideBed }) => isBesideBed);
  const detail = `The agent spoke over the caller for ${time({ ms, plusMinusMs })}; the limit is ${limit}`;
  const longest = interruptions.toSorted((a, b) => b.overlapMs - a.overlapMs)[0];
  const evidence = longest ? at(entries, isAgentsSpeech, longest.atMs) : [];
  return settled(timeFinding(decide(limit, { ms, plusMinusMs }), detail, evidence, beside));
}
