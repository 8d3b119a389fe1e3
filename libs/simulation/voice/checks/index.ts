export { voiceChecks } from './voice-checks.js';
