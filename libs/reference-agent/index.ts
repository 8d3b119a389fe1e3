/**
 * The agent that ships with the project: it books tables in a restaurant, is right by default, and shows one planted
 * fault at a time when told to. For a first run without any account, for tests, and for the proof of accuracy.
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
