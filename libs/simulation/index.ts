/**
 * Simulated callers for voice agents: runs one call of an evaluation with an agent and decides its outcome.
 * Independent of how evaluations and results are stored and how calls are queued.
 *
 *     const result = await executeCall({
 *       definition: { script, checks, criteria, maxTurns: 40, maxDurationSeconds: 600 },
 *       scenario: { scenarioText: 'You want a table for four …' },
 *       personality: { name: 'Hurried caller' },
 *       transport: chatCompletions({ client: new OutboundClient(), url, assistantId, phoneNumber, apiKey }),
 *       model: new LanguageModel({ baseUrl, apiKey, model }), // only for callers without a script, and for criteria
 *     });
 *     result.outcome // passed, failed, invalid or error
 *
 * How a call becomes a result:
 *
 * - `conversation.ts` decides when the caller acts (`callers/` what it says) and records everything (`timeline.ts`).
 *   The agent is reached through a `Transport`: `chatCompletions` over HTTP, `inProcess` for an agent that is a function.
 * - `checks/` evaluates the checks, `judge/` the criteria, `validity/` whether the caller kept its role; `verdict.ts`
 *   decides the outcome, `measures.ts` computes the measures. `libs/statistics` does the same for many calls.
 * - `attempts.ts` decides whether a call is retried.
 * - All time comes from a `Clock`. On a `VirtualClock` a call with a scripted caller and an in-process agent is
 *   deterministic and takes no time; several calls may share a clock.
 *
 * Times on the timeline are milliseconds since the call was answered, without the tester's own thinking time.
 * Latency is the time from the caller's last word (the request being written) to the first part of the answer that is
 * not white space. A chat completions agent does not notice a caller's silence, because it gets no message.
 */
export type { EvaluateVoiceCheck } from './checks/evaluate-checks.js';
export { type NextStep, afterAttempt, type Attempt, attemptOf } from './attempts.js';
export { type CallExchange, EXCHANGE_LIMITS, type ExchangedRequest, type UnusableAnswer } from './call-exchange.js';
export { unstartedCall } from './unstarted-call.js';
export { DEFAULT_PATIENCE_MS, executeCall, SIMULATION_VERSION } from './call.js';
export type { CallOptions, CallPhase, CallProgress, CallResult, CallVersions } from './call.js';
export type { Caller, CallerAction, AgentReply } from './callers/caller.js';
export type { Personality, Scenario } from './callers/persona.js';
export { describeCheck } from './checks/check-description.js';
export type { CheckResult } from './checks/check-result.js';
export type { Evidence } from './evidence.js';
export { FINDING_SEVERITIES, type FindingSeverity } from './voice/facts.js';
export { bargeInText, platformText, soundText } from './sound-text.js';
export { toolCallText } from './tool-call-text.js';
export type { JsonValue } from './text.js';
export {
  CONNECTION_STEPS,
  type ConnectionStep,
  type ConnectionStepName,
  type ConnectionTestResult,
  STEP_STATUSES,
} from './connection-test/steps.js';
export { testConnection } from './connection-test/test-connection.js';
export { type Clock, RealClock } from './clock.js';
export { type Blame, CallFailure, failure, type Failure, type FailureCode, FAILURES, type Fault } from './failure.js';
export { CallView, type Wait } from './call-view.js';
export type { CriterionResult, Sample } from './judge/criterion-result.js';
export type { JudgeSamples } from './judge/judge.js';
export { LanguageModel, type LanguageModelOptions } from './llm.js';
export { misfitOf, type ProtocolFacts } from './protocol-fit.js';
export { rangeOfText } from './matching.js';
export type { Measures } from './measures.js';
export type { Reliability, Stall } from './stalls.js';
export { type ModelPrices, type ModelUsage, type TesterUsage, totalCostUsd } from './tester-usage.js';
export {
  END_CODES,
  type EndCode,
  type EndEntry,
  type ErrorEntry,
  type FindingEntry,
  type PlatformEntry,
  type ScriptSource,
  type SilenceEntry,
  type SoundEntry,
  type SpeechEntry,
  type TimelineEntry,
  type ToolCallEntry,
} from './timeline.js';
export type { AgentEvent, Line, LineOptions, Transport } from './transport.js';
export { agentUrl } from './transports/agent-url.js';
export { chatCompletions, type ChatCompletionsOptions } from './transports/chat-completions.js';
export { HANG_UP_TOOLS } from './transports/hang-up.js';
export { type AgentAction, type AgentTurn, inProcess, type InProcessAgent } from './transports/in-process.js';
export {
  type AgentCall,
  type AgentEndpoint,
  FIRST_SPEAKERS,
  type FirstSpeaker,
  type ProtocolName,
  type ProtocolOption,
} from './transports/endpoint.js';
export {
  type Protocol,
  PROTOCOLS,
  type SoundProtocol,
  type TextProtocol,
  transportTo,
} from './transports/protocols.js';
export { mediaThread } from './transports/twilio/transport.js';
export { twilioProtocol, type TwilioStream } from './transports/twilio/protocol.js';
export type { Invalidity, InvalidityCode } from './validity/invalidity.js';
export type { Verdict } from './verdict.js';
export { VirtualClock } from './virtual-clock.js';
export { type CallerSounds, prepareScript } from './voice/prepare.js';
export { warmUp } from './warm-up.js';
export type { RecordingSink, VoiceCallOptions, VoiceTransport } from './voice/media.js';
export type { InProcessMediaAgent, InProcessMediaAgentFactory, InProcessSocket } from './voice/in-process-agent.js';
export type { VoiceFacts } from './voice/facts.js';
export type { VoiceCallPlan } from './voice/plan.js';
export type {
  BargeInResult,
  RecordingFacts,
  SoundResult,
  TimedWord,
  VoiceLatency,
  VoiceMeasures,
  VoiceResult,
} from './voice/results.js';
export { VOICE_PATIENCE_MS, type VoiceOptions } from './voice/voice-conversation.js';
export { virtualCalls, type VirtualCallOptions } from './voice/virtual-call.js';
export type { MediaTiming, WireFinding } from './voice/facts.js';
