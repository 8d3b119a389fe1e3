export { VOICE_CSS } from './css.js';
export { PLAYER_CSP, PLAYER_SCRIPT } from './player.js';
export type { ReportedAudio, ReportedVoice, AudioReader } from './reported-voice.js';
export { type RecordingAddresses, voiceSection } from './section.js';
export { AudioBudget } from './audio-budget.js';
