/** Text to audio for the simulated caller. */
export { CachedSpeech } from './cache/cached-speech.js';
export { FliteEngine } from './flite/flite-engine.js';
export type { SpeechEngine } from './sound.js';
export { babbleLoop } from './sounds/babble.js';
export { SOUND_NAMES, soundOf } from './sounds/sounds.js';
export { voiceOf } from './voice-of.js';
