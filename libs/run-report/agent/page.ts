import { count, dateTime, percent, title } from '../../text/index.js';
import { html, type Html, NOTHING } from '../html.js';
import { badge, facts } from '../parts.js';
import { META_CSP, STYLE } from '../style.js';
import { alarmFacts } from './alarms.js';
import { gridSections, redSection } from './cases.js';
import { lookSection } from './charts.js';
import { productionFact, productionSection } from './production.js';
import type { ReportedAgent } from './reported-agent.js';
import { decisionNote, verdictOf } from './verdict.js';

/** Lengths of the period in days. */
export const PAGE_DAYS = [7, 30, 90] as const;

/** Renders the page of an agent, self-contained, without requests and scripts. Must be served with `REPORT_CSP`. */
export function* renderAgentPage(agent: ReportedAgent): Generator<string, void, undefined> {
  yield `<!doctype html>\n<html lang="en">`;
  yield head(agent).toString();
  yield `<body>${banner(agent).toString()}<main>`;
  yield html`${redSection(agent)}${lookSection(agent)}${productionSection(agent)}`.toString();
  yield gridSections(agent).toString();
  yield '</main></body></html>\n';
}

const nameOf = ({ name, id }: ReportedAgent): string => title(name ?? id);

const head = (agent: ReportedAgent): Html =>
  html`<head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${META_CSP}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="referrer" content="no-referrer" />
    <title>${verdictOf(agent).label}: ${nameOf(agent)}</title>
    ${STYLE}
  </head>`;

function banner(agent: ReportedAgent): Html {
  const { state, label, why } = verdictOf(agent);
  const { looks, runs, days, to, nextRunAt } = agent;
  const last = looks.at(-1);
  return html`<header class="banner ${state}">
    <p class="kind">Agent</p>
    <h1><bdi>${nameOf(agent)}</bdi></h1>
    ${agent.name !== null && html`<p class="agent"><code>${agent.id}</code></p>`}
    <div class="verdict">
      <p class="outcome">${badge(state, label)}</p>
      <div class="gate">${why}${decisionNote(agent)}</div>
    </div>
    ${facts([
      ['Last run', last && lastRunText(agent)],
      ['Next run', nextRunAt === null ? 'none planned' : time(nextRunAt)],
      ['Runs', `${count(runs, 'run')} in ${days} days to ${dateTime(to)}`],
      ...productionFact(agent),
      ...alarmFacts(agent),
    ])}
    ${periods(agent)}
  </header>`;
}

const time = (iso: string): Html => html`<time datetime="${iso}">${dateTime(iso)}</time>`;

function lastRunText({ looks, reportOf }: ReportedAgent): Html {
  const { runId, name, endedAt, passed, failed } = looks.at(-1)!;
  const report = reportOf(runId);
  const words = html`<bdi>${title(name ?? 'deleted')}</bdi>, ${dateTime(endedAt)}`;
  const rate = passed + failed === 0 ? 'nothing could be judged' : `${percent(passed / (passed + failed))} passed`;
  return html`${report === undefined ? words : html`<a href="${report}">${words}</a>`}, ${rate}`;
}

/** The page for other periods. */
function periods({ pageOf, days }: ReportedAgent): Html {
  if (!pageOf) return NOTHING;
  return html`<nav class="periods" aria-label="Period">
    ${PAGE_DAYS.map((length) =>
      length === days
        ? html`<a href="${pageOf(length)}" aria-current="page">${length} days</a>`
        : html`<a href="${pageOf(length)}">${length} days</a>`,
    )}
  </nav>`;
}
