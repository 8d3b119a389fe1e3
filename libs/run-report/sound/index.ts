export { SOUND_CSS } from './css.js';
export { PLAYER_CSP, PLAYER_SCRIPT } from './player.js';
export type { ReportedSound, ReportedVoice, SoundReader } from './reported-sound.js';
export { soundSection } from './section.js';
export { SoundBudget } from './sound-budget.js';
