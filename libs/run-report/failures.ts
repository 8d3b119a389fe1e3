import type { CallState } from '../statistics/index.js';
import { html, type Html, NOTHING } from './html.js';
import { badge } from './parts.js';
import { type CallReader, reasonOf, type ReportedRun, stateOf } from './reported.js';
import { count, number, title } from '../text/index.js';
import { anchors } from './labels.js';

/** Maximum number of calls in the list, and of characters of a reason. */
const MAX_LISTED = 100;
const MAX_REASON = 600;

/** Calls of one evaluation with the same outcome and reason. */
interface Group {
  readonly position: number;
  readonly state: CallState;
  readonly reason: string;
  readonly repetitions: number[];
}

/** A time as checks write it. Calls that differ in nothing else share an item, which shows the first time. */
const MEASURED = /\d+(?:\.\d+)?(?: ± \d+(?:\.\d+)?)? m?s\b/g;

/** Calls that did not pass, by evaluation and reason, with links. Stops reading when the list is full. */
export async function failuresSection(run: ReportedRun, calls: CallReader): Promise<Html> {
  const { failed, error, invalid } = run.counts;
  if (failed + error + invalid === 0) return NOTHING;
  const { groups, listed } = await readGroups(run, calls);
  const left = failed + error + invalid - listed;
  return html`<nav class="failures" aria-labelledby="failures">
    <h2 id="failures">Calls that did not pass</h2>
    <ol>
      ${groups.map((group) => item(run, group))}
    </ol>
    ${left > 0 && html`<p class="note">${count(left, 'more call')} below.</p>`}
  </nav>`;
}

async function readGroups({ evaluations }: ReportedRun, calls: CallReader) {
  const positions = new Map(evaluations.map(({ caseKey }, position) => [caseKey, position]));
  const groups = new Map<string, Group>();
  let listed = 0;
  for await (const call of calls({ outcomes: ['failed', 'error', 'invalid'] })) {
    const position = positions.get(call.caseKey);
    if (position === undefined || call.outcome === null || call.outcome === 'passed' || call.provisional) continue;
    if (listed === MAX_LISTED) break;
    listed++;
    const reason = reasonOf(call, MAX_REASON);
    const key = `${position} ${call.outcome} ${reason.replace(MEASURED, '')}`;
    const group = groups.get(key) ?? { position, state: stateOf(call), reason, repetitions: [] };
    groups.set(key, group);
    group.repetitions.push(call.repetition);
  }
  return { groups: [...groups.values()], listed };
}

function item({ evaluations, repeat }: ReportedRun, { position, state, reason, repetitions }: Group): Html {
  const [first = 1] = repetitions;
  const { name, critical } = evaluations[position]!;
  return html`<li class="${state}">
    <p class="what">
      ${badge(state)}
      <a href="#${anchors.call(position, first)}"><bdi>${title(name)}</bdi></a>
      ${critical && html`<span class="tag critical">critical</span>`}
      ${
        repeat > 1 &&
        html`<small class="which"
          >${repetitions.length > 1 ? `${number(repetitions.length)} calls:` : 'call'}
          ${repetitions.map((n) => html`<a href="#${anchors.call(position, n)}">${n}</a> `)}</small
        >`
      }
    </p>
    <p class="why" dir="auto">${reason}</p>
  </li>`;
}
