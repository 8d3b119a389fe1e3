import type { EvaluationDefinition } from '../../evaluation-definition/index.js';
import type { HeardTimes } from '../call-view.js';
import type { EvaluateVoiceCheck } from '../checks/evaluate-checks.js';
import type { ConversationResult } from '../conversation.js';
import { CallFailure } from '../failure.js';
import type { Stall } from '../stalls.js';
import type { EndEntry, Timeline } from '../timeline.js';
import { voiceChecks } from './checks/index.js';
import type { Span, VoiceFacts } from './facts.js';
import { heardTimes, voiceMeasures } from './measures/index.js';
import type { RecordingSink, VoiceTransport } from './media.js';
import { overload } from './overload.js';
import { LINE_RATE, type VoiceCallPlan } from './plan.js';
import { type CallerSounds, prepareScript } from './prepare.js';
import type { RecordingFacts, VoiceResult } from './results.js';
import { voiceEntries } from './voice-timeline.js';

/** How long a caller with ears waits for an answer before it repeats its line. */
export const VOICE_PATIENCE_MS = 8_000;

/** The embedded voice of a platform that speaks for the agent. */
const PLATFORM_VOICE = 'rms';

/** What a call with sound needs beside its evaluation. */
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
  readonly recording: RecordingFacts | null;
  readonly frameLatenessMs?: VoiceFacts['timing']['frameLatenessMs'];
  readonly heard?: HeardTimes;
  readonly evaluateVoiceCheck?: EvaluateVoiceCheck;
}

/**
 * Runs the conversation of a scripted caller with an agent over sound and records it on the timeline.
 * @throws the signal's reason
 */
export async function runVoiceConversation(options: VoiceConversationOptions): Promise<VoiceConversationResult> {
  const { transport, voice, timeline, signal } = options;
  const counted = voice.recording && countBytes(voice.recording);
  const { identity } = transport;
  const exchange = identity ? { ...identity, requests: [], omittedRequests: 0 } : null;
  const recording = () => (counted && counted.bytes() > 0 ? recordingFacts(counted.bytes()) : null);
  try {
    const plan = await planOf(options);
    const facts = await transport.call({
      plan,
      signal,
      speak: async (text) => (await voice.sounds.synthesise({ text, voice: PLATFORM_VOICE }, signal)).pcm,
      ...(counted && { recording: counted.sink }),
      onAborted: (facts) => note(facts, timeline),
      ...(voice.onHangUp && { onHangUp: voice.onHangUp }),
    });
    return { ...observe(facts, timeline, plan.turnEndMs), exchange, recording: recording() };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CallFailure)) throw error;
    timeline.failed(error.failure, 0);
    const end = timeline.ended('tester', 'failure', error.failure.message, 0);
    const none = { stalls: [], wasAgentActing: false, answeredTurns: 0, voice: null };
    return { ...none, end, failure: error.failure, exchange, recording: recording() };
  }
}

async function planOf({ definition, voice, signal }: VoiceConversationOptions): Promise<VoiceCallPlan> {
  const { conditions, turnEndMs, maxTurns, maxDurationSeconds } = definition;
  const needsBabble = voice.backgroundNoise || conditions.noise?.type === 'babble';
  if (needsBabble && !voice.babble)
    throw new CallFailure('speech_failed', { what: 'there is no babble for its background noise', isPermanent: true });
  return {
    script: await prepared(definition, voice, signal),
    firstSpeaker: voice.firstSpeaker ?? null,
    turnEndMs,
    patienceMs: voice.patienceMs ?? VOICE_PATIENCE_MS,
    maxTurns,
    maxDurationSeconds,
    conditions,
    ...(voice.babble && { babble: voice.babble }),
    backgroundNoise: voice.backgroundNoise ?? false,
    seed: conditions.seed ?? 1,
  };
}

async function prepared({ script }: EvaluationDefinition, { voice, sounds }: VoiceOptions, signal: AbortSignal) {
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
): Omit<VoiceConversationResult, 'exchange' | 'recording'> {
  note(facts, timeline);
  const { by, code, reason, atMs } = facts.end;
  if (facts.failure) timeline.failed(facts.failure, atMs);
  const end: EndEntry = timeline.ended(by, code, reason, atMs);
  const voice = voiceMeasures(facts);
  const isSpeaking = facts.agent.some(({ endMs }) => endMs >= atMs);
  return {
    stalls: stallsOf(facts),
    end,
    failure: overload(facts, turnEndMs) ?? facts.failure,
    wasAgentActing: by === 'caller' && isSpeaking,
    answeredTurns: facts.answeredTurns,
    voice: { voice, wireFindings: facts.wireFindings, words: wordsOf(facts), lanes: lanesOf(facts) },
    frameLatenessMs: facts.timing.frameLatenessMs,
    heard: heardTimes(facts, timeline.entries),
    evaluateVoiceCheck: voiceChecks({ facts, voice }),
  };
}

const stallsOf = ({ timing }: VoiceFacts): Stall[] => timing.stalls.map(({ at, ms }) => ({ start: at, end: at + ms }));

const wordsOf = ({ caller }: VoiceFacts): VoiceResult['words'] =>
  caller.flatMap((act) =>
    act.type === 'say'
      ? act.words.map((word) => ({ speaker: 'caller' as const, text: word.text, ...rounded(word) }))
      : [],
  );

const lanesOf = ({ caller, agent }: VoiceFacts): VoiceResult['lanes'] => ({
  caller: caller.flatMap((act) =>
    act.type === 'say' ? act.parts.map(rounded) : act.endMs > act.startMs ? [rounded(act)] : [],
  ),
  agent: agent.map(rounded),
});

const rounded = ({ startMs, endMs }: Span): Span => ({ startMs: tenth(startMs), endMs: tenth(endMs) });
const tenth = (ms: number): number => Math.round(ms * 10) / 10;

function countBytes(recording: RecordingSink) {
  let bytes = 0;
  const sink: RecordingSink = {
    audio: (interleaved) => {
      bytes += interleaved.length;
      recording.audio(interleaved);
    },
    wire: (lines) => recording.wire(lines),
  };
  return { sink, bytes: () => bytes };
}

const recordingFacts = (bytes: number): RecordingFacts => ({
  seconds: bytes / (2 * LINE_RATE),
  sampleRate: LINE_RATE,
  channels: ['caller', 'agent'],
  bytes,
});
