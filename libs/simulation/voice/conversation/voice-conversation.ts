import type { EvaluationDefinition } from '../../../evaluation-definition/index.js';
import type { HeardTimes } from '../../timeline/call-view.js';
import type { EvaluateVoiceCheck } from '../../checks/evaluate-checks.js';
import type { ConversationResult } from '../../conversation/conversation.js';
import { CallFailure } from '../../timeline/failure.js';
import type { Stall } from '../../time/stalls.js';
import type { EndEntry, Timeline } from '../../timeline/timeline.js';
import { voiceChecks } from '../checks/index.js';
import type { Span, VoiceFacts } from '../facts/facts.js';
import { heardTimes, longestLag, voiceMeasures } from '../measures/index.js';
import type { RecordingSink, VoiceTransport } from '../wire/voice-transport.js';
import type { ExerciseInput } from '../../validity/exercise.js';
import { overload } from './overload.js';
import type { VoiceCallPlan } from '../facts/plan.js';
import { atRate, soundsAt } from '../speaking/line-sounds.js';
import { type CallerSounds, prepareScript } from '../speaking/prepare.js';
import type { VoiceMeasures, VoiceResult } from '../facts/results.js';
import { wordsOfCall } from '../words/words-from.js';
import { voiceEntries } from './voice-timeline.js';

/** How long a caller with ears waits for an answer before it repeats its line. */
export const VOICE_PATIENCE_MS = 8_000;

/** The embedded voice of a platform that speaks for the agent. */
const PLATFORM_VOICE = 'rms';

/** What a voice call needs beside its evaluation. */
export interface VoiceOptions {
  readonly sounds: CallerSounds;
  /** Name of a voice of the speech engine. */
  readonly voice: string;
  /** Null: the agent, unless it says nothing for three seconds. */
  readonly firstSpeaker?: 'agent' | 'caller' | null;
  /** Overlaid voices, for conditions or personalities that ask for babble. */
  readonly babble?: Int16Array;
  /** Whether the caller is in a place with background noise. */
  readonly backgroundNoise?: boolean;
  readonly patienceMs?: number;
  readonly recording?: RecordingSink;
  /** The line is free, though the result may need more time. */
  readonly onHangUp?: () => void;
}

export interface VoiceConversationOptions {
  readonly transport: VoiceTransport;
  readonly definition: EvaluationDefinition;
  readonly voice: VoiceOptions;
  readonly timeline: Timeline;
  readonly signal: AbortSignal;
}

export interface VoiceConversationResult extends ConversationResult {
  /** Null if there was no call. */
  readonly voice: VoiceResult | null;
  readonly frameLatenessMs?: VoiceFacts['timing']['frameLatenessMs'];
  /** By how much the agent's audio may have been heard late after a stall. */
  readonly lagMs?: number;
  readonly heard?: HeardTimes;
  readonly sound?: ExerciseInput['sound'];
  readonly evaluateVoiceCheck?: EvaluateVoiceCheck;
}

/**
 * Runs the voice call of a scripted caller with an agent and records it on the timeline.
 * @throws the signal's reason
 */
export async function runVoiceConversation(options: VoiceConversationOptions): Promise<VoiceConversationResult> {
  const { transport, voice, timeline, signal } = options;
  const { identity } = transport;
  const exchange = identity ? { ...identity, requests: [], omittedRequests: 0 } : null;
  try {
    const sounds = soundsAt(voice.sounds, transport.lineRate);
    const plan = await planOf(options, sounds);
    const facts = await transport.call({
      plan,
      signal,
      speak: async (text) => (await sounds.synthesise({ text, voice: PLATFORM_VOICE }, signal)).pcm,
      ...(voice.recording && { recording: voice.recording }),
      onAborted: (facts) => note(facts, timeline),
      ...(voice.onHangUp && { onHangUp: voice.onHangUp }),
    });
    return { ...observe(facts, timeline, plan.turnEndMs, transport.clock), exchange };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CallFailure)) throw error;
    timeline.failed(error.failure, 0);
    const end = timeline.ended('tester', 'failure', error.failure.message, 0);
    const none = { stalls: [], wasAgentActing: false, answeredTurns: 0, voice: null };
    return { ...none, end, failure: error.failure, exchange };
  }
}

async function planOf(
  { transport, definition, voice, signal }: VoiceConversationOptions,
  sounds: CallerSounds,
): Promise<VoiceCallPlan> {
  const { conditions, turnEndMs, maxTurns, maxDurationSeconds, toolResults } = definition;
  const rate = transport.lineRate;
  const needsBabble = voice.backgroundNoise || conditions.noise?.type === 'babble';
  if (needsBabble && !voice.babble)
    throw new CallFailure('speech_failed', { what: 'there is no babble for its background noise', isPermanent: true });
  return {
    rate,
    script: await prepared(definition, voice.voice, sounds, signal),
    firstSpeaker: voice.firstSpeaker ?? null,
    turnEndMs,
    patienceMs: voice.patienceMs ?? VOICE_PATIENCE_MS,
    maxTurns,
    maxDurationSeconds,
    conditions,
    ...(voice.babble && { babble: atRate(voice.babble, rate) }),
    backgroundNoise: voice.backgroundNoise ?? false,
    seed: conditions.seed ?? 1,
    toolResults,
  };
}

async function prepared({ script }: EvaluationDefinition, voice: string, sounds: CallerSounds, signal: AbortSignal) {
  try {
    // Such runs are refused at their start, but the agent's connection may have changed since.
    if (script.length === 0) throw new Error("a caller without a script needs the agent's words");
    return await prepareScript(script, voice, sounds, signal);
  } catch (error) {
    signal.throwIfAborted();
    const isPermanent = error instanceof Error && 'isPermanent' in error && error.isPermanent === true;
    throw new CallFailure('speech_failed', { what: messageOf(error), isPermanent }, { cause: error });
  }
}

function note(facts: VoiceFacts, timeline: Timeline): void {
  for (const entry of voiceEntries(facts)) timeline.observed(entry);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : undefined);

/** Records what was observed on the timeline. */
function observe(
  facts: VoiceFacts,
  timeline: Timeline,
  turnEndMs: number,
  clock: VoiceMeasures['clock'],
): Omit<VoiceConversationResult, 'exchange' | 'recording'> {
  note(facts, timeline);
  const { by, code, reason, atMs } = facts.end;
  if (facts.failure) timeline.failed(facts.failure, atMs);
  const end: EndEntry = timeline.ended(by, code, reason, atMs);
  const voice = voiceMeasures(facts, clock);
  const isSpeaking = facts.agent.some(({ endMs }) => endMs >= atMs);
  return {
    stalls: stallsOf(facts),
    end,
    failure: overload(facts, turnEndMs) ?? facts.failure,
    wasAgentActing: by === 'caller' && isSpeaking,
    answeredTurns: facts.answeredTurns,
    voice: {
      voice,
      wireFindings: facts.wireFindings,
      ...wordsOfCall(facts, (text) => timeline.cleaned(text)),
      lanes: lanesOf(facts),
    },
    frameLatenessMs: facts.timing.frameLatenessMs,
    sound: { streamStartMs: facts.streamStartMs ?? 0, inaudible: facts.level.inaudible },
    lagMs: longestLag(facts),
    heard: heardTimes(facts, timeline.entries),
    evaluateVoiceCheck: voiceChecks({ facts, voice }),
  };
}

const stallsOf = ({ timing }: VoiceFacts): Stall[] => timing.stalls.map(({ at, ms }) => ({ start: at, end: at + ms }));

const lanesOf = ({ caller, agent }: VoiceFacts): VoiceResult['lanes'] => ({
  caller: caller.flatMap((act) =>
    act.type === 'say' ? act.parts.map(rounded) : act.endMs > act.startMs ? [rounded(act)] : [],
  ),
  agent: agent.map(rounded),
});

const rounded = ({ startMs, endMs }: Span): Span => ({ startMs: tenth(startMs), endMs: tenth(endMs) });
const tenth = (ms: number): number => Math.round(ms * 10) / 10;
