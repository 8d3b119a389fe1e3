import type { CaseState } from '../../statistics/index.js';
import { count, dateTime, title } from '../../text/index.js';
import { html, type Html, NOTHING } from '../html.js';
import { anchors } from '../labels.js';
import type { ReportedAgent, ReportedAgentCase, ReportedCaseResult } from './reported-agent.js';

/** Cases of the page; the red ones come first. */
const MAX_CASES = 200;
/** Red cases that the top of the page names. */
const MAX_NAMED = 10;

/** Label and sign of each state: colour alone is not accessible. */
const STATES: Readonly<Record<CaseState, { readonly label: string; readonly sign: string; readonly kind: string }>> = {
  passed: { label: 'passed', sign: '✓', kind: 'passed' },
  flaky: { label: 'flaky', sign: '≈', kind: 'flaky' },
  failed: { label: 'failed', sign: '✗', kind: 'failed' },
  not_judged: { label: 'not judged', sign: '!', kind: 'error' },
};

/** The red cases, each with the run since which it is red and its newest call that failed. */
export function redSection(agent: ReportedAgent): Html {
  const red = agent.cases.filter(({ redSince }) => redSince !== null);
  if (red.length === 0) return NOTHING;
  return html`<nav class="failures" aria-labelledby="red">
    <h2 id="red">${count(red.length, 'case')} not green</h2>
    <ol>
      ${red.slice(0, MAX_NAMED).map(
        (one) =>
          html`<li class="failed">
            <p class="what"><bdi>${title(one.name)}</bdi></p>
            <p class="why">${sinceText(agent, one)}${newestText(agent, one)}</p>
          </li>`,
      )}
    </ol>
    ${red.length > MAX_NAMED && html`<p class="note">${count(red.length - MAX_NAMED, 'more case')} below.</p>`}
  </nav>`;
}

function sinceText(agent: ReportedAgent, { redSince, isRedThroughout }: ReportedAgentCase): Html {
  if (!redSince) return NOTHING;
  const when = dateTime(redSince.endedAt);
  if (isRedThroughout)
    return html`Red in each run of the ${agent.days} days, the first ${linked(agent, redSince, when)}`;
  return html`Red since ${linked(agent, redSince, `the run of ${when}`)}`;
}

function newestText(agent: ReportedAgent, { results, redSince }: ReportedAgentCase): Html {
  const newest = results.find(({ state }) => state === 'failed' || state === 'flaky');
  if (!newest || newest.runId === redSince?.runId) return NOTHING;
  return html`; ${linked(agent, newest, `newest failed call, ${dateTime(newest.endedAt)}`)}`;
}

const addressOf = ({ reportOf }: ReportedAgent, { runId, position, repetition }: ReportedCaseResult) => {
  const report = reportOf(runId);
  return report === undefined ? undefined : `${report}#${anchors.call(position, repetition)}`;
};

function linked(agent: ReportedAgent, result: ReportedCaseResult, words: string): Html {
  const address = addressOf(agent, result);
  return address === undefined ? html`${words} (deleted)` : html`<a href="${address}">${words}</a>`;
}

/** Cases × newest runs. */
export function gridSection(agent: ReportedAgent): Html {
  const { cases, gridRunIds } = agent;
  if (cases.length === 0) return NOTHING;
  const sorted = [...cases].sort((a, b) => Number(b.redSince !== null) - Number(a.redSince !== null));
  const left = cases.length - MAX_CASES;
  return html`<section aria-labelledby="cases">
    <h2 id="cases">Cases in ${gridRunIds.length === 1 ? 'the newest run' : `the newest ${gridRunIds.length} runs`}</h2>
    <p class="note">The newest run is on the right. A field leads to the call in the report of its run.</p>
    <p class="states" aria-hidden="true">
      ${Object.values(STATES).map(({ label, sign, kind }) => html`<span><b class="cell ${kind}">${sign}</b> ${label}</span> `)}
    </p>
    <ul class="cases">
      ${sorted.slice(0, MAX_CASES).map(
        (one) =>
          html`<li>
            <h3><bdi>${title(one.name)}</bdi></h3>
            <p class="note">${sinceText(agent, one)}</p>
            <ol>
              ${cells(agent, one)}
            </ol>
          </li>`,
      )}
    </ul>
    ${left > 0 && html`<p class="note">${count(left, 'more case')}.</p>`}
  </section>`;
}

function cells(agent: ReportedAgent, { results }: ReportedAgentCase): Html[] {
  const byRun = new Map(results.map((result) => [result.runId, result]));
  return agent.gridRunIds.map((runId) => {
    const result = byRun.get(runId);
    if (!result) return html`<li class="cell absent"></li>`;
    const { label, sign, kind } = STATES[result.state];
    const words = `${dateTime(result.endedAt)}: ${label}, ${result.passed} of ${result.counted} passed`;
    const address = addressOf(agent, result);
    const content =
      address === undefined
        ? html`<span role="img" aria-label="${words}">${sign}</span>`
        : html`<a href="${address}" title="${words}"><span aria-hidden="true">${sign}</span></a>`;
    return html`<li class="cell ${kind}">${content}</li>`;
  });
}
