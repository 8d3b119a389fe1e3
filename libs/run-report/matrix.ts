import { clipped, count, duration, number, percent, title } from '../text/index.js';
import { html, type Html, NOTHING } from './html.js';
import { badge } from './parts.js';
import type { ReportedColumn, ReportedMatrix, ReportedMatrixCase, ReportedMatrixSide } from './reported.js';

/** Maximum number of rows; cases with a difference come first. */
const MAX_ROWS = 100;
const MAX_NAME = 300;

/** Several runs side by side: one column per run, one row per case of the first run. */
export function matrixSection(matrix: ReportedMatrix | null): Html {
  if (matrix === null) return NOTHING;
  const { runs, cases, warnings } = matrix;
  const rows = [...cases].sort((a, b) => Number(differs(b)) - Number(differs(a))).slice(0, MAX_ROWS);
  const clocks = new Set(runs.flatMap(({ latency }) => latency.clock ?? []));
  return html`<section aria-labelledby="matrix">
    <h2 id="matrix">${count(runs.length, 'run')} side by side</h2>
    ${warnings.map((warning) => html`<p class="note">${clipped(warning, MAX_NAME)}</p>`)}
    <table role="table" class="matrix">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">Case</th>
          ${runs.map(head)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map((one) => caseRow(one, runs))}
      </tbody>
      <tbody role="rowgroup" class="whole">
        ${wholeRow('All cases together', runs, resultCell)}
        ${wholeRow('Score', runs, ({ score }) => known(score, number))}
        ${wholeRow('Latency p50', runs, ({ latency }) => known(latency.p50, duration))}
        ${wholeRow('Latency p95', runs, ({ latency }) => known(latency.p95, duration))}
        ${clocks.size > 1 && wholeRow('Clock of the latencies', runs, ({ latency }) => html`${latency.clock ?? '–'}`)}
      </tbody>
    </table>
    ${cases.length > rows.length && html`<p class="note">${count(cases.length - rows.length, 'more case')}.</p>`}
    <p class="note">
      Better and worse are differences to the first run larger than chance (exact tests of all cells, two-sided at 5 %,
      Holm-corrected).
    </p>
  </section>`;
}

const differs = ({ results }: ReportedMatrixCase): boolean =>
  results.some(({ difference }) => difference?.change === 'worse' || difference?.change === 'better');

/** What names a run in its column: runs of different agents often have the same name, and the other way round. */
function head({ name, agentName, agentId, agentVersion, protocol }: ReportedColumn): Html {
  const details = [agentName ?? agentId, agentVersion, protocol].filter((detail) => detail !== null);
  return html`<th role="columnheader" scope="col">
    <b><bdi>${title(name)}</bdi></b>
    ${details.map((detail) => html`<small><bdi>${title(detail)}</bdi></small>`)}
  </th>`;
}

const caseRow = ({ name, results }: ReportedMatrixCase, runs: readonly ReportedColumn[]): Html =>
  html`<tr role="row">
    <th role="rowheader" scope="row"><bdi>${clipped(title(name), MAX_NAME)}</bdi></th>
    ${runs.map((run) => {
      const result = results.find(({ runId }) => runId === run.id);
      return cell(run, result ? resultCell(result) : html`<span class="none">not in this run</span>`);
    })}
  </tr>`;

const wholeRow = (label: string, runs: readonly ReportedColumn[], content: (run: ReportedColumn) => Html): Html =>
  html`<tr role="row">
    <th role="rowheader" scope="row">${label}</th>
    ${runs.map((run) => cell(run, content(run)))}
  </tr>`;

const cell = ({ name, agentName }: ReportedColumn, content: Html): Html =>
  html`<td role="cell" data-label="${clipped(title(agentName === null ? name : `${name}, ${agentName}`), 80)}">
    ${content}
  </td>`;

function resultCell({ counted, passed, passRate, latency, difference }: ReportedMatrixSide): Html {
  if (passRate === null) return html`<span class="none">not counted</span>`;
  return html`<b>${percent(passRate)}</b>
    <small class="nowrap">${passed} of ${counted}</small>
    ${latency.p50 !== null && html`<small class="nowrap">${duration(latency.p50)}</small>`}
    ${difference && changeLabel(difference.change)}`;
}

function changeLabel(change: string): Html {
  if (change === 'worse') return badge('failed', 'Worse');
  if (change === 'better') return badge('passed', 'Better');
  return NOTHING;
}

const known = (value: number | null, format: (value: number) => string): Html =>
  html`${value === null ? '–' : format(value)}`;
