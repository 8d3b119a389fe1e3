import { wilsonInterval } from '../../statistics/index.js';
import { count, dateTime, duration, percent } from '../../text/index.js';
import { html, type Html, NOTHING } from '../html.js';
import { share } from '../parts.js';
import { type Mark, marksOf } from './marks.js';
import type { ReportedAgent, ReportedLook } from './reported-agent.js';
import { decidingStreams } from './verdict.js';

const HEIGHT = 120;
/** Above a chart, for the letters of marks. */
const TOP = 16;

/** Pass rates, latencies and calls that could not be judged, run by run. */
export function lookSection(agent: ReportedAgent): Html {
  const { looks, runs, alarms } = agent;
  if (looks.length === 0) return NOTHING;
  const marks = marksOf(looks, alarms);
  const deciding = new Set(decidingStreams(agent).map(({ scheduleId }) => scheduleId));
  const isOther = ({ scheduleId }: ReportedLook) => !deciding.has(null) && !deciding.has(scheduleId);
  const longest = Math.max(...looks.map(({ p95 }) => p95 ?? 0));
  const notJudged = looks.reduce((sum, { invalid, error }) => sum + invalid + error, 0);
  return html`<section aria-labelledby="looks">
    <h2 id="looks">Pass rate</h2>
    <p class="note">
      One dot for each run, with its 95 % interval; red below 100
      %.${looks.some(isOther) && ' Hollow: runs that do not decide.'}${runs > looks.length && ` The newest ${looks.length} of ${runs} runs.`}
    </p>
    ${chart(looks, marks, `Pass rates of ${count(looks.length, 'run')}`, ['100 %', '50 %', '0 %'], rateOf(isOther))}
    ${
      marks.length > 0 &&
      html`<ul class="marks">
        ${marks.map(
          ({ at, kind, what }) =>
            html`<li><b class="${kind}">${LETTERS[kind]}</b> ${dateTime(looks[at]!.endedAt)}: ${what}</li>`,
        )}
      </ul>`
    }
    ${
      longest > 0 &&
      html`<h2 id="latencies">Response latency</h2>
        <p class="legend"><span class="agent">median (p50)</span> <span>95th percentile (p95)</span></p>
        ${chart(looks, marks, `Latencies of ${count(looks.length, 'run')}`, [duration(longest), duration(longest / 2), '0'], latencyOf(longest))}`
    }
    ${
      notJudged > 0 &&
      html`<h2 id="uncounted">Calls that could not be judged</h2>
        <p class="note">${count(notJudged, 'call')}: they say nothing about the agent, and are not counted.</p>
        ${chart(looks, marks, `Calls that could not be judged in ${count(looks.length, 'run')}`, ['100 %', '50 %', '0 %'], uncountedOf)}`
    }
  </section>`;
}

const LETTERS = { version: 'V', tester: 'T', alarm: 'A' } as const;

/** Marks whose letters would overlap on a narrow screen have one label; a share of the width. */
const LABEL_WIDTH = 0.04;

function labels(marks: readonly Mark[], whole: number): Html[] {
  const groups: { at: number; letters: string }[] = [];
  for (const { at, kind } of marks) {
    const last = groups.at(-1);
    if (!last || (at - last.at) / whole >= LABEL_WIDTH) groups.push({ at, letters: LETTERS[kind] });
    else if (!last.letters.includes(LETTERS[kind])) last.letters += LETTERS[kind];
  }
  return groups.map(
    ({ at, letters }) => html`<text class="tick" x="${share(at, whole)}" y="10" text-anchor="middle">${letters}</text>`,
  );
}

/** Where a run is drawn. */
interface Place {
  readonly x: string;
  readonly left: string;
  readonly width: string;
}

function chart(
  looks: readonly ReportedLook[],
  marks: readonly Mark[],
  label: string,
  [highest, middle, lowest]: readonly [string, string, string],
  draw: (look: ReportedLook, place: Place) => Html,
): Html {
  const whole = looks.length;
  const [first, last] = [looks[0]!, looks.at(-1)!];
  const bottom = TOP + HEIGHT;
  return html`<svg class="looks" width="100%" height="${bottom + 18}" role="img" aria-label="${label}">
    ${[TOP, TOP + HEIGHT / 2, bottom].map((y) => html`<line class="axis" x1="0" x2="100%" y1="${y}" y2="${y}" />`)}
    ${marks.map(({ at, kind }) => {
      const x = share(at, whole);
      return html`<line class="marker ${kind}" x1="${x}" x2="${x}" y1="${TOP - 2}" y2="${bottom}" />`;
    })}
    ${labels(marks, whole)}
    ${looks.map((look, at) =>
      draw(look, { x: share(at + 0.5, whole), left: share(at + 0.2, whole), width: share(0.6, whole) }),
    )}
    ${[highest, middle, lowest].map(
      (value, at) =>
        html`<text class="tick" x="-8" y="${TOP + (HEIGHT / 2) * at + 4}" text-anchor="end">${value}</text>`,
    )}
    <text class="tick" x="0" y="${bottom + 14}">${dateTime(first.endedAt)}</text>
    ${whole > 1 && html`<text class="tick" x="100%" y="${bottom + 14}" text-anchor="end">${dateTime(last.endedAt)}</text>`}
  </svg>`;
}

const heightOf = (part: number): string => (TOP + HEIGHT * (1 - part)).toFixed(1);

const rateOf =
  (isOther: (look: ReportedLook) => boolean) =>
  (look: ReportedLook, { x }: Place): Html => {
    const { passed, failed, endedAt } = look;
    const counted = passed + failed;
    if (counted === 0) return NOTHING;
    const { low, high } = wilsonInterval(counted, passed);
    const kind = failed > 0 ? 'failed' : 'passed';
    return html`<line class="range" x1="${x}" x2="${x}" y1="${heightOf(low)}" y2="${heightOf(high)}" />
      <circle class="fill-${kind}${isOther(look) && ' other'}" cx="${x}" cy="${heightOf(passed / counted)}" r="3.5">
        <title>${dateTime(endedAt)}: ${percent(passed / counted)}, ${passed} of ${counted}</title>
      </circle>`;
  };

const latencyOf =
  (longest: number) =>
  ({ p50, p95 }: ReportedLook, { x }: Place): Html => {
    if (p50 === null || p95 === null) return NOTHING;
    return html`<line
        class="range"
        x1="${x}"
        x2="${x}"
        y1="${heightOf(p50 / longest)}"
        y2="${heightOf(p95 / longest)}"
      />
      <circle class="p95" cx="${x}" cy="${heightOf(p95 / longest)}" r="3" />
      <circle class="p50" cx="${x}" cy="${heightOf(p50 / longest)}" r="3" />`;
  };

function uncountedOf({ passed, failed, invalid, error }: ReportedLook, { left, width }: Place): Html {
  const part = (invalid + error) / Math.max(1, passed + failed + invalid + error);
  if (part === 0) return NOTHING;
  return html`<rect
    class="fill-error"
    x="${left}"
    width="${width}"
    y="${heightOf(part)}"
    height="${(HEIGHT * part).toFixed(1)}"
  />`;
}
