import { dateTime } from '../../text/index.js';
import { html, type Html } from '../html.js';
import { anchors } from '../labels.js';
import type { ReportedAgent, ReportedCaseResult } from './reported-agent.js';

/** Address of the call that shows a result best; undefined once its run was deleted. */
export function addressOf({ reportOf }: ReportedAgent, { runId, position, repetition }: ReportedCaseResult) {
  const report = reportOf(runId);
  return report === undefined ? undefined : `${report}#${anchors.call(position, repetition)}`;
}

/** Words that lead to the call that shows a result best. */
export const linked = (agent: ReportedAgent, result: ReportedCaseResult, words: string): Html =>
  link(addressOf(agent, result), words);

/** The time of a run, which leads to its report. */
export const linkedRun = ({ reportOf }: ReportedAgent, { runId, endedAt }: { runId: string; endedAt: string }): Html =>
  link(reportOf(runId), `the run of ${dateTime(endedAt)}`);

const link = (address: string | undefined, words: string): Html =>
  address === undefined ? html`${words} (deleted)` : html`<a href="${address}">${words}</a>`;
