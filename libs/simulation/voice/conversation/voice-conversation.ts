import type { EvaluationDefinition, SoundCheckSpec } from '../../../evaluation-definition/index.js';
import type { Caller, CallerAction } from '../../callers/caller.js';
import { CallView, type HeardTimes } from '../../timeline/call-view.js';
import type { Leaf } from '../../checks/kind.js';
import type { SecondHearing } from '../../checks/hear-again.js';
import type { ConversationResult } from '../../conversation/conversation.js';
import { CallFailure } from '../../timeline/failure.js';
import type { Stall } from '../../time/stalls.js';
import type { Failure } from '../../timeline/failure.js';
import type { EndEntry, Timeline } from '../../timeline/timeline.js';
import { voiceChecks } from '../checks/index.js';
import type { RecognisedPiece, Span, VoiceFacts } from '../facts/facts.js';
import { heardTimes, longestLag, voiceMeasures } from '../measures/index.js';
import { storedFacts } from '../facts/stored-facts.js';
import type { RecordedCall, RecordingSink } from '../wire/voice-transport.js';
import type { ExerciseInput } from '../../validity/exercise.js';
import { AnsweringCaller } from './answering-caller.js';
import { heardWords } from './heard-words.js';
import { Transcriber, type VoiceTranscription } from './transcriber.js';
import { overload } from './overload.js';
import { type ReportingOptions, withReports } from './reported-tools.js';
import type { SpokenText, VoiceCallPlan } from '../facts/plan.js';
import { callerWords } from '../speaking/caller-words.js';
import { atRate, soundsAt } from '../speaking/line-sounds.js';
import {
  type CallerSounds,
  type EngineSounds,
  prepareAnswers,
  type PreparedSteps,
  prepareSteps,
  remembered,
} from '../speaking/prepare.js';
import type { VoiceMeasures, VoiceResult } from '../facts/results.js';
import { wordsOfCall } from '../words/words-from.js';
import { voiceEntries } from './voice-timeline.js';
import { recordedAs } from '../imported/reported.js';

/** How long a caller that hears the agent waits for an answer before it repeats its line. */
export const VOICE_PATIENCE_MS = 8_000;

/** The embedded voice that speaks for a platform. */
const PLATFORM_VOICE = 'rms';

/** Options of a voice call beside its evaluation. */
export interface VoiceOptions {
  readonly sounds: EngineSounds;
  /** Name of a voice of the speech engine. */
  readonly voice: string;
  /** Voice in which the platform speaks for the agent; `rms` by default. */
  readonly platformVoice?: string;
  /** Name and version of the speech engine, for the result. */
  readonly engine?: string;
  /** Null: the agent, unless it says nothing for three seconds. */
  readonly firstSpeaker?: 'agent' | 'caller' | null;
  /** Overlaid voices, for conditions or personalities with babble. */
  readonly babble?: Int16Array;
  /** Whether the caller is in a place with background noise. */
  readonly backgroundNoise?: boolean;
  /** Whether a caller without a script sometimes interrupts the agent. */
  readonly interrupts?: boolean;
  readonly patienceMs?: number;
  readonly recording?: RecordingSink;
  /** Present if a recogniser is available for the agent's words. */
  readonly transcription?: VoiceTranscription;
  /** Called when the call has ended, although its result may take longer. */
  readonly onHangUp?: () => void;
}

export interface VoiceConversationOptions extends ReportingOptions {
  readonly definition: EvaluationDefinition;
  readonly caller: Caller;
  /** BCP 47. */
  readonly language: string;
  readonly voice: VoiceOptions;
  readonly timeline: Timeline;
  readonly signal: AbortSignal;
}

export interface VoiceConversationResult extends ConversationResult {
  /** Null if there was no call. */
  readonly voice: VoiceResult | null;
  readonly frameLatenessMs?: VoiceFacts['timing']['frameLatenessMs'];
  /** How late the agent's audio may have been heard after a stall. */
  readonly lagMs?: number;
  readonly heard?: HeardTimes;
  readonly sound?: ExerciseInput['sound'];
  readonly soundChecks?: Leaf<SoundCheckSpec>;
  /** Why a recogniser returned no words for audio that was heard. */
  readonly unheard?: Failure | undefined;
  /** Present if a recogniser heard the agent. Returns the second hearing; undefined if that is impossible. */
  readonly hearAgain?: () => Promise<SecondHearing | undefined>;
}

/**
 * Runs the voice call of a caller with an agent and records it on the timeline.
 * @throws the signal's reason
 */
export async function runVoiceConversation(options: VoiceConversationOptions): Promise<VoiceConversationResult> {
  const { transport, voice, timeline, signal } = options;
  const { identity } = transport;
  const exchange = identity ? { ...identity, requests: [], omittedRequests: 0 } : null;
  try {
    const sounds = remembered(soundsAt(voice.sounds, transport.lineRate));
    const plan = await planOf(options, sounds);
    const transcriber = transcriberOf(options, () => answering.wordsArrived());
    const answering: AnsweringCaller = new AnsweringCaller({
      caller: options.caller,
      engine: voice.engine,
      ...(transcriber && { heard: (utterances) => transcriber.fill(utterances) }),
      clock: options.clock,
      signal,
      prepare: (first, limit) => prepared(options, sounds, { first, signal: limit }),
      speak: (text, limit) =>
        speakable(() => options.clock.awaitExternal(sounds.synthesise({ text, voice: voice.voice }, limit)), limit),
    });
    let startedAt: number | undefined;
    const observed = await transport.call({
      plan,
      onStarted: (at) => (startedAt = at),
      signal,
      ...(plan.asked && { onTurn: answering.ask, clock: options.clock }),
      speak: (text) => platformSpeech(options, sounds, text),
      ...(transcriber && { onPiece: transcriber.hear }),
      ...(voice.recording && { recording: voice.recording }),
      onAborted: (facts) => note(transcriber ? { ...facts, recognised: transcriber.recognised } : facts, timeline),
      ...(voice.onHangUp && { onHangUp: voice.onHangUp }),
    });
    const { facts, listenAgain } = await heardWords(
      await withReports(observed, startedAt, options),
      transcriber,
      (all) => {
        const json = voice.recording?.facts && storedFacts(all, transport.secrets?.spoken ?? []);
        if (json !== undefined) voice.recording?.facts?.(json);
      },
    );
    return {
      ...observe(facts, { timeline, turnEndMs: plan.turnEndMs, clock: transport.clock, listenAgain }),
      exchange,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof CallFailure)) throw error;
    timeline.failed(error.failure, 0);
    const end = timeline.ended('tester', 'failure', error.failure.message, 0);
    const none = { stalls: [], wasAgentActing: false, answeredTurns: 0, voice: null };
    return { ...none, end, failure: error.failure, exchange };
  }
}

/** The same for a past call: records its observations on the timeline. */
export const recordedConversation = (
  { facts, clock, exchange, listenAgain = () => Promise.resolve(facts.recognised?.again) }: RecordedCall,
  { turnEndMs }: EvaluationDefinition,
  timeline: Timeline,
): VoiceConversationResult => ({
  ...observe(facts, { timeline, turnEndMs, clock, listenAgain }),
  exchange,
});

/** Undefined if the recogniser is not asked. */
function transcriberOf(
  { voice: { transcription }, transport, language, clock, signal }: VoiceConversationOptions,
  onWords: () => void,
): Transcriber | undefined {
  if (!transcription?.needed) return undefined;
  const { recogniser, model, mode } = transcription;
  if (mode === 'auto' && transport.providesWords) return undefined;
  const owner = transport.identity?.callId;
  return new Transcriber({ recogniser, model, language, owner, clock, signal }, onWords);
}

async function planOf(options: VoiceConversationOptions, sounds: CallerSounds): Promise<VoiceCallPlan> {
  const { transport, definition, voice, caller, signal } = options;
  const { conditions, turnEndMs, maxTurns, maxDurationSeconds, toolResults } = definition;
  const rate = transport.lineRate;
  const isGenerated = caller.kind === 'generated';
  const own = callerWords(options.language);
  const needsBabble = voice.backgroundNoise || conditions.noise?.type === 'babble';
  if (needsBabble && !voice.babble)
    throw new CallFailure('speech_failed', { what: 'there is no babble for its background noise', isPermanent: true });
  const { steps, isComplete } = await prepared(options, sounds, { signal });
  if (!isComplete) await speakable(() => prepareAnswers(definition.script, voice.voice, sounds, signal), signal);
  return {
    rate,
    script: steps,
    ...(!isComplete && { asked: { inSilence: isGenerated } }),
    firstSpeaker: voice.firstSpeaker ?? null,
    turnEndMs,
    patienceMs: voice.patienceMs ?? VOICE_PATIENCE_MS,
    maxTurns,
    maxDurationSeconds,
    conditions,
    ...(voice.babble && { babble: atRate(voice.babble, rate) }),
    backgroundNoise: voice.backgroundNoise ?? false,
    seed: conditions.seed ?? 1,
    ...(definition.fillers && isGenerated && { fillers: await linesOf(own?.fillers ?? [], options, sounds) }),
    ...(voice.interrupts &&
      isGenerated && {
        interruptions: await linesOf(own?.interruptions ?? [], options, sounds),
      }),
    toolResults,
  };
}

/** Lines that the caller may say without being asked, synthesised before the call. */
const linesOf = (
  texts: readonly string[],
  { voice: { voice }, signal }: VoiceConversationOptions,
  sounds: CallerSounds,
): Promise<SpokenText[]> =>
  speakable(async () => {
    const lines: SpokenText[] = [];
    for (const text of texts) lines.push({ text, sound: await sounds.synthesise({ text, voice }, signal) });
    return lines;
  }, signal);

/** The caller's next steps, as far as they are known. @param first its decision, if it was asked */
const prepared = (
  { caller, clock, voice: { voice } }: VoiceConversationOptions,
  sounds: CallerSounds,
  given: { readonly first?: CallerAction; readonly signal: AbortSignal },
): Promise<PreparedSteps> =>
  speakable(() => clock.awaitExternal(prepareSteps(caller, voice, sounds, given)), given.signal);

/** A failure to prepare the caller's speech is the tester's. */
async function speakable<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CallFailure) throw error;
    const isPermanent = error instanceof Error && 'isPermanent' in error && error.isPermanent === true;
    throw new CallFailure('speech_failed', { what: messageOf(error), isPermanent }, { cause: error });
  }
}

/** A text that the voice can never speak takes its estimated time; other failures are the tester's. */
async function platformSpeech(
  { voice: { platformVoice = PLATFORM_VOICE }, signal }: VoiceConversationOptions,
  sounds: CallerSounds,
  text: string,
): Promise<Int16Array> {
  try {
    return (await sounds.synthesise({ text, voice: platformVoice }, signal)).pcm;
  } catch (error) {
    const { isPermanent, failure } = error as { readonly isPermanent?: unknown; readonly failure?: unknown };
    if (isPermanent === true && failure !== 'engine') throw error;
    return speakable(() => Promise.reject(error as Error), signal);
  }
}

function note(facts: VoiceFacts, timeline: Timeline): void {
  for (const entry of voiceEntries(facts)) timeline.observed(entry);
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : undefined);

interface Observing {
  readonly timeline: Timeline;
  readonly turnEndMs: number;
  readonly clock: VoiceMeasures['clock'];
  /** Hears the agent's audio a second time; undefined if that is impossible. */
  readonly listenAgain: () => Promise<readonly RecognisedPiece[] | undefined>;
}

/** Records the observations on the timeline. @returns its end */
function record(facts: VoiceFacts, timeline: Timeline): EndEntry {
  note(facts, timeline);
  const { by, code, reason, atMs } = facts.end;
  const { failure: broken, imported } = facts;
  if (broken) timeline.failed(broken, atMs);
  return timeline.ended(by, code, reason, atMs, imported && recordedAs('recording', imported.isProduction));
}

function observe(
  facts: VoiceFacts,
  { timeline, turnEndMs, clock, listenAgain }: Observing,
): Omit<VoiceConversationResult, 'exchange' | 'recording'> {
  const end = record(facts, timeline);
  const { by, atMs } = facts.end;
  const { recognised } = facts;
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
    ...(facts.unknownTools !== undefined && { unknownTools: facts.unknownTools }),
    heard: heardTimes(facts, timeline.entries),
    soundChecks: voiceChecks({ facts, voice }),
    ...(recognised && {
      unheard: recognised.pieces.find((piece) => piece.failure)?.failure,
      hearAgain: async () => {
        const pieces = await listenAgain();
        return pieces && secondHearing({ ...facts, recognised: { ...recognised, pieces } }, timeline.empty(), clock);
      },
    }),
  };
}

function secondHearing(facts: VoiceFacts, timeline: Timeline, clock: VoiceMeasures['clock']): SecondHearing {
  record(facts, timeline);
  const { entries } = timeline;
  return {
    view: new CallView(entries, stallsOf(facts), heardTimes(facts, entries), facts.unknownTools),
    soundChecks: voiceChecks({ facts, voice: voiceMeasures(facts, clock) }),
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
