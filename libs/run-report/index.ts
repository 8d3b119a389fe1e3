/**
 * What a test run came to, for people and for CI: a page of HTML that stands alone, and JUnit XML. Knows neither how
 * results are stored nor how reports are fetched.
 *
 * What agents and users wrote is hostile here. Two places escape, and no other: `html.ts` every value of a template,
 * `xml.ts` every text and attribute; both show by a stand-in what must not be shown as it is (`text.ts`).
 */
export { renderJunit } from './junit.js';
export { renderReport } from './report.js';
export type {
  CallReader,
  ReportedCall,
  ReportedCounts,
  ReportedEvaluation,
  ReportedRun,
  WantedCalls,
} from './reported.js';
export { REPORT_CSP } from './style.js';
