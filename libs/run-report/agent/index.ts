export { PAGE_DAYS, renderAgentPage } from './page.js';
export type {
  ReportedAgent,
  ReportedAgentCase,
  ReportedAlarm,
  ReportedCaseResult,
  ReportedLook,
  ReportedStream,
  WatchedSchedule,
} from './reported-agent.js';
