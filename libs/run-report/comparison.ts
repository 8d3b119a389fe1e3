import { type Change, undecidedChange } from '../statistics/index.js';
import { clipped, count, dateTime, duration, number, percent, title } from '../text/index.js';
import { html, type Html, NOTHING } from './html.js';
import { badge, facts, passRate } from './parts.js';
import type { ReportedCase, ReportedComparison, ReportedRunSide } from './reported.js';

/** Maximum number of rows; cases that changed come first. */
const MAX_ROWS = 100;
const MAX_NAME = 300;
const MAX_WARNING = 1_000;

/** Compares the run with its baseline: which cases changed, with scores and latencies beside each other. */
export function comparisonSection(comparison: ReportedComparison | null): Html {
  if (comparison === null) return NOTHING;
  const { baseline, current, cases, change, warnings } = comparison;
  const rows = [...cases].sort((a, b) => RANK[a.change] - RANK[b.change]).slice(0, MAX_ROWS);
  return html`<section aria-labelledby="comparison">
    <h2 id="comparison">Compared with <bdi>${title(baseline.name)}</bdi></h2>
    ${facts([
      ['Other run', html`<code>${baseline.id}</code>`],
      ...agents(comparison),
      ['Ended', baseline.endedAt === null ? undefined : dateTime(baseline.endedAt)],
      ['Agent version then', baseline.agentVersion === null ? undefined : title(baseline.agentVersion)],
      ['Score', pair(baseline.score, current.score, number)],
      ['Latency p50', pair(baseline.latency.p50, current.latency.p50, duration)],
      ['Latency p95', pair(baseline.latency.p95, current.latency.p95, duration)],
      ['Clock of the latencies', clocks(comparison)],
      ['Shared cases together', html`${changeLabel(change)} ${pair(baseline.passRate, current.passRate, percent)}`],
    ])}
    ${warnings.map((warning) => html`<p class="note">${clipped(warning, MAX_WARNING)}</p>`)} ${table(rows)}
    ${cases.length > rows.length && html`<p class="note">${count(cases.length - rows.length, 'more case')}.</p>`}
    <p class="note">Better and worse are differences larger than chance (exact tests at 5 %, Holm-corrected).</p>
  </section>`;
}

/** Both agents, if the runs are of two. */
function agents({ baseline, current }: ReportedComparison): [string, Html][] {
  if (baseline.agentId === current.agentId) return [];
  const named = ({ agentId, agentName }: ReportedRunSide) => html`<bdi>${title(agentName ?? agentId)}</bdi>`;
  return [
    ['Other agent', named(baseline)],
    ['This agent', named(current)],
  ];
}

/** Both clocks, if they differ. */
function clocks({ baseline, current }: ReportedComparison): string | undefined {
  const [before, now] = [baseline.latency.clock, current.latency.clock];
  return before === null || now === null || before === now ? undefined : `${before} → ${now}`;
}

const RANK: Readonly<Record<Change, number>> = { worse: 0, better: 1, undecided: 2, same: 3 };

const COLUMNS = ['Case', 'Change', 'Passed then', 'Passed now', 'Score', 'p50', 'p95'];

const table = (cases: readonly ReportedCase[]): Html =>
  html`<table role="table" class="comparison">
    <thead role="rowgroup">
      <tr role="row">
        ${COLUMNS.map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${cases.map(row)}
    </tbody>
  </table>`;

function row(one: ReportedCase): Html {
  const { name, change, callsNeeded, current, baseline } = one;
  const undecided = callsNeeded === null ? undefined : undecidedChange(one, callsNeeded);
  const cell = (label: string, content: Html | string, kind: string) =>
    html`<td role="cell" data-label="${label}" class="${kind}">${content}</td>`;
  return html`<tr role="row">
    <th role="rowheader" scope="row"><bdi>${clipped(title(name), MAX_NAME)}</bdi></th>
    ${cell('Change', html`${changeLabel(change)}${undecided !== undefined && html` <small>${undecided}</small>`}`, undecided === undefined ? 'nowrap' : 'explained')}
    ${cell('Passed then', passRate(baseline), 'rate')} ${cell('Passed now', passRate(current), 'rate')}
    ${cell('Score', pair(baseline.score, current.score, number), 'number')}
    ${cell('p50', pair(baseline.latency.p50, current.latency.p50, duration), 'number')}
    ${cell('p95', pair(baseline.latency.p95, current.latency.p95, duration), 'number')}
  </tr>`;
}

function changeLabel(change: Change): Html {
  if (change === 'same') return html`<span class="steady">No difference</span>`;
  if (change === 'undecided') return html`<span class="steady">Too few calls</span>`;
  return change === 'worse' ? badge('failed', 'Worse') : badge('passed', 'Better');
}

/** A value of both runs, the earlier one first. */
function pair(before: number | null, now: number | null, format: (value: number) => string): string {
  const text = (value: number | null) => (value === null ? '–' : format(value));
  return text(before) === text(now) ? text(now) : `${text(before)} → ${text(now)}`;
}
