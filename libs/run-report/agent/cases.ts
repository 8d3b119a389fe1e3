import type { CaseState } from '../../statistics/index.js';
import { count, dateTime, title } from '../../text/index.js';
import { html, type Html, NOTHING } from '../html.js';
import { addressOf, linked } from './links.js';
import { marksOf } from './marks.js';
import type { ReportedAgent, ReportedAgentCase, ReportedStream } from './reported-agent.js';
import { decidingStreams, type RedCase, redCases } from './verdict.js';

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

/** The red cases of the verdict, each with the run since which it is red, what changed in it, and its newest call that failed. */
export function redSection(agent: ReportedAgent): Html {
  const red = redCases(agent);
  if (red.length === 0) return NOTHING;
  return html`<nav class="failures" aria-labelledby="red">
    <h2 id="red">${count(red.length, 'case')} not green</h2>
    <ol>
      ${red.slice(0, MAX_NAMED).map(
        (each) =>
          html`<li class="failed">
            <p class="what"><bdi>${title(each.one.name)}</bdi>${streamTag(agent, each.stream)}</p>
            <p class="why">${sinceText(agent, each.one)}${newestText(agent, each)}</p>
            ${changeText(agent, each)}
          </li>`,
      )}
    </ol>
    ${red.length > MAX_NAMED && html`<p class="note">${count(red.length - MAX_NAMED, 'more case')} below.</p>`}
  </nav>`;
}

const streamTag = (agent: ReportedAgent, { name }: ReportedStream): Html | false =>
  agent.streams.length > 1 && name !== null && html` <span class="tag"><bdi>${title(name)}</bdi></span>`;

function sinceText(agent: ReportedAgent, { redSince, isRedThroughout }: ReportedAgentCase): Html {
  if (!redSince) return NOTHING;
  const when = dateTime(redSince.endedAt);
  if (isRedThroughout)
    return html`Red in each run of the ${agent.days} days, the first ${linked(agent, redSince, when)}`;
  return html`Red since ${linked(agent, redSince, `the run of ${when}`)}`;
}

function newestText(agent: ReportedAgent, { one }: RedCase): Html {
  const newest = one.results.find(({ state }) => state === 'failed' || state === 'flaky');
  if (!newest) return NOTHING;
  return html`; ${linked(agent, newest, `newest failed call, ${dateTime(newest.endedAt)}`)}`;
}

function changeText(agent: ReportedAgent, { since }: RedCase): Html | false {
  const { looks, alarms } = agent;
  const changes = marksOf(looks, alarms).filter(({ at, kind }) => kind !== 'alarm' && looks[at]!.runId === since.runId);
  return (
    changes.length > 0 &&
    html`<p class="note">In that run, ${changes.map(({ what }, at) => html`${at > 0 && '; '}${what}`)}.</p>`
  );
}

/** Cases × newest runs, for each stream. */
export function gridSections(agent: ReportedAgent): Html {
  let left = MAX_CASES;
  const grids = agent.streams.map((stream, at) => {
    const grid = gridSection(agent, stream, `cases-${at}`, left);
    left = Math.max(0, left - stream.cases.length);
    return grid;
  });
  return html`${grids}`;
}

function gridSection(agent: ReportedAgent, stream: ReportedStream, id: string, most: number): Html {
  const { cases, runs, name } = stream;
  const [sorted, left] = [[...cases].sort((a, b) => Number(isRed(b)) - Number(isRed(a))), cases.length - most];
  const whose = agent.streams.length === 1 ? '' : html`<bdi>${name === null ? 'Other runs' : title(name)}</bdi>: `;
  return html`<section aria-labelledby="${id}">
    <h2 id="${id}">${whose}Cases in ${runs.length === 1 ? 'the newest run' : `the newest ${runs.length} runs`}</h2>
    <p class="note">
      ${!decidingStreams(agent).includes(stream) && 'Runs that no enabled schedule started: they do not decide. '}From
      ${dateTime(runs[0]!.endedAt)} on the left to ${dateTime(runs.at(-1)!.endedAt)} on the right. A field leads to the
      call in the report of its run.
    </p>
    <p class="states" aria-hidden="true">
      ${Object.values(STATES).map(({ label, sign, kind }) => html`<span><b class="cell ${kind}">${sign}</b> ${label}</span> `)}
    </p>
    <ul class="cases">
      ${sorted.slice(0, most).map(
        (one) =>
          html`<li>
            <h3><bdi>${title(one.name)}</bdi></h3>
            <p class="note">${sinceText(agent, one)}</p>
            <ol>
              ${cells(agent, stream, one)}
            </ol>
          </li>`,
      )}
    </ul>
    ${left > 0 && html`<p class="note">${count(left, 'more case')}.</p>`}
  </section>`;
}

const isRed = ({ redSince }: ReportedAgentCase): boolean => redSince !== null;

function cells(agent: ReportedAgent, { runs }: ReportedStream, { results }: ReportedAgentCase): Html[] {
  const byRun = new Map(results.map((result) => [result.runId, result]));
  return runs.map(({ runId }) => {
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
