import { clipped, count, distinctLabels, duration, number, percent, title } from '../text/index.js';
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
  const columns = labelled(runs);
  const clocks = new Set(runs.flatMap(({ latency }) => latency.clock ?? []));
  return html`<section aria-labelledby="matrix">
    <h2 id="matrix">${count(runs.length, 'run')} side by side</h2>
    ${warnings.map((warning) => html`<p class="note">${clipped(warning, MAX_NAME)}</p>`)}
    <table role="table" class="matrix">
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col">Case</th>
          ${columns.map(head)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${rows.map((one) => caseRow(one, columns))}
      </tbody>
      <tbody role="rowgroup" class="whole">
        ${wholeRow('All cases together', columns, (run) => resultCell(run, runs[0]))}
        ${wholeRow('Score', columns, ({ score }) => known(score, number))}
        ${wholeRow('Latency p50', columns, ({ latency }) => known(latency.p50, duration))}
        ${wholeRow('Latency p95', columns, ({ latency }) => known(latency.p95, duration))}
        ${clocks.size > 1 && wholeRow('Clock of the latencies', columns, ({ latency }) => html`${latency.clock ?? '–'}`)}
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

/** A run with what tells it from the others: the platform, else the version of the agent, else a name. */
interface LabelledColumn extends ReportedColumn {
  readonly label: string;
}

function labelled(runs: readonly ReportedColumn[]): LabelledColumn[] {
  const labels = distinctLabels(runs.map(namesOf));
  return runs.map((run, index) => ({ ...run, label: labels[index]! }));
}

const namesOf = ({ protocol, agentVersion, agentName, agentId, name }: ReportedColumn): (string | null)[] =>
  [protocol, agentVersion, agentName ?? agentId, name].map((text) => (text === null ? null : clipped(title(text), 60)));

function head(run: LabelledColumn): Html {
  const { label } = run;
  const details = namesOf(run).filter((detail) => detail !== null && !label.split(', ').includes(detail));
  return html`<th role="columnheader" scope="col">
    <b><bdi>${label}</bdi></b>
    ${details.map((detail) => html`<small><bdi>${detail}</bdi></small>`)}
  </th>`;
}

const caseRow = ({ name, results }: ReportedMatrixCase, runs: readonly LabelledColumn[]): Html =>
  html`<tr role="row">
    <th role="rowheader" scope="row"><bdi>${clipped(title(name), MAX_NAME)}</bdi></th>
    ${runs.map((run) => {
      const result = results.find(({ runId }) => runId === run.id);
      const first = results.find(({ runId }) => runId === runs[0]?.id);
      return cell(run, result ? resultCell(result, first) : html`<span class="none">not in this run</span>`);
    })}
  </tr>`;

const wholeRow = (label: string, runs: readonly LabelledColumn[], content: (run: LabelledColumn) => Html): Html =>
  html`<tr role="row">
    <th role="rowheader" scope="row">${label}</th>
    ${runs.map((run) => cell(run, content(run)))}
  </tr>`;

const cell = ({ label }: LabelledColumn, content: Html): Html =>
  html`<td role="cell" data-label="${label}">${content}</td>`;

/** @param first result of the first run, undefined if it has none */
function resultCell(result: ReportedMatrixSide, first: ReportedMatrixSide | undefined): Html {
  const { counted, passed, passRate, latency, difference } = result;
  if (passRate === null) return html`<span class="none">not counted</span>`;
  const isOpen = difference?.change === 'undecided' && passRate !== first?.passRate;
  return html`<b ${passed === 0 && html`class="no-pass"`}>${percent(passRate)}</b>
    <small class="nowrap">${passed} of ${counted}</small>
    ${latency.p50 !== null && html`<small class="nowrap">${duration(latency.p50)}</small>`}
    ${isOpen && html`<small class="nowrap">too few calls</small>`} ${difference && changeLabel(difference.change)}`;
}

function changeLabel(change: string): Html {
  if (change === 'worse') return badge('failed', 'Worse');
  if (change === 'better') return badge('passed', 'Better');
  return NOTHING;
}

const known = (value: number | null, format: (value: number) => string): Html =>
  html`${value === null ? '–' : format(value)}`;
