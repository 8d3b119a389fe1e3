import { html, type Html } from './html.js';
import type { CallState } from '../statistics/index.js';
import { STATES } from './words.js';

/** The coloured word for a state. */
export const badge = (state: CallState, word: string = STATES[state].word): Html =>
  html`<span class="badge ${state}"><span aria-hidden="true">${STATES[state].sign}</span> ${word}</span>`;

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

/** A position within a drawing: drawings have no style attributes, and widths in percent fit every screen. */
export const share = (value: number, whole: number): string =>
  `${(whole > 0 ? Math.min(100, Math.max(0, (value / whole) * 100)) : 0).toFixed(2)}%`;
