/** Voice calls, for measurements outside of this library. */
export type { Truncation } from '../../openai-realtime/heard-account.js';
export type { PreparedVoice } from '../voice/prepare.js';
export { CALLER_VOICES, OWN_VOICE } from '../voice/prepare.js';
export { repertoireOf } from '../voice/repertoire.js';
export {
  guideEvaluation,
  isGuideFaultFound,
  spokenGuideAgent,
  spokenGuideFaults,
} from '../voice/testing/guide-cells.js';
export { type ModelCell, ModelCells } from '../voice/testing/model-cells.js';
export { type Action, scriptedAgent, type Turn } from '../voice/testing/scripted-agent.js';
export { imported, type ImportedResult, transcriptOf } from '../voice/testing/imported.js';
export { type RoundTrip, roundTripOf } from '../voice/testing/round-trip.js';
export { type RecordedVoiceCall, remeasured } from '../voice/testing/remeasured.js';
export { DELIVERY_STYLES, type LagCell, lagCells, type LagResult, measureLag } from '../voice/testing/lag-cells.js';
export { STILL_THERE } from '../voice/voice-agent.js';
export { faultTable } from '../../elevenlabs/fault-table.js';
export { TODAY, VoiceCalls } from '../voice/testing/voice-call.js';
export {
  evaluationOf,
  judged,
  LINES,
  voiceAccuracy,
  type VoiceCell,
  type VoiceCellResult,
  voiceCells,
  voiceOfCell,
} from '../voice/testing/voice-cells.js';
export {
  judgedRealtime,
  linesOf,
  type RealtimeCell,
  type RealtimeCellResult,
  realtimeCells,
  RealtimeCells,
  realtimeEvaluationOf,
  realtimeVoiceOf,
  WORD_PLATFORM_FAULTS,
  WORD_SESSION,
  type WordPlatform,
} from '../voice/testing/realtime-cells.js';
export { heardAgent } from '../voice/testing/heard-agent.js';
export { Recognisers } from '../voice/testing/recognisers.js';
export { SPEECH_FAILURES, type SpeechFailureName, SpeechFailures, speaks } from '../voice/testing/speech-failures.js';
export {
  decisionOf,
  isHeardOnTelephone,
  RECOGNISER_FAILURES,
  type RecogniserFailure,
  TelephoneFailures,
} from '../voice/testing/telephone-failures.js';
export {
  judgedTelephoneWords,
  type JudgedTelephoneWords,
  telephoneExpectationOf,
  type TelephoneWordCell,
  telephoneWordCells,
  TelephoneWords,
} from '../voice/testing/telephone-words.js';
export { WORD_FAULT_NAMES } from '../voice/word-faults.js';
