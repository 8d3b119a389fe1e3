import type { CallState } from '../../statistics/index.js';
import { count, dateTime, title } from '../../text/index.js';
import { html, type Html } from '../html.js';
import { openAlarms } from './alarms.js';
import { linked, linkedRun } from './links.js';
import type { ReportedAgent, ReportedAgentCase, ReportedStream, ReportedStreamRun } from './reported-agent.js';

/** State of an agent, and why. */
export interface Verdict {
  readonly state: CallState;
  readonly label: string;
  readonly why: Html;
}

/** Those whose results are the verdict: the enabled schedules, or all runs of an agent of which no schedule has results. */
export function decidingStreams({ streams }: ReportedAgent): readonly ReportedStream[] {
  const ofSchedules = streams.filter(({ scheduleId }) => scheduleId !== null);
  return ofSchedules.length > 0 ? ofSchedules : streams;
}

export interface RedCase {
  readonly stream: ReportedStream;
  readonly one: ReportedAgentCase;
  readonly since: NonNullable<ReportedAgentCase['redSince']>;
}

/** Red cases of the deciding streams, those first that have been red the longest. */
export function redCases(agent: ReportedAgent): RedCase[] {
  const red = decidingStreams(agent).flatMap((stream) =>
    stream.cases.flatMap((one) => (one.redSince ? [{ stream, one, since: one.redSince }] : [])),
  );
  return red.sort((a, b) => (a.since.endedAt < b.since.endedAt ? -1 : 1));
}

/** Never green if that is not known: red cases first, then gates, alarms, and runs that were deleted. */
export function verdictOf(agent: ReportedAgent): Verdict {
  const deciding = decidingStreams(agent);
  const newest = (gate: ReportedStreamRun['gate']) => deciding.filter(({ runs }) => runs.at(-1)!.gate === gate);
  const lines = (of: readonly ReportedStream[], line: (stream: ReportedStream) => Html) =>
    html`${of.map((stream) => html`<p>${line(stream)}</p>`)}`;
  const [first, ...others] = redCases(agent);
  if (first) {
    const [what, since] = [count(others.length + 1, 'case'), others.length === 0 ? 'since' : 'the first since'];
    const why = html`<p>
      ${what} not green, ${since} ${linked(agent, first.since, `the run of ${dateTime(first.since.endedAt)}`)}.
    </p>`;
    return { state: 'failed', label: 'Not green', why };
  }
  const open = openAlarms(agent);
  if (deciding.length === 0 && open.length === 0)
    return { state: 'pending', label: 'No ended run', why: html`<p>No run ended in these ${agent.days} days.</p>` };
  const since = (stream: ReportedStream) => linkedRun(agent, gateSince(stream));
  const notMet = newest('not_met');
  if (notMet.length > 0) {
    const why = lines(
      notMet,
      (of) => html`No case is red, but ${ofStream('the gate', of)} is not met since ${since(of)}.`,
    );
    return { state: 'failed', label: 'Gate not met', why };
  }
  const notTested = newest('not_tested');
  if (notTested.length > 0) {
    const why = lines(notTested, (of) => html`${ofStream('Not all calls', of)} could be judged since ${since(of)}.`);
    return { state: 'error', label: 'Not fully tested', why };
  }
  if (open.length > 0)
    return { state: 'failed', label: 'Open alarm', why: html`${open.map((one) => html`<p>${one}</p>`)}` };
  const deleted = newest(null);
  const line = (of: ReportedStream) =>
    html`No case is red in ${ofStream('the newest run', of)}, ${linkedRun(agent, of.runs.at(-1)!)}.`;
  if (deleted.length > 0) return { state: 'pending', label: 'Not tested lately', why: lines(deleted, line) };
  return { state: 'passed', label: 'Green', why: lines(deciding, line) };
}

const ofStream = (what: string, { name }: ReportedStream): Html =>
  html`${what}${name !== null && html` of <bdi>${title(name)}</bdi>`}`;

/** The first of the newest runs whose gates ended like that of the newest; deleted runs neither begin nor end that. */
function gateSince({ runs }: ReportedStream): ReportedStreamRun {
  const newest = runs.at(-1)!;
  const before = runs.findLastIndex(({ gate }) => gate !== null && gate !== newest.gate);
  return runs.slice(before + 1).find(({ gate }) => gate === newest.gate) ?? newest;
}

/** Which runs the verdict comes from. */
export function decisionNote(agent: ReportedAgent): Html | false {
  const { streams } = agent;
  if (streams.length === 0) return false;
  const deciding = decidingStreams(agent);
  if (deciding[0]!.scheduleId === null)
    return html`<p class="note">The newest result of each case decides, because no enabled schedule has a result.</p>`;
  const names = deciding.map(({ name }, at) => html`${at > 0 && ', '}<bdi>${title(name ?? '')}</bdi>`);
  return html`<p class="note">
    The newest run of ${deciding.length === 1 ? 'the schedule' : 'each schedule'} decides:
    ${names}.${streams.length > deciding.length && ' Other runs do not.'}
  </p>`;
}
