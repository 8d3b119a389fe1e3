import { type VoiceCheckName, VOICE_EVALUATION_KEYS, type VoiceEvaluationKey } from './evaluations.js';
import {
  isRealtimeOnlyFault,
  type RealtimeFaultName,
  type RealtimeOnlyFaultName,
} from '../../openai-realtime/realtime-faults.js';
import {
  type ElevenLabsFaultName,
  type ElevenLabsOnlyFaultName,
  isElevenLabsOnlyFault,
} from '../../elevenlabs/elevenlabs-faults.js';
import { isPipecatOnlyFault, type PipecatFaultName, type PipecatOnlyFaultName } from '../../pipecat/pipecat-faults.js';
import { isVapiOnlyFault, type VapiFaultName, type VapiOnlyFaultName } from '../../vapi/vapi-faults.js';
import type { VoiceFaultName } from './voice-faults.js';
import { isWordFault } from './word-faults.js';

/** The expected outcome of a call, and its reason. */
export type VoiceExpectation<K extends VoiceEvaluationKey = VoiceEvaluationKey> =
  | { readonly outcome: 'passed' }
  | {
      readonly outcome: 'failed';
      /** Checks that must all fail. */
      readonly fails: readonly VoiceCheckName<K>[];
      /** Checks that may fail too, as a consequence. No others may fail. */
      readonly mayFail?: readonly VoiceCheckName<K>[];
      /** The caller must hang up on an agent that is not heard. */
      readonly endCode?: 'agent_silent';
    };

type Failing = Exclude<VoiceExpectation, { outcome: 'passed' }>;
type Row = { readonly [K in VoiceEvaluationKey]?: Failing };

const failing = (fails: readonly VoiceCheckName[], mayFail: readonly VoiceCheckName[] = []): Failing => ({
  outcome: 'failed',
  fails,
  mayFail,
});

const LATENCY = 'Starts every answer within 1.5 seconds';
const PROTOCOL = 'Keeps to the protocol';
const LEVEL = 'Speaks at the level of a telephone';
const INTERRUPTS = 'Never interrupts the caller';
const OVERLAP = 'Hardly ever speaks at the same time';
const YIELDS = 'Stops within a second';
const PAUSES = 'Pauses for less than 1.5 seconds';
const SILENCE = 'Is silent for less than 2 seconds';
const STAYS = 'Stays on the line';
const HANGS_UP = 'Hangs up after the goodbye';
const DURATION = 'Takes at most 90 seconds';

const everywhere = (expectation: Failing): Row =>
  Object.fromEntries(VOICE_EVALUATION_KEYS.map((key) => [key, expectation]));
const unclean = (...mayFail: readonly VoiceCheckName[]): Row => everywhere(failing([PROTOCOL], mayFail));

const PASSED: VoiceExpectation = { outcome: 'passed' };

/** What the tester must find for each planted fault in each evaluation. Evaluations not listed must pass. */
export const VOICE_EXPECTED: Readonly<Record<VoiceFaultName, Row>> = {
  'slow-answer': {
    'phone-booking': failing([LATENCY]),
    'phone-pauses': failing([SILENCE]),
    'phone-noise': failing([LATENCY]),
  },
  // If it interrupts every turn, no answer is left whose latency can be measured, and the check of latency fails too.
  'interrupts-caller': {
    'phone-booking': failing([INTERRUPTS, OVERLAP], [LATENCY]),
    'phone-barge-in': failing([INTERRUPTS], [YIELDS, PROTOCOL]),
    'phone-listening': failing([INTERRUPTS]),
    'phone-hesitation': failing([INTERRUPTS, OVERLAP]),
    'phone-pauses': failing([INTERRUPTS]),
    'phone-noise': failing([INTERRUPTS], [LATENCY]),
  },
  'cuts-hesitation': { 'phone-hesitation': failing([INTERRUPTS], [OVERLAP]) },
  'ignores-barge-in': { 'phone-barge-in': failing([YIELDS, PROTOCOL]) },
  'yields-to-any-sound': { 'phone-listening': failing(['Keeps speaking']) },
  'dead-air': { 'phone-pauses': failing([PAUSES, SILENCE]) },
  'choppy-sound': { 'phone-booking': failing(['Speaks without gaps']) },
  'too-quiet': { 'phone-booking': failing([LEVEL]) },
  'clipped-sound': { 'phone-booking': failing([LEVEL]) },
  'wrong-encoding': unclean(LEVEL, DURATION, PAUSES),
  'wrong-rate': unclean(DURATION),
  'wav-header': unclean(),
  'no-clear': { 'phone-barge-in': failing([YIELDS, PROTOCOL]) },
  'wrong-stream-sid': everywhere({
    ...failing([PROTOCOL], [LATENCY, SILENCE, STAYS, HANGS_UP, 'Ends its part of the call']),
    endCode: 'agent_silent',
  }),
  'nameless-marks': unclean(),
  'ignores-keys': {
    'phone-keys': failing(['Says the opening hours', 'Puts the caller through'], ['Ends its part of the call']),
  },
  'hangs-up-mid-sentence': {
    'phone-booking': failing([STAYS]),
    'phone-barge-in': failing([STAYS]),
    'phone-hesitation': failing([STAYS]),
    'phone-keys': failing(['Waits for the second key']),
    'phone-noise': failing([STAYS]),
  },
  'never-hangs-up': {
    'phone-booking': failing([HANGS_UP]),
    'phone-barge-in': failing([HANGS_UP]),
    'phone-listening': failing([HANGS_UP]),
    'phone-hesitation': failing([HANGS_UP]),
    'phone-pauses': failing([HANGS_UP]),
    'phone-noise': failing([HANGS_UP]),
  },
  'talks-for-a-minute': {
    'phone-booking': failing([DURATION]),
    'phone-noise': failing([DURATION]),
  },
};

/** The expected result of a call with this fault, or with the healthy agent for undefined. */
export function voiceExpectationOf(fault: VoiceFaultName | undefined, key: VoiceEvaluationKey): VoiceExpectation {
  return (fault && VOICE_EXPECTED[fault][key]) ?? PASSED;
}

/** What the tester must find over OpenAI Realtime: also the code of a finding of the wire. */
export type RealtimeExpectation = (VoiceExpectation | SpokenExpectation) & { readonly finding?: string };

/** The expected outcome of any voice call, whatever its checks. */
interface SpokenExpectation {
  readonly outcome: 'failed';
  readonly fails: readonly string[];
  readonly mayFail?: readonly string[];
  readonly endCode?: 'agent_silent';
}

type RealtimeRow = { readonly [K in VoiceEvaluationKey]?: RealtimeExpectation };

const withFinding = (finding: string, expectation: VoiceExpectation): RealtimeRow =>
  Object.fromEntries(VOICE_EVALUATION_KEYS.map((key) => [key, { ...expectation, finding }]));

/** What the tester must find for the faults that only a Realtime server can have. Evaluations not listed must pass. */
export const REALTIME_EXPECTED: Readonly<Record<RealtimeOnlyFaultName, RealtimeRow>> = {
  'false-speech-start': {
    ...withFinding('false_speech_started', failing([PROTOCOL])),
    // The caller takes the turn before the fault begins.
    'phone-barge-in': PASSED,
    // The caller has made a sound, so its start may be reported; stopping for it is wrong.
    'phone-listening': failing(['Keeps speaking']),
  },
  'cancels-answer': withFinding('response_cancelled', failing([PROTOCOL])),
  'cuts-answer': withFinding('response_incomplete', failing([PROTOCOL])),
  'no-answer': withFinding('no_response', {
    ...failing([HANGS_UP], [LATENCY, SILENCE, STAYS]),
    endCode: 'agent_silent',
  }),
  // Neither changes what the caller hears.
  'no-tokens-left': withFinding('rate_limit_reached', PASSED),
  'error-event': withFinding('error_event', PASSED),
};

/** The expected result of a call over OpenAI Realtime in an evaluation for the telephone. */
export function realtimeExpectationOf(
  fault: RealtimeFaultName | undefined,
  key: VoiceEvaluationKey,
): RealtimeExpectation {
  if (fault === undefined || isWordFault(fault)) return PASSED;
  return isRealtimeOnlyFault(fault) ? (REALTIME_EXPECTED[fault][key] ?? PASSED) : voiceExpectationOf(fault, key);
}

/** What the tester must find for the faults that only an agent of ElevenLabs can have. Evaluations not listed must pass. */
export const ELEVENLABS_EXPECTED: Readonly<Record<ElevenLabsOnlyFaultName, RealtimeRow>> = {
  'false-interruption': {
    ...withFinding('false_interruption', failing([PROTOCOL])),
    // The caller takes the turn before the fault begins.
    'phone-barge-in': PASSED,
    // The caller has made a sound, so stopping for it may be reported; it is wrong.
    'phone-listening': failing(['Keeps speaking']),
  },
  // Only where the caller interrupts, and none of it is heard.
  'audio-after-interruption': { 'phone-barge-in': { ...PASSED, finding: 'late_audio' } },
  'wrong-correction': { 'phone-barge-in': { ...PASSED, finding: 'heard_otherwise' } },
  'no-answer-events': withFinding('no_words', PASSED),
  'stops-answering': everywhere({ ...failing([HANGS_UP], [LATENCY, SILENCE, STAYS]), endCode: 'agent_silent' }),
  'error-message': withFinding('error_event', PASSED),
};

/** The expected result of a call over ElevenLabs in an evaluation for the telephone. */
export function elevenlabsExpectationOf(
  fault: ElevenLabsFaultName | undefined,
  key: VoiceEvaluationKey,
): RealtimeExpectation {
  if (fault === undefined || isWordFault(fault)) return PASSED;
  // Whether an agent lets itself be interrupted is a setting of its own: the protocol is kept.
  if (fault === 'ignores-barge-in' && key === 'phone-barge-in') return failing([YIELDS]);
  return isElevenLabsOnlyFault(fault) ? (ELEVENLABS_EXPECTED[fault][key] ?? PASSED) : voiceExpectationOf(fault, key);
}

/** What the tester must find for the faults that only an assistant of Vapi can have. Evaluations not listed must pass. */
export const VAPI_EXPECTED: Readonly<Record<VapiOnlyFaultName, RealtimeRow>> = {
  'false-interruption': ELEVENLABS_EXPECTED['false-interruption'],
  'no-word-messages': withFinding('no_words', PASSED),
  'stops-answering': ELEVENLABS_EXPECTED['stops-answering'],
  'broken-message': withFinding('invalid_message', failing([PROTOCOL])),
};

/** The expected result of a call over Vapi in an evaluation for the telephone. */
export function vapiExpectationOf(fault: VapiFaultName | undefined, key: VoiceEvaluationKey): RealtimeExpectation {
  if (fault !== undefined && isVapiOnlyFault(fault)) return VAPI_EXPECTED[fault][key] ?? PASSED;
  return elevenlabsExpectationOf(fault, key);
}

/** What the tester must find for the faults that only a bot of Pipecat can have. Evaluations not listed must pass. */
export const PIPECAT_EXPECTED: Readonly<Record<PipecatOnlyFaultName, RealtimeRow>> = {
  'no-rtvi': withFinding('no_rtvi', PASSED),
  'stops-answering': ELEVENLABS_EXPECTED['stops-answering'],
  'broken-frame': withFinding('invalid_message', failing([PROTOCOL])),
  'changes-rate': withFinding('unusual_frame', PASSED),
};

/** The expected result of a call over Pipecat in an evaluation for the telephone. */
export function pipecatExpectationOf(
  fault: PipecatFaultName | undefined,
  key: VoiceEvaluationKey,
): RealtimeExpectation {
  if (fault === undefined || isWordFault(fault)) return PASSED;
  return isPipecatOnlyFault(fault) ? (PIPECAT_EXPECTED[fault][key] ?? PASSED) : voiceExpectationOf(fault, key);
}

/** Whether a call had the expected outcome for the expected reason. @param failed names of the checks that are not met */
export function isExpected(
  expected: RealtimeExpectation,
  { outcome, endCode, failed }: { outcome: string; endCode: string; failed: readonly string[] },
): boolean {
  if (outcome !== expected.outcome) return false;
  if (expected.outcome === 'passed') return true;
  if ((expected.endCode === 'agent_silent') !== (endCode === 'agent_silent')) return false;
  const allowed: readonly string[] = [...expected.fails, ...(expected.mayFail ?? [])];
  return expected.fails.every((name) => failed.includes(name)) && failed.every((name) => allowed.includes(name));
}
