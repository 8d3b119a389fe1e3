import { html, type Html } from './html.js';
import type { CallState, Interval } from '../statistics/index.js';
import { percent } from '../text/index.js';
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

/** Pass rate of counted calls; null without one. */
export interface PassRate {
  readonly counted: number;
  readonly passed: number;
  readonly passRate: number | null;
  readonly passRateInterval: Interval | null;
}

/** Drawn from 0 to 1: the interval as a bar, the rate as a dot. */
export function passRate({ passRate: rate, passRateInterval: interval, counted, passed }: PassRate): Html {
  if (rate === null || interval === null) return html`<span class="none">not counted</span>`;
  const { low, high } = interval;
  return html`<svg class="interval" width="100%" height="12" aria-hidden="true">
      <line class="axis" x1="0" x2="100%" y1="6" y2="6" />
      <rect class="range" x="${share(low, 1)}" width="${share(high - low, 1)}" y="3" height="6" rx="3" />
      <circle class="dot" cx="${(2 + rate * 96).toFixed(2)}%" cy="6" r="4" />
    </svg>
    <span class="nowrap"><b>${percent(rate)}</b> <small>${passed} of ${counted}</small></span>
    <small class="nowrap">${percent(low)} to ${percent(high)}</small>`;
}
