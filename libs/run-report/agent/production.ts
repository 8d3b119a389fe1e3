import { wilsonInterval } from '../../statistics/index.js';
import { count, dateTime, number, percent, title } from '../../text/index.js';
import { html, type Html, NOTHING } from '../html.js';
import { anchors } from '../labels.js';
import { facts, passRate } from '../parts.js';
import type { ProductionCase, ReportedAgent, ReportedProduction, ReportedProductionCall } from './reported-agent.js';

/** Cases of the table; those with failed calls come first. */
const MAX_CASES = 100;

const COLUMNS = [
  'Evaluation',
  'Judged',
  'Failed',
  'Pass rate, 95 % interval',
  'Not judged',
  'Not applicable',
  'Over limit',
];

/** What the top of the page says about production calls. */
export function productionFact({ production }: ReportedAgent): readonly [string, Html][] {
  if (!production) return [];
  const { passed, failed } = totalOf(production);
  return [
    ['Production', html`<a href="#production">${number(failed)} of ${count(passed + failed, 'judgement')} failed</a>`],
  ];
}

/** The calls of real callers: figures of each evaluation, then the newest failed calls. */
export function productionSection({ production }: ReportedAgent): Html {
  if (!production) return NOTHING;
  const { from, to, days, cases, failed } = production;
  const total = totalOf(production);
  const judged = total.passed + total.failed;
  const sorted = [...cases].sort((a, b) => failedShare(b) - failedShare(a));
  const rate = judged === 0 ? undefined : ` (${percent(total.passed / judged)} passed)`;
  return html`<section aria-labelledby="production">
    <h2 id="production">Production</h2>
    ${facts([
      ['Judgements', html`${number(judged)}${rate}`],
      ['Failed', number(total.failed)],
      ['Days', `${number(days)}, ${from === to ? from : `${from} to ${to}`} (UTC)`],
    ])}
    <p class="note">
      Calls of real callers on the days of the period that are still stored. A call counts once for each evaluation that
      judges it.
    </p>
    <table role="table">
      <thead role="rowgroup">
        <tr role="row">
          ${COLUMNS.map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${sorted.slice(0, MAX_CASES).map(row)}
      </tbody>
    </table>
    ${sorted.length > MAX_CASES && html`<p class="note">${count(sorted.length - MAX_CASES, 'more evaluation')}.</p>`}
    ${failed ? failedCalls(failed, total.failed) : wordless(total.failed)}
  </section>`;
}

function row(one: ProductionCase): Html {
  const counted = one.passed + one.failed;
  const rate = counted === 0 ? null : one.passed / counted;
  const passRateInterval = counted === 0 ? null : wilsonInterval(counted, one.passed);
  const cells = [
    number(counted),
    number(one.failed),
    passRate({ counted, passed: one.passed, passRate: rate, passRateInterval }),
    ...[one.notJudged, one.notApplicable, one.overLimit].map(number),
  ];
  return html`<tr role="row">
    <th role="rowheader" scope="row"><bdi>${title(one.name)}</bdi></th>
    ${cells.map(
      (content, at) =>
        html`<td role="cell" data-label="${COLUMNS[at + 1]}" class="${at === 2 ? 'rate' : 'number'}">${content}</td>`,
    )}
  </tr>`;
}

const wordless = (failed: number): Html | false =>
  failed > 0 && html`<p class="note">The failed calls and why they failed are shown to EDITOR and ADMIN keys.</p>`;

/** No link opens a report of production calls, so each call says where an EDITOR finds it. */
function failedCalls(calls: readonly ReportedProductionCall[], total: number): Html | false {
  if (calls.length === 0) return false;
  return html`<div class="failures">
    <h3>${total > calls.length ? `The newest ${calls.length} failed calls` : 'Failed calls'}</h3>
    <p class="note">
      With the key of an EDITOR, <code>vat report RUN --out report.html</code> saves the report in which a call is
      shown.
    </p>
    <ol>
      ${calls.map(
        ({ callId, externalId, runId, name, startedAt, position, repetition, reason }) =>
          html`<li class="failed">
            <p class="what">
              <bdi>${title(name)}</bdi>, ${dateTime(startedAt)}
              <small class="which">
                call
                <code>${callId}</code>${externalId !== null && html` (<code>${externalId}</code> on its platform)`}:
                <code>report.html#${anchors.call(position, repetition)}</code> of run
                <code>${runId}</code>
              </small>
            </p>
            <p class="why" dir="auto">${reason}</p>
          </li>`,
      )}
    </ol>
  </div>`;
}

const failedShare = ({ passed, failed }: ProductionCase): number => (failed === 0 ? 0 : failed / (passed + failed));

const totalOf = ({ cases }: ReportedProduction) => ({
  passed: cases.reduce((sum, { passed }) => sum + passed, 0),
  failed: cases.reduce((sum, { failed }) => sum + failed, 0),
});
