export { PAGE_DAYS, renderAgentPage } from './page.js';
export type { ReportedAgent, ReportedAgentCase, ReportedCaseResult, ReportedLook } from './reported-agent.js';
