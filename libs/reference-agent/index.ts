/**
 * The reference agent: it books tables in a restaurant, works correctly by default, and can have one planted fault.
 * Used for first runs without an account, for tests, and to measure the tester's accuracy.
 */
export {
  AgentFailure,
  type AnswerPart,
  createReferenceAgent,
  DEFAULT_SLOW_MS,
  type ReferenceAgent,
  type ReferenceAgentOptions,
  type RespondOptions,
  type Usage,
} from './agent.js';
export { type Clock, systemClock } from './clock.js';
export type { Message } from './conversation.js';
export { EVALUATION_KEYS, type EvaluationKey, referenceEvaluations } from './evaluations.js';
export { type Expectation, EXPECTED, expectationOf } from './expected.js';
export { FAULT_NAMES, FAULTS, type FaultName, isFault } from './faults.js';
export {
  AGENT_NAME,
  DEFAULT_HOST,
  DEFAULT_PORT,
  type ReferenceAgentServer,
  type ReferenceAgentServerOptions,
  startReferenceAgent,
} from './server.js';
export {
  VOICE_EVALUATION_KEYS,
  type VoiceCheckName,
  type VoiceEvaluationKey,
  voiceEvaluations,
} from './voice/evaluations.js';
export { isExpected, VOICE_EXPECTED, type VoiceExpectation, voiceExpectationOf } from './voice/expected.js';
export { prepareVoice, type PreparedVoice, type PrepareOptions, type Synthesiser } from './voice/prepare.js';
export type { TelephoneOptions } from './voice/telephone.js';
export { type AgentSocket, TwilioAgentSession } from './voice/twilio-session.js';
export type { AnswerStamp, VoiceAgentOptions } from './voice/voice-agent.js';
export { isVoiceFault, VOICE_FAULT_NAMES, VOICE_FAULTS, type VoiceFaultName } from './voice/voice-faults.js';
