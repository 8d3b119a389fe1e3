import { VOICE_FAULT_NAMES, type VoiceFaultName } from '../agent/voice/voice-faults.js';
import { isWordFault, type WordFaultName } from '../agent/voice/word-faults.js';

/** Faults that only a Realtime server can have, by name. */
export const REALTIME_FAULTS = {
  'false-speech-start': {
    effect: 'reports speech of the caller in the middle of its second answer, and stops, although the caller is silent',
    detection: 'clean_protocol: false_speech_started',
  },
  'cancels-answer': {
    effect: 'cancels its second answer although the caller is silent',
    detection: 'clean_protocol: response_cancelled',
  },
  'cuts-answer': {
    effect: 'ends its second answer as incomplete, as at a limit on tokens',
    detection: 'clean_protocol: response_incomplete',
  },
  'no-answer': {
    effect: 'hears the caller and creates no response, after its second answer',
    detection: 'the call ends with agent_silent; wireFindings has no_response',
  },
  'no-tokens-left': {
    effect: 'reports that nothing is left of its limit on tokens',
    detection: 'wireFindings: rate_limit_reached',
  },
  'error-event': {
    effect: 'sends an error event with every answer, and goes on',
    detection: 'wireFindings: error_event',
  },
} as const satisfies Readonly<Record<string, { readonly effect: string; readonly detection: string }>>;

export type RealtimeOnlyFaultName = keyof typeof REALTIME_FAULTS;
export const REALTIME_FAULT_NAMES = Object.keys(REALTIME_FAULTS) as readonly RealtimeOnlyFaultName[];

/** Faults of the telephone that are about messages or audio formats of Twilio, or about keys. */
const ONLY_ON_THE_TELEPHONE: readonly VoiceFaultName[] = [
  'wrong-encoding',
  'wrong-rate',
  'wav-header',
  'no-clear',
  'wrong-stream-sid',
  'nameless-marks',
  'ignores-keys',
];

/** A fault that the agent can have as a Realtime server. */
export type RealtimeFaultName = RealtimeOnlyFaultName | VoiceFaultName | WordFaultName;
export const SHARED_FAULT_NAMES = VOICE_FAULT_NAMES.filter((name) => !ONLY_ON_THE_TELEPHONE.includes(name));

export const isRealtimeOnlyFault = (name: string): name is RealtimeOnlyFaultName =>
  Object.hasOwn(REALTIME_FAULTS, name);

export const isRealtimeFault = (name: string): name is RealtimeFaultName =>
  isRealtimeOnlyFault(name) || isWordFault(name) || (SHARED_FAULT_NAMES as readonly string[]).includes(name);
