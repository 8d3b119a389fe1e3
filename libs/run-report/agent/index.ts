export { PAGE_DAYS, renderAgentPage } from './page.js';
export type {
  ProductionCase,
  ReportedAgent,
  ReportedAgentCase,
  ReportedAlarm,
  ReportedCaseResult,
  ReportedLook,
  ReportedProduction,
  ReportedProductionCall,
  ReportedStream,
  WatchedSchedule,
} from './reported-agent.js';
