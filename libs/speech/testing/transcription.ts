/** Doubles of transcription servers, for tests outside of this library. */
export { type ListeningBehaviour, listeningServer } from '../recogniser/testing/listening-server.js';
export { SentenceListener } from '../recogniser/testing/sentence-listener.js';
export { type ServerAnswer, TranscriptionServer } from '../recogniser/testing/transcription-server.js';
