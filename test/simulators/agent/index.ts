/**
 * The reference agent: it books tables in a restaurant, works correctly by default, and can have one planted fault.
 * Used for first runs without an account, for tests, and to measure the tester's accuracy; `scripts/demo.mjs` imports from
 * here, too.
 */
export { AgentFailure, createReferenceAgent } from './agent.js';
export type { Clock } from './clock.js';
export type { Message } from './conversation.js';
export { correctedTimeEvaluation, WRONG_TIME_CHECKS } from './corrected-time.js';
export { EVALUATION_KEYS, type EvaluationKey, referenceEvaluations } from './evaluations.js';
export { type Expectation, expectationOf } from './expected.js';
export { FAULT_NAMES, FAULTS, type FaultName } from './faults.js';
export { type ReferenceAgentServer, type ReferenceAgentServerOptions, startReferenceAgent } from './server.js';
export { VOICE_EVALUATION_KEYS, type VoiceEvaluationKey, voiceEvaluations } from './voice/evaluations.js';
export { isExpected, voiceExpectationOf } from './voice/expected.js';
export { prepareVoice } from './voice/prepare.js';
export type { AnswerStamp } from './voice/voice-agent.js';
export { VOICE_FAULT_NAMES, VOICE_FAULTS, type VoiceFaultName } from './voice/voice-faults.js';
