import type { ThinkingFact, VoiceFacts } from '../facts/facts.js';
import type { VoiceLatency, VoiceMeasures } from '../facts/results.js';
import { bargeInsOf, conflictsOf, soundResultsOf } from './floor.js';
import { latenciesOf } from './latencies.js';
import { spokenLines, takesFloor } from './lines.js';
import { deadAirOf, silencesOf } from './silences.js';
import { lengthOf, tenth } from '../facts/spans.js';
import { uncertaintyWithin } from './uncertainty.js';
import type { ItemWord } from '../words/item-words.js';
import { wordsOfSounds } from '../words/utterances.js';

/** A shorter underrun is inaudible; a longer one is a pause. */
const CHOPPY_MS = { min: 20, max: 400 } as const;

/** The measures of a voice call; formulas and sources are in docs/guides/measures.md. */
export function voiceMeasures(facts: VoiceFacts, clock: VoiceMeasures['clock'] = 'heard'): VoiceMeasures {
  const lines = spokenLines(facts);
  const { interruptions, collisions } = conflictsOf(facts, lines);
  const agentMs = tenth(lengthOf(facts.agent));
  const callerMs = tenth(lines.reduce((sum, { act }) => sum + lengthOf(act.parts), 0));
  const { dbfs, sentDbfs, clippedPercent, inaudible } = facts.level;
  const isRecorded = clock === 'recorded';
  return {
    clock,
    latencies: isRecorded ? latenciesOf(facts).map(withoutFirstByte) : latenciesOf(facts),
    bargeIns: bargeInsOf(facts, lines),
    backchannels: soundResultsOf(facts),
    interruptions,
    overlapMs: agentMs === 0 || callerMs === 0 ? null : overlapOfAll(interruptions),
    deadAir: deadAirOf(silencesOf(facts)),
    choppiness: isRecorded ? { gaps: null, perMinute: null } : choppinessOf(facts, agentMs),
    speech: { agentMs, callerMs },
    speechShare: agentMs + callerMs === 0 ? null : Math.round((agentMs / (agentMs + callerMs)) * 1000) / 1000,
    agentWordsPerMinute: wordsPerMinute(facts),
    level: {
      agentDbfs: dbfs === null ? null : tenth(dbfs),
      clippedPercent: sentDbfs === null ? null : clippedPercent,
      ...(inaudible && { inaudible: true }),
    },
    ...greetingOf(facts),
    collisions,
    background: facts.background && rounded(facts.background),
    ...(facts.thinking && { callerThinking: facts.thinking.map(roundedThought) }),
  };
}

/** A recording does not show when audio was sent. */
const withoutFirstByte = (latency: VoiceLatency): VoiceLatency => ({
  ...latency,
  firstByteMs: null,
  leadingSilenceMs: null,
});

const rounded = ({ dbfs, fromMs }: NonNullable<VoiceMeasures['background']>) => ({ dbfs, fromMs: tenth(fromMs) });

const roundedThought = (thought: ThinkingFact): ThinkingFact => ({
  ...thought,
  startMs: tenth(thought.startMs),
  endMs: tenth(thought.endMs),
});

const overlapOfAll = (interruptions: VoiceMeasures['interruptions']): number =>
  tenth(interruptions.reduce((sum, { overlapMs }) => sum + overlapMs, 0));

/** Gaps that make the agent's speech choppy. */
export const choppyGaps = ({ underruns }: VoiceFacts): VoiceFacts['underruns'] =>
  underruns.filter(({ startMs, endMs, isBetweenSpeech }) => {
    const ms = endMs - startMs;
    return isBetweenSpeech && ms >= CHOPPY_MS.min && ms <= CHOPPY_MS.max;
  });

function choppinessOf(facts: VoiceFacts, agentMs: number): VoiceMeasures['choppiness'] {
  const gaps = choppyGaps(facts).length;
  return { gaps, perMinute: agentMs === 0 ? null : tenth(gaps / (agentMs / 60_000)) };
}

/** Counts only sounds of the agent whose words are all known; null without any. */
function wordsPerMinute(facts: VoiceFacts): number | null {
  if (facts.said.length === 0 && !facts.recognised) return null;
  const known = wordsOfSounds(facts).filter(({ words }) => words === 'known');
  const ms = lengthOf(known.map(({ sound }) => sound));
  const heard = known.flatMap(({ runs }) => runs.flatMap(({ words }) => words)).filter(isHeard).length;
  return ms === 0 || heard === 0 ? null : tenth(heard / (ms / 60_000));
}

const isHeard = ({ hearing }: ItemWord): boolean => hearing === 'heard';

/** From the answer to the agent's first onset, if that came before the caller's speech or keys. */
function greetingOf(facts: VoiceFacts): Pick<VoiceMeasures, 'greetingMs' | 'greetingPlusMinusMs'> {
  const first = facts.agent[0];
  const act = facts.caller.find(takesFloor);
  if (!first || (act && first.startMs >= act.startMs)) return { greetingMs: null };
  const { plusMinusMs } = uncertaintyWithin(facts, { startMs: 0, endMs: first.startMs });
  return { greetingMs: tenth(first.startMs), ...(plusMinusMs > 0 && { greetingPlusMinusMs: plusMinusMs }) };
}
