/** What a run would do with evaluations, before it is started and also before they are stored. */
export { explanationOf } from './explanation.js';
export { cures, type Equipment, misfits, PERSONALITY_DELETED } from './misfits.js';
export { platformWarnings } from './platform-warnings.js';
export type { PlannedEvaluation } from './planned-evaluation.js';
export { evaluationWarnings } from './warnings.js';
export type { TranscriptionEquipment } from './words.js';
