import { accountLimitNote, type LatencyMeasures, latencyMeasures } from '../statistics/index.js';
import { html, type Html, NOTHING } from './html.js';
import { facts, share } from './parts.js';
import type { ReportedRun } from './reported.js';
import { count, duration, number } from '../text/index.js';

const BARS = 40;

/** Histogram of latencies with classes of equal width, on a scale that several charts can share. */
export interface Distribution {
  /** Upper bound of the last class in milliseconds. */
  readonly end: number;
  readonly counts: readonly number[];
}

/** @param longest of all latencies that share the scale */
export function distribution(latencies: readonly number[], longest: number): Distribution {
  const step = niceStep(longest / BARS);
  const classes = Math.floor(longest / step) + 1;
  const counts = new Array<number>(classes).fill(0);
  for (const ms of latencies) {
    const index = Math.min(classes - 1, Math.max(0, Math.floor(ms / step)));
    counts[index] = counts[index]! + 1;
  }
  return { end: classes * step, counts };
}

/** Rounds up to 1, 2, 5, 10, 20 … */
function niceStep(atLeast: number): number {
  if (!(atLeast > 1)) return 1;
  const power = 10 ** Math.floor(Math.log10(atLeast));
  return power * ([1, 2, 5, 10].find((factor) => factor * power >= atLeast) ?? 10);
}

/** The longest latency of a run. `Math.max(...)` would fail: a run may have more latencies than a call may have arguments. */
export const longestOf = (lists: readonly (readonly number[])[]): number =>
  lists.reduce((longest, list) => list.reduce((max, ms) => Math.max(max, ms), longest), 0);

/** Small histogram without labels, for a table. */
export function sparkline(latencies: readonly number[], longest: number): Html {
  if (latencies.length === 0) return NOTHING;
  return html`<svg class="spark" width="100%" height="22" aria-hidden="true">
    ${bars(distribution(latencies, longest), 22)}
    <line class="axis" x1="0" x2="100%" y1="21.5" y2="21.5" />
  </svg>`;
}

function bars({ counts }: Distribution, height: number): Html[] {
  const highest = counts.reduce((max, n) => Math.max(max, n), 1);
  const width = 100 / counts.length;
  return counts.flatMap((n, index) => {
    if (n === 0) return [];
    // A single response must be visible next to thousands.
    const tall = Math.max(2, (n / highest) * (height - 2));
    return html`<rect
      class="bar"
      x="${(index * width + width * 0.08).toFixed(2)}%"
      width="${(width * 0.84).toFixed(2)}%"
      y="${(height - tall).toFixed(1)}"
      height="${tall.toFixed(1)}"
    />`;
  });
}

/** `p50 · p95 · worst`, with a dash for what was not measured. */
export const latencyLabels = ({ p50, p95, worst }: LatencyMeasures): readonly [string, string, string] => [
  label(p50),
  label(p95),
  label(worst),
];
const label = (ms: number | null): string => (ms === null ? '–' : duration(ms));

/** Response latency of the agent in all counted calls of the run. */
export function latencySection({ evaluations, callsThatWaited }: ReportedRun): Html {
  const latencies = evaluations.flatMap((evaluation) => evaluation.latencies);
  if (latencies.length === 0) return NOTHING;
  const measures = latencyMeasures(latencies);
  const longest = longestOf([latencies]);
  const spread = distribution(latencies, longest);
  const [p50, p95, worst] = latencyLabels(measures);
  const label = `Distribution of ${count(measures.count, 'response latency').replace('latencys', 'latencies')}: p50 ${p50}, worst ${worst}`;
  const note = accountLimitNote(callsThatWaited);
  return html`<section aria-labelledby="latency">
    <h2 id="latency">Response latency</h2>
    <p class="note">
      From the end of the caller’s turn to the start of the response; ${count(measures.count, 'response')} in counted
      calls.
    </p>
    ${note !== undefined && html`<p class="note">${note}</p>`}
    ${facts([
      ['Median (p50)', p50],
      ['95th percentile', p95],
      ['Worst', worst],
    ])}
    <svg class="histogram" width="100%" height="134" role="img" aria-label="${label}">
      <svg y="18" width="100%" height="96">${bars(spread, 96)}</svg>
      ${marker('p50', measures.p50, spread.end)}
      ${measures.p95 !== measures.p50 && marker('p95', measures.p95, spread.end)} ${axis(spread.end, 114.5)}
    </svg>
  </section>`;
}

function marker(name: string, ms: number | null, end: number): Html {
  if (ms === null) return NOTHING;
  const x = share(ms, end);
  return html`<line class="marker" x1="${x}" x2="${x}" y1="14" y2="114" />
    <text class="tick" x="${x}" y="11" text-anchor="${anchorAt(ms / end)}">${name}</text>`;
}

/** Time axis from 0 to `end` milliseconds with round labels. */
export function axis(end: number, y: number): Html {
  const step = niceStep(end / 5);
  const times = Array.from({ length: Math.floor(end / step) + 1 }, (_, index) => index * step);
  return html`<line class="axis" x1="0" x2="100%" y1="${y}" y2="${y}" /> ${times.map(
      (ms) =>
        html`<text class="tick" x="${share(ms, end)}" y="${y + 14}" text-anchor="${anchorAt(ms / end)}"
          >${ms === 0 ? '0' : ms < 1_000 ? `${ms} ms` : `${number(ms / 1_000)} s`}</text
        >`,
    )}`;
}

/** Keeps labels at the edges inside the chart. */
const anchorAt = (at: number): string => (at < 0.04 ? 'start' : at > 0.96 ? 'end' : 'middle');
