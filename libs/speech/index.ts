/** Text to audio for the simulated caller. */
export { CachedSpeech, type CachedSpeechOptions } from './cache/cached-speech.js';
export { FliteEngine } from './flite/flite-engine.js';
export {
  MAX_TEXT_LENGTH,
  type Sound,
  type SoundWord,
  type SpeechEngine,
  SpeechError,
  type SpeechFailure,
  type SpeechRequest,
} from './sound.js';
export { babbleLoop } from './sounds/babble.js';
export { SOUND_NAMES, type SoundName, soundOf } from './sounds/sounds.js';
export { type ChosenVoice, voiceOf, type VoiceSettings } from './voice-of.js';
