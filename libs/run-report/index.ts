/**
 * Renders the results of a test run, and those of an agent over time, as a self-contained HTML page, and a run as JUnit XML. Independent of how results are stored
 * and how reports are served.
 *
 * Text of agents and users is untrusted. It is escaped in two places only: `html.ts` escapes every value of a template,
 * `xml.ts` every text and attribute. Both replace unsafe characters by visible symbols (`libs/text`).
 */
export { renderJunit } from './junit.js';
export { renderReport } from './report.js';
export type {
  CallReader,
  ReportedAttempt,
  ReportedCall,
  ReportedComparison,
  ReportedEvaluation,
  ReportedMatrix,
  ReportedRun,
  ReportedSide,
} from './reported.js';
export type { ReportedAudio, ReportedVoice, AudioReader } from './voice/index.js';
export {
  PAGE_DAYS,
  type ProductionCase,
  renderAgentPage,
  type ReportedAgent,
  type ReportedAgentCase,
  type ReportedAlarm,
  type ReportedCaseResult,
  type ReportedLook,
  type ReportedProduction,
  type ReportedProductionCall,
  type ReportedStream,
  type WatchedSchedule,
} from './agent/index.js';
export { REPORT_CSP } from './style.js';
