import { CallView, type TimelineEntry } from '../simulation/index.js';
import { html, type Html } from './html.js';
import { axis } from './latency.js';
import { share } from './parts.js';
import { duration } from '../text/index.js';

const CALLER_Y = 6;
const AGENT_Y = 28;
const LANE = 14;
const AXIS_Y = 48.5;

/** More entries would not be distinguishable. */
const MAX_DRAWN = 400;

/** Chart of a call: speech, waits, tool calls, silence and errors. */
export function timeAxis(timeline: readonly TimelineEntry[]): Html {
  const whole = timeline.reduce((max, { end }) => Math.max(max, end), 1);
  const drawn = timeline.slice(0, MAX_DRAWN);
  const { waits } = new CallView(drawn);
  return html`<svg class="lanes" width="100%" height="66" role="img" aria-label="The call over ${duration(whole)}">
      <rect class="lane" width="100%" y="${CALLER_Y}" height="${LANE}" rx="3" />
      <rect class="lane" width="100%" y="${AGENT_Y}" height="${LANE}" rx="3" />
      ${waits.map(({ ms, words }) => {
        const from = words.entry.end;
        return (
          ms > 0 &&
          html`<line
            class="wait"
            x1="${share(from, whole)}"
            x2="${share(from + ms, whole)}"
            y1="${AGENT_Y + LANE / 2}"
            y2="${AGENT_Y + LANE / 2}"
          />`
        );
      })}
      ${drawn.map((entry) => shape(entry, whole))} ${axis(whole, AXIS_Y)}
    </svg>
    <p class="legend" aria-hidden="true">
      <span class="caller">Caller</span> <span class="agent">Agent</span> <span class="waiting">waiting</span>
      ${drawn.some(({ type }) => type === 'tool_call') && html`<span class="tool">tool call</span>`}
      ${drawn.some(({ type }) => type === 'silence') && html`<span class="silence">silence</span>`}
      ${drawn.some(({ type }) => type === 'error') && html`<span class="error">error</span>`}
    </p>`;
}

function shape(entry: TimelineEntry, whole: number): Html | false {
  const { start, end } = entry;
  switch (entry.type) {
    case 'speech':
      return bar(entry.speaker, entry.speaker === 'caller' ? CALLER_Y : AGENT_Y, start, end, whole);
    case 'silence':
      return bar('silence', entry.of === 'caller' ? CALLER_Y : AGENT_Y, start, end, whole);
    case 'sound':
      return entry.possible && bar('sound', CALLER_Y, start, end, whole);
    case 'given':
    case 'finding':
    case 'platform':
      return false;
    case 'tool_call':
      return html`<circle
        class="tool"
        cx="${share(Math.min(0.995, Math.max(0.005, start / whole)), 1)}"
        cy="${AGENT_Y - 4}"
        r="3"
      />`;
    case 'error':
      return bar('error', CALLER_Y, start, end, whole);
    case 'end':
      return false;
  }
}

/** Entries without duration, such as text messages, are drawn as a line. */
function bar(kind: string, y: number, start: number, end: number, whole: number): Html {
  const height = kind === 'error' ? AGENT_Y + LANE - CALLER_Y : LANE;
  const x = Math.min(start / whole, 0.994);
  const width = Math.max(0.006, (end - start) / whole);
  return html`<rect
    class="${kind}"
    x="${share(x, 1)}"
    width="${share(width, 1)}"
    y="${y}"
    height="${height}"
    rx="2"
  />`;
}
