import type { CallState } from '../statistics/index.js';
import { html, type Html } from './html.js';
import { STATE_LABELS } from './labels.js';
import type { ReportedRun } from './reported.js';

const CALL_STATES = Object.keys(STATE_LABELS) as CallState[];

/** Radio buttons that show only the calls of one outcome, without a script: `FILTER_CSS` reads which one is checked. */
export function outcomeFilter(run: ReportedRun): Html {
  const states = CALL_STATES.filter((state) => run.counts[state] > 0);
  if (states.length < 2) return html``;
  return html`<fieldset class="filter">
    <legend>Show</legend>
    <label><input type="radio" name="outcome" id="show-all" checked /> all ${run.counts.total}</label>
    ${states.map(
      (state) =>
        html`<label
          ><input type="radio" name="outcome" id="show-${state}" /> ${STATE_LABELS[state].label.toLowerCase()}
          ${run.counts[state]}</label
        >`,
    )}
  </fieldset>`;
}

/** Hides other calls, and evaluations without a call of the chosen outcome. */
export const FILTER_CSS = `
.filter { display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; border: 0; padding: 0; margin: 0.5rem 0; font-size: 0.9rem; }
.filter legend { float: left; color: var(--muted); padding: 0; margin-right: 1rem; }
.filter label { cursor: pointer; }
${CALL_STATES.map((state) => {
  const chosen = `.calls:has(#show-${state}:checked)`;
  const shown = `:not(:has(:target))`;
  return `${chosen} .call:not(.${state})${shown}, ${chosen} .evaluation:not(:has(.call.${state}))${shown} { display: none; }`;
}).join('\n')}
@media print { .filter { display: none; } }
`;
