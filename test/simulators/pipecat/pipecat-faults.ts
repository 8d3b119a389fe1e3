import { SHARED_FAULT_NAMES } from '../openai-realtime/realtime-faults.js';
import type { VoiceFaultName } from '../agent/voice/voice-faults.js';
import { isWordFault, type WordFaultName } from '../agent/voice/word-faults.js';

/** Faults that only a bot of Pipecat can have, by name. */
export const PIPECAT_FAULTS = {
  'no-rtvi': {
    effect: 'has no RTVI: it sends audio alone',
    detection: 'wireFindings: no_rtvi; checks of words are undecided',
  },
  'stops-answering': {
    effect: 'hears the caller and says nothing, after its second answer',
    detection: 'the call ends with agent_silent',
  },
  'broken-frame': {
    effect: 'sends a frame that is cut off with every answer, and goes on',
    detection: 'clean_protocol: invalid_message',
  },
  'changes-rate': {
    effect: 'sends its second answer at another rate than the first',
    detection: 'wireFindings: unusual_frame',
  },
} as const satisfies Readonly<Record<string, { readonly effect: string; readonly detection: string }>>;

export type PipecatOnlyFaultName = keyof typeof PIPECAT_FAULTS;
/** With one of the telephone: `no-clear` is about the buffer of the client, too. */
export const PIPECAT_FAULT_NAMES = [
  ...(Object.keys(PIPECAT_FAULTS) as readonly PipecatOnlyFaultName[]),
  'no-clear',
] as const;

/** A fault that the agent can have as a bot of Pipecat. */
export type PipecatFaultName = PipecatOnlyFaultName | VoiceFaultName | WordFaultName;

export const isPipecatOnlyFault = (name: string): name is PipecatOnlyFaultName => Object.hasOwn(PIPECAT_FAULTS, name);

export const isPipecatFault = (name: string): name is PipecatFaultName =>
  (PIPECAT_FAULT_NAMES as readonly string[]).includes(name) ||
  isWordFault(name) ||
  (SHARED_FAULT_NAMES as readonly string[]).includes(name);
