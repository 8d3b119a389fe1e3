import {
  type CallState,
  evaluationState,
  gateConditions,
  latencyMeasures,
  passAtK,
  passHatK,
} from '../statistics/index.js';
import { html, type Html } from './html.js';
import { latencyLabels, longestOf, sparkline } from './latency.js';
import { badge, facts, passRate, share } from './parts.js';
import type { ReportedCounts, ReportedEvaluation, ReportedRun } from './reported.js';
import { between, clipped, count, dateTime, duration, number, title, percent } from '../text/index.js';
import { anchors, STATE_NOTES, STATE_LABELS, verdictOf } from './labels.js';

const MAX_REASON = 600;

const WITHOUT_CALLS = {
  remeasure: 'measured again from the recordings of',
  rejudge: 'judged again from the transcripts of',
} as const;

/** Header of the report: verdict, score and gate. */
export function banner(run: ReportedRun): Html {
  const { state, label } = verdictOf(run);
  return html`<header class="banner ${state}">
    <p class="kind">Test run</p>
    <h1><bdi>${title(run.name)}</bdi></h1>
    <p class="agent">
      Agent <bdi>${run.agentName === null ? '(deleted)' : title(run.agentName)}</bdi>
      <code>${run.agentId}</code> ${run.agentVersion !== null && html`version <bdi>${title(run.agentVersion)}</bdi>`}
    </p>
    ${
      run.derivedFrom !== null &&
      html`<p class="agent">
        No calls: ${WITHOUT_CALLS[run.derivedFrom.kind]} run <code>${run.derivedFrom.runId}</code>
      </p>`
    }
    ${run.serviceUrl !== null && html`<p class="agent"><a href="${run.serviceUrl}/docs">${run.serviceUrl}</a></p>`}
    <div class="verdict">
      <p class="outcome">${badge(state, label)}</p>
      <p class="score">${run.score === null ? '–' : number(run.score)}<small> of 100</small></p>
      <div class="gate">${scale(run)} ${gateText(run)}</div>
    </div>
  </header>`;
}

function scale({ score, minimumScore }: ReportedRun): Html {
  const kind = score === null || minimumScore === null ? '' : score >= minimumScore ? 'enough' : 'too-low';
  return html`<svg class="scale" width="100%" height="16" aria-hidden="true">
    <rect class="track" width="100%" y="5" height="6" rx="3" />
    ${score !== null && html`<rect class="fill ${kind}" width="${share(score, 100)}" y="5" height="6" rx="3" />`}
    ${
      minimumScore !== null &&
      html`<line class="minimum" x1="${share(minimumScore, 100)}" x2="${share(minimumScore, 100)}" y1="0" y2="16" />`
    }
  </svg>`;
}

function gateText(run: ReportedRun): Html {
  const { status, reasons, warnings, evaluations, isProduction } = run;
  if (isProduction) return html`<p>Calls of real callers; they have no gate.</p>`;
  const critical = evaluations.filter((evaluation) => evaluation.critical).length;
  const met = status === 'COMPLETED' ? ' The gate is met.' : '';
  return html`<p>Required: ${gateConditions(run, critical).join(', ')}.${met}</p>
    ${
      reasons.length > 0 &&
      html`<ul class="reasons">
        ${reasons.map((reason) => html`<li>${clipped(reason, MAX_REASON)}</li>`)}
      </ul>`
    }
    ${warnings.map((warning) => html`<p class="note">${clipped(warning, MAX_REASON)}</p>`)}`;
}

const COUNTED: readonly (keyof ReportedCounts & CallState)[] = [
  'passed',
  'failed',
  'invalid',
  'error',
  'provisional',
  'cancelled',
  'pending',
];

/** Number of calls by outcome, and times of the run. */
export function countsSection(run: ReportedRun): Html {
  const { counts, startedAt, endedAt } = run;
  const shown = COUNTED.filter((state) => counts[state] > 0 || state === 'passed' || state === 'failed');
  const took = between(startedAt, endedAt);
  // On a day of production calls, the number is only a limit.
  const isPlanned = run.evaluations.every(({ total }) => total === run.repeat);
  const perEvaluation = run.repeat === 1 || !isPlanned ? '' : `, ${run.repeat} calls each`;
  return html`<section aria-labelledby="counts">
    <h2 id="counts">${count(counts.total, 'call')}</h2>
    ${stack(counts)}
    <ul class="counts">
      ${shown.map(
        (state) =>
          html`<li>
            ${badge(state, `${number(counts[state])} ${STATE_LABELS[state].label.toLowerCase()}`)}
            ${counts[state] > 0 && STATE_NOTES[state] && html`<small>${STATE_NOTES[state]}</small>`}
          </li>`,
      )}
    </ul>
    ${facts([
      ['Evaluations', `${number(run.evaluations.length)}${perEvaluation}`],
      ['Retried', run.retriedCalls === 0 ? undefined : retried(run)],
      ['Paid at the platform', run.paidSeconds === null ? undefined : duration(run.paidSeconds * 1_000)],
      ['Started', startedAt === null ? 'not yet' : time(startedAt)],
      ['Took', took === undefined ? undefined : duration(took)],
      ['Run', html`<code>${run.id}</code>`],
    ])}
  </section>`;
}

/** A real caller has no second attempt, so it is shown also when all calls passed. */
const retried = ({ retriedCalls, counts }: ReportedRun): Html =>
  html`<span class="retried">${number(retriedCalls)} of ${count(counts.total, 'call')} needed a second attempt</span>`;

const time = (iso: string): Html => html`<time datetime="${iso}">${dateTime(iso)}</time>`;

function stack(counts: ReportedCounts): Html {
  let before = 0;
  return html`<svg class="stack" width="100%" height="10" aria-hidden="true">
    ${COUNTED.map((state) => {
      const x = before;
      before += counts[state];
      return (
        counts[state] > 0 &&
        html`<rect
          class="fill-${state}"
          x="${share(x, counts.total)}"
          width="${share(counts[state], counts.total)}"
          height="10"
        />`
      );
    })}
  </svg>`;
}

const COLUMNS = ['Evaluation', 'Outcome', 'Stability', 'Score', 'Pass rate, 95 % interval', 'p50', 'p95', 'Worst'];

/** One row per evaluation. The roles keep table semantics when narrow screens show the rows as cards. */
export function evaluationTable(run: ReportedRun): Html {
  const { evaluations } = run;
  const longest = longestOf(evaluations.map(({ latencies }) => latencies));
  return html`<section aria-labelledby="evaluations">
    <h2 id="evaluations">Evaluations</h2>
    <table role="table" class="evaluations">
      <thead role="rowgroup">
        <tr role="row">
          ${COLUMNS.map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}
          <th role="columnheader" scope="col">Latencies, 0 to ${duration(longest)}</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${evaluations.map((evaluation, position) => row(run, evaluation, position, longest))}
      </tbody>
    </table>
  </section>`;
}

function row(run: ReportedRun, evaluation: ReportedEvaluation, position: number, longest: number): Html {
  const { name, key, critical, tags, score, latencies } = evaluation;
  const [p50, p95, worst] = latencyLabels(latencyMeasures(latencies));
  const cell = (label: string, content: Html | string, kind = '') =>
    html`<td role="cell" data-label="${label}" class="${kind}">${content}</td>`;
  return html`<tr role="row">
    <th role="rowheader" scope="row">
      <a href="#${anchors.evaluation(position)}"><bdi>${title(name)}</bdi></a>
      <small>
        ${critical && html`<span class="tag critical">critical</span>`}
        ${key !== null && html`<code>${title(key)}</code>`}
        ${tags.map((tag) => html`<span class="tag"><bdi>${title(tag)}</bdi></span>`)}
      </small>
    </th>
    ${cell('Outcome', outcome(run, evaluation))} ${cell('Stability', stability(evaluation), 'nowrap')}
    ${cell('Score', score === null ? '–' : number(score), 'number')}
    ${cell('Pass rate, 95 % interval', passRate(evaluation), 'rate')} ${cell('p50', p50, 'number')}
    ${cell('p95', p95, 'number')} ${cell('Worst', worst, 'number')}
    ${cell('Latencies', sparkline(latencies, longest), 'sparks')}
  </tr>`;
}

const outcome = (run: ReportedRun, evaluation: ReportedEvaluation): Html =>
  html`${badge(evaluationState(evaluation, run))}
  ${evaluation.retried > 0 && html`<small class="retried nowrap">${number(evaluation.retried)} retried</small>`}`;

/** Stability of an evaluation with more than one counted call; flaky ones are highlighted. */
export function stability({ stability: found, counted }: ReportedEvaluation): Html {
  if (found === null || counted < 2) return html`<span class="none">${counted === 1 ? 'one call' : '–'}</span>`;
  if (found === 'flaky') return html`<span class="badge flaky"><span aria-hidden="true">≈</span> Flaky</span>`;
  return html`<span class="steady">${found === 'stable pass' ? 'Stable pass' : 'Stable fail'}</span>`;
}

/** Values of k for pass^k and pass@k, up to the number of counted calls. */
const CHANCES = [2, 3, 5, 10, 20, 50];

/** pass^k and pass@k of a flaky evaluation. */
export function chances({ stability: found, counted, passed }: ReportedEvaluation): Html | false {
  if (found !== 'flaky') return false;
  const ks = CHANCES.filter((k) => k <= counted);
  return html`<small class="chances">
    ${ks.map(
      (k) =>
        html`<span class="nowrap">pass^${k} ${percent(passHatK(counted, passed, k))}</span>
          <span class="nowrap">pass@${k} ${percent(passAtK(counted, passed, k))}</span> `,
    )}
  </small>`;
}
