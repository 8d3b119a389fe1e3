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
 * - `conversation/` decides when the caller of a text call acts (`callers/` what it says) and records everything
 *   (`timeline/`). The agent is reached through a `Transport`: `transportTo` over the protocol of its endpoint, `inProcess`
 *   for an agent that is a function.
 * - `completions/` reads chat completions in the dialects of real servers, of agents and of the language model (`model/`).
 * - `voice/` is the same for voice calls: a `VoiceTransport` runs the call in the media thread and yields `VoiceFacts`.
 * - `checks/` evaluates the checks, `judge/` the criteria, `validity/` whether the caller kept its role; `call/verdict.ts`
 *   decides the outcome, `measures/` computes the measures. `libs/statistics` does the same for many calls.
 * - `call/attempts.ts` decides whether a call is retried.
 * - All time comes from a `Clock`. On a `VirtualClock` a call with a scripted caller and an in-process agent is
 *   deterministic and takes no time; several calls may share a clock.
 *
 * Times on the timeline are milliseconds since the call was answered, without the tester's own thinking time.
 * Latency is the time from the caller's last word (the request being written) to the first part of the answer that is
 * not white space. A chat completions agent does not notice a caller's silence, because it gets no message.
 */
export { afterAttempt, type Attempt, attemptOf, isSuspect, type NextStep, wasCutOff } from './call/attempts.js';
export type { CallExchange, UnusableAnswer } from './other-side/call-exchange.js';
export { unstartedCall } from './call/unstarted-call.js';
export { executeCall, RECORDING_OMITTED } from './call/call.js';
export type { CallOptions, CallProgress, CallResult, RecordingOmitted } from './call/call.js';
export type { CallVersions } from './call/call-versions.js';
export { PersonalDataRedaction } from './production/personal-data.js';
export { executeImportedCall, executeTranscribedCall, type ImportedCallOptions, RECORDING } from './call/import.js';
export { clockOf, LATENCY_CLOCKS, type LatencyClock } from './call/latency-clock.js';
export { rejudge } from './call/rejudge.js';
export { attemptWithoutTexts, checkWithoutTexts, withoutTexts } from './call/without-texts.js';
export { remeasure, type RemeasureOptions } from './call/remeasure.js';
export { SEND_LIMITS } from './other-side/send-limits.js';
export type { Personality, Scenario } from './callers/persona.js';
export type { CheckResult } from './checks/check-result.js';
export type { Evidence } from './timeline/evidence.js';
export { FINDING_SEVERITIES, type FindingSeverity } from './voice/facts/facts.js';
export { THINKING_REASONS, type ThinkingReason } from './voice/facts/facts.js';
export { isRootCause } from './call/root-causes.js';
export { bargeInText, heardText, platformText, soundText } from './timeline/sound-text.js';
export { toolCallText } from './timeline/tool-call-text.js';
export { type JsonValue, sanitizeText } from './timeline/text.js';
export { type ConnectionStep, type ConnectionTestResult, STEP_STATUSES } from './connection-test/steps.js';
export { testConnection } from './connection-test/test-connection.js';
export { type Clock, RealClock } from './time/clock.js';
export { type Blame, CallFailure, failure, type Failure, type FailureCode, FAILURES } from './timeline/failure.js';
export { CallView } from './timeline/call-view.js';
export type { CriterionResult } from './judge/criterion-result.js';
export { JUDGE_PROMPT_VERSION } from './judge/prompt.js';
export { LanguageModel, type LanguageModelOptions } from './model/llm.js';
export { historySide, historyText } from './timeline/history-text.js';
export { type CallerLanguages, misfitOf, needsWords } from './call/protocol-fit.js';
export { backchannelWord, hasCallerWords } from './voice/speaking/caller-words.js';
export { rangeOfText } from './matching/matching.js';
export type { Measures } from './measures/measures.js';
export type { Reliability } from './time/stalls.js';
export { totalCostUsd } from './measures/tester-usage.js';
export { END_CODES, type EndCode } from './timeline/end-codes.js';
export {
  type EndEntry,
  joinSpeech,
  type ScriptSource,
  type SpeechEntry,
  type TimelineEntry,
  type ToolCallEntry,
} from './timeline/timeline.js';
export {
  MAX_REPORTED,
  reportedArguments,
  type ReportedToolCall,
  type Reports,
  type TakeReports,
} from './conversation/reported-tools.js';
export type { Transport } from './conversation/transport.js';
export { agentUrl } from './transports/http/agent-url.js';
export { chatCompletions, type ChatCompletionsOptions } from './transports/text/chat-completions/index.js';
export { type AgentAction, inProcess } from './transports/text/in-process.js';
export {
  type AgentCall,
  type AnsweringNumber,
  type AgentEndpoint,
  type CallLedger,
  FIRST_SPEAKERS,
  type FirstSpeaker,
  type PlatformRequest,
  type ProtocolName,
  type SipAccount,
  type TelephoneLine,
} from './transports/modules/endpoint.js';
export type { Assistant, ListedAssistants, PlatformAccount } from './transports/modules/assistants.js';
export type {
  ListedCall,
  ListedCalls,
  MonitoredAgent,
  ProductionCall,
  CallSound,
  ProductionCalls,
  ProductionJudging,
  ProductionToolCall,
  Records,
  RecordsRequest,
  RecordsWindow,
  TakenCall,
  TakeSound,
} from './transports/modules/records.js';
export type { Medium, ProtocolModule } from './transports/modules/module.js';
export { reportsTools, variablesOf } from './transports/modules/common-options.js';
export { TRANSCRIPTION_MODES, type TranscriptionMode } from './transports/modules/voice-options.js';
export {
  callThreadEvents,
  limitCallThreads,
  mediaThreads,
  platformOf,
  PROTOCOLS,
  requestThreads,
  transportTo,
} from './transports/protocols.js';
export { promote, type Promotion } from './promotion/promote.js';
export type { ThreadDeath } from '../concurrency/index.js';
export type { Invalidity } from './validity/invalidity.js';
export { VirtualClock } from './time/virtual-clock.js';
export { prepareScript } from './voice/speaking/prepare.js';
export { warmUp } from './call/warm-up.js';
export type { RecordingSink, VoiceTransport } from './voice/wire/voice-transport.js';
export type { InProcessMediaAgentFactory } from './voice/call/in-process-agent.js';
export type { VoiceFacts } from './voice/facts/facts.js';
export type { HeardPiece } from './voice/facts/heard-piece.js';
export { readFacts, storedFacts } from './voice/facts/stored-facts.js';
export { responseLatencies } from './call/response-latencies.js';
export { callerChannel } from './voice/imported/channel-order.js';
export { type ImportedCall, importedFacts } from './voice/imported/imported-facts.js';
export type { TranscriptEntry } from './voice/imported/transcript.js';
export type { ImportedToolCall, ReportedCall } from './voice/imported/reported.js';
export { type RecordedLane } from './voice/hearing/hear-lane.js';
export { recordingFormat } from './voice/facts/recording-format.js';
export type { TimedWord, VoiceMeasures, VoiceResult, WordsFrom, WordSource } from './voice/facts/results.js';
export type { VoiceOptions } from './voice/conversation/voice-conversation.js';
export type { VoiceTranscription } from './voice/conversation/transcriber.js';
export { type SpokenDifference, spokenDifferences } from './values/spoken-form.js';
export { virtualCalls, type VirtualCallOptions } from './voice/call/virtual-call.js';
export type { MediaTiming, WireFinding } from './voice/facts/facts.js';
