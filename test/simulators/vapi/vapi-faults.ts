import { SHARED_FAULT_NAMES } from '../openai-realtime/realtime-faults.js';
import { isWordFault, type WordFaultName } from '../agent/voice/word-faults.js';
import type { VoiceFaultName } from '../agent/voice/voice-faults.js';

/** Faults that only an assistant of Vapi can have, by name. */
export const VAPI_FAULTS = {
  'false-interruption': {
    effect: 'reports an interruption in the middle of its second answer, and stops, although the caller is silent',
    detection: 'clean_protocol: false_interruption',
  },
  'no-word-messages': {
    effect: 'sends none of its words: clientMessages has neither model-output nor transcript',
    detection: 'wireFindings: no_words; checks of words are undecided',
  },
  'stops-answering': {
    effect: 'hears the caller and says nothing, after its second answer',
    detection: 'the call ends with agent_silent',
  },
  'broken-message': {
    effect: 'sends a message without its fields with every answer, and goes on',
    detection: 'clean_protocol: invalid_message',
  },
} as const satisfies Readonly<Record<string, { readonly effect: string; readonly detection: string }>>;

export type VapiOnlyFaultName = keyof typeof VAPI_FAULTS;
export const VAPI_FAULT_NAMES = Object.keys(VAPI_FAULTS) as readonly VapiOnlyFaultName[];

/** A fault that the agent can have as an assistant of Vapi. */
export type VapiFaultName = VapiOnlyFaultName | VoiceFaultName | WordFaultName;

export const isVapiOnlyFault = (name: string): name is VapiOnlyFaultName => Object.hasOwn(VAPI_FAULTS, name);

export const isVapiFault = (name: string): name is VapiFaultName =>
  isVapiOnlyFault(name) || isWordFault(name) || (SHARED_FAULT_NAMES as readonly string[]).includes(name);
