export { PAGE_DAYS, renderAgentPage } from './page.js';
export type {
  ReportedAgent,
  ReportedAgentCase,
  ReportedAlarm,
  ReportedCaseResult,
  ReportedLook,
  WatchedSchedule,
} from './reported-agent.js';
