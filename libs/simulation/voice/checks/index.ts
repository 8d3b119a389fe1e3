export type { VoiceEvidence } from './evidence.js';
export { voiceChecks } from './voice-checks.js';
