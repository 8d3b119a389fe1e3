/** Text to audio for the simulated caller, and audio of the agent to text. */
export { CachedSpeech } from './cache/cached-speech.js';
export {
  callerLanguages,
  type CallerVoice,
  callerVoice,
  type ServerVoices,
  type VoiceServers,
} from './caller-voice.js';
export { FLITE_VERSION, FliteEngine } from './flite/flite-engine.js';
export {
  HttpRecogniser,
  type HttpRecogniserOptions,
  type ObservedTranscription,
  TRANSCRIPTION_OUTCOMES,
} from './recogniser/http-recogniser.js';
export { withoutMarks } from './recogniser/marks.js';
export { type Piece, type PieceOptions, piecesOf } from './recogniser/pieces.js';
export {
  type Recogniser,
  RecogniserError,
  type TranscribedWord,
  type Transcription,
  type TranscriptionRequest,
} from './recogniser/recogniser.js';
export { PROBE_SENTENCE, probeRecogniser, type RecogniserProbe } from './recogniser/probe-recogniser.js';
export { type FailedRequests, WatchedRecogniser } from './recogniser/watched-recogniser.js';
export type { Sound, SpeechEngine, SpeechRequest } from './sound.js';
export { SpeechServer } from './server/speech-server.js';
export { babbleLoop } from './sounds/babble.js';
export { BACKCHANNEL_VOICES, SOUND_NAMES, soundOf } from './sounds/sounds.js';
export { voiceOf } from './voice-of.js';
