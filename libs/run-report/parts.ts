import { html, type Html } from './html.js';
import type { CallState } from '../statistics/index.js';
import { STATE_LABELS } from './labels.js';

/** Coloured label of a state. */
export const badge = (state: CallState, label: string = STATE_LABELS[state].label): Html =>
  html`<span class="badge ${state}"><span aria-hidden="true">${STATE_LABELS[state].sign}</span> ${label}</span>`;

/** A definition list of measures. */
export const facts = (entries: readonly (readonly [name: string, value: Html | string | undefined])[]): Html =>
  html`<dl class="facts">
    ${entries
      .filter(([, value]) => value !== undefined)
      .map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${value}</dd>
          </div>`,
      )}
  </dl>`;

/** A position in a chart in percent, which fits every screen without style attributes. */
export const share = (value: number, whole: number): string =>
  `${(whole > 0 ? Math.min(100, Math.max(0, (value / whole) * 100)) : 0).toFixed(2)}%`;
