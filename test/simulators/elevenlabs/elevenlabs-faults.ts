import { SHARED_FAULT_NAMES } from '../openai-realtime/realtime-faults.js';
import type { VoiceFaultName } from '../agent/voice/voice-faults.js';
import { isWordFault, type WordFaultName } from '../agent/voice/word-faults.js';

/** Faults that only an agent of ElevenLabs can have, by name. */
export const ELEVENLABS_FAULTS = {
  'false-interruption': {
    effect: 'reports an interruption in the middle of its second answer, and stops, although the caller is silent',
    detection: 'clean_protocol: false_interruption',
  },
  'audio-after-interruption': {
    effect: 'goes on sending the audio of an answer after it was interrupted, with the number of the interruption',
    detection: 'wireFindings: late_audio; nothing of it is heard',
  },
  'wrong-correction': {
    effect: 'believes that the whole answer was heard when it was interrupted',
    detection: 'wireFindings: heard_otherwise',
  },
  'no-answer-events': {
    effect: 'sends none of its words: the client event agent_response is switched off',
    detection: 'wireFindings: no_words; checks of words are undecided',
  },
  'stops-answering': {
    effect: 'hears the caller and says nothing, after its second answer',
    detection: 'the call ends with agent_silent',
  },
  'error-message': {
    effect: 'sends an error message with every answer, and goes on',
    detection: 'wireFindings: error_event',
  },
} as const satisfies Readonly<Record<string, { readonly effect: string; readonly detection: string }>>;

export type ElevenLabsOnlyFaultName = keyof typeof ELEVENLABS_FAULTS;
export const ELEVENLABS_FAULT_NAMES = Object.keys(ELEVENLABS_FAULTS) as readonly ElevenLabsOnlyFaultName[];

/** A fault that the agent can have as one of ElevenLabs. */
export type ElevenLabsFaultName = ElevenLabsOnlyFaultName | VoiceFaultName | WordFaultName;

export const isElevenLabsOnlyFault = (name: string): name is ElevenLabsOnlyFaultName =>
  Object.hasOwn(ELEVENLABS_FAULTS, name);

export const isElevenLabsFault = (name: string): name is ElevenLabsFaultName =>
  isElevenLabsOnlyFault(name) || isWordFault(name) || (SHARED_FAULT_NAMES as readonly string[]).includes(name);
