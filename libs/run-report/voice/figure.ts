import { html, type Html } from '../html.js';
import { axis } from '../latency.js';
import { share } from '../parts.js';
import { platformText, type TimelineEntry } from '../../simulation/index.js';
import { duration, moment, number, title } from '../../text/index.js';
import type { ReportedAudio, ReportedVoice } from './reported-voice.js';
import { waveform } from './waveform.js';

const LANE = 52;
const WORDS = 16;
const MARKS_Y = 12;
const CALLER_Y = 18;
const CALLER_WORDS_Y = CALLER_Y + LANE;
const AGENT_Y = CALLER_WORDS_Y + WORDS;
const AGENT_WORDS_Y = AGENT_Y + LANE;
const AXIS_Y = AGENT_WORDS_Y + WORDS + 0.5;
const HEIGHT = AXIS_Y + 18;
/** Longer answers are marked; a caller notices them (EVA). */
const SLOW_MS = 2_000;
/** More marks would not be distinguishable. */
const MAX_MARKS = 200;

/** Everything that one figure is drawn from; times are milliseconds from the answer, as heard. */
export interface Figure {
  readonly voice: ReportedVoice;
  readonly audio: ReportedAudio | undefined;
  readonly timeline: readonly TimelineEntry[];
  /** Duration of the call. */
  readonly whole: number;
}

/** The call as heard: a lane with the waveform of each side, words where they are known, and what happened, on one axis. */
export function voiceFigure(figure: Figure): Html {
  const { voice, audio, whole } = figure;
  const label = `The call as heard over ${duration(whole)}: caller above, agent below`;
  return html`<svg class="heard" width="100%" height="${HEIGHT}" role="img" aria-label="${label}">
    ${lane('caller', CALLER_Y, figure)} ${lane('agent', AGENT_Y, figure)}
    ${audio && html`${waveform('caller', audio.peaks.caller, CALLER_Y, LANE)}${waveform('agent', audio.peaks.agent, AGENT_Y, LANE)}`}
    ${overlaps(voice, whole)} ${latencies(figure)} ${marks(figure)} ${words(figure)} ${axis(whole, AXIS_Y)}
    <line class="playhead" x1="0" x2="0" y1="${MARKS_Y}" y2="${AXIS_Y}" />
  </svg>`;
}

/** The lane with the spans in which its side was heard. */
const lane = (side: 'caller' | 'agent', y: number, { voice, whole }: Figure): Html =>
  html`<rect class="lane" width="100%" y="${y}" height="${LANE}" rx="3" /> ${voice.lanes[side]
      .slice(0, MAX_MARKS)
      .map(({ startMs, endMs }) => span(`spoken ${side}`, { startMs, endMs }, y, LANE, whole))}`;

function span(kind: string, { startMs, endMs }: Span, y: number, height: number, whole: number, label?: string): Html {
  const width = Math.max(0.002, (endMs - startMs) / whole);
  return html`<rect
    class="${kind}"
    x="${share(Math.min(startMs / whole, 0.998), 1)}"
    width="${share(width, 1)}"
    y="${y}"
    height="${height}"
    >${label !== undefined && html`<title>${label}</title>`}</rect
  >`;
}

interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

const overlaps = ({ measures }: ReportedVoice, whole: number): Html =>
  html`${measures.interruptions.slice(0, MAX_MARKS).map(({ atMs, overlapMs, inHesitation }) => {
    const label = `The agent interrupts${inHesitation ? ' a hesitation' : ''}: ${duration(overlapMs)} at once`;
    return span(
      'overlap',
      { startMs: atMs, endMs: atMs + overlapMs },
      CALLER_Y,
      AGENT_WORDS_Y - CALLER_Y,
      whole,
      label,
    );
  })}`;

/** A dotted line from the end of the caller's words to the agent's onset, with its length. */
function latencies({ voice, timeline, whole }: Figure): Html {
  const ends = endsOfTurns(timeline);
  const drawn = voice.measures.latencies.slice(0, MAX_MARKS).flatMap(({ turn, heardMs, answered, leadInMs }) => {
    const from = ends.get(turn);
    if (heardMs === null || from === undefined) return [];
    const kind = answered && heardMs < SLOW_MS ? 'latency' : 'latency slow';
    const speech = leadInMs === undefined ? '' : `, speech ${duration(leadInMs)} later`;
    const label = answered ? `${duration(heardMs)}${speech}` : 'no answer';
    return [{ kind, from, to: from + heardMs, middle: from + heardMs / 2, label }];
  });
  const y = AGENT_Y + LANE / 2;
  return html`${drawn.map(({ kind, from, to, label }, index) => {
    const room = roomFor(
      drawn.map(({ middle }) => middle),
      index,
      whole,
    );
    return html`<line class="${kind}" x1="${share(from, whole)}" x2="${share(to, whole)}" y1="${y}" y2="${y}" />
      <foreignObject
        x="${share(room.startMs, whole)}"
        y="${y - 18}"
        width="${share(room.endMs - room.startMs, whole)}"
        height="${WORDS}"
      >
        <div class="tick ${kind} ${room.align}" title="${label}">${label}</div>
      </foreignObject>`;
  })}`;
}

/** The space of a label around its point, as far as the middle between it and its neighbours. @param points in order */
function roomFor(points: readonly number[], index: number, whole: number): Span & { readonly align: string } {
  const at = points[index]!;
  const neighbours = Math.min(at - (points[index - 1] ?? -Infinity), (points[index + 1] ?? Infinity) - at);
  const half = Math.min(neighbours / 2, Math.max(at, 0.1 * whole), Math.max(whole - at, 0.1 * whole));
  const align = at - half < 0 ? 'at-start' : at + half > whole ? 'at-end' : '';
  return { startMs: Math.max(0, at - half), endMs: Math.min(whole, at + half), align };
}

/** When the caller's words or keys of each turn ended. */
function endsOfTurns(timeline: readonly TimelineEntry[]): ReadonlyMap<number, number> {
  const ends = new Map<number, number>();
  for (const entry of timeline) {
    const isLine = entry.type === 'speech' && entry.speaker === 'caller';
    if (isLine || (entry.type === 'sound' && entry.kind === 'keys')) ends.set(entry.turn, entry.end);
  }
  return ends;
}

const MEANINGS = {
  '▼': 'barge-in',
  '○': 'backchannel',
  '∿': 'noise',
  '…': 'filler',
  '#': 'keys',
  '▲': 'protocol finding',
  '▷': 'instruction to the platform',
  '✕': 'error',
} as const;
type Sign = keyof typeof MEANINGS;

/** The signs in the figure of a call with their meanings, for its legend. */
export function signs(voice: ReportedVoice, timeline: readonly TimelineEntry[]): readonly string[] {
  const used = new Set<string>([...bargeIns(voice), ...timeline.flatMap(markOf)].map(({ sign }) => sign));
  return Object.entries(MEANINGS).flatMap(([sign, meaning]) => (used.has(sign) ? [`${sign} ${meaning}`] : []));
}

interface Mark {
  readonly kind: string;
  readonly atMs: number;
  readonly sign: Sign;
  readonly label: string;
}

/** Signs above the lanes; the text of each is shown when the pointer rests on it. */
function marks({ voice, timeline, whole }: Figure): Html {
  const all = [...bargeIns(voice), ...timeline.flatMap(markOf)].slice(0, MAX_MARKS);
  return html`${all.map(
    ({ kind, atMs, sign, label }) =>
      html`<line
          class="mark-line ${kind}"
          x1="${share(atMs, whole)}"
          x2="${share(atMs, whole)}"
          y1="${MARKS_Y}"
          y2="${AGENT_WORDS_Y}"
        />
        <text class="tick mark ${kind}" x="${share(atMs, whole)}" y="${MARKS_Y - 1}" text-anchor="middle"
          >${sign}<title>${title(label)}</title></text
        >`,
  )}`;
}

const bargeIns = ({ measures }: ReportedVoice): Mark[] =>
  measures.bargeIns
    .filter(({ possible }) => possible)
    .map(({ atMs, yielded, yieldMs }) => ({
      kind: yielded === false ? 'bad' : 'plain',
      atMs,
      sign: '▼',
      label:
        yielded === null
          ? 'Barge-in; whether the agent stopped for it is not known'
          : `Barge-in; the agent ${yielded ? 'stopped' : 'did not stop'}${yieldMs === null ? '' : ` (${number(yieldMs)} ms)`}`,
    }));

function markOf(entry: TimelineEntry): Mark[] {
  const atMs = entry.start;
  if (entry.type === 'sound' && entry.possible) {
    const sign = ({ backchannel: '○', noise: '∿', filler: '…', keys: '#' } as const)[entry.kind];
    return [{ kind: 'plain', atMs, sign, label: `${entry.kind}: ${entry.name}` }];
  }
  if (entry.type === 'finding') {
    const kind = entry.severity === 'error' ? 'bad' : 'warn';
    return [{ kind, atMs, sign: '▲', label: `${entry.code}: ${entry.detail}` }];
  }
  if (entry.type === 'platform') return [{ kind: 'plain', atMs, sign: '▷', label: platformText(entry) }];
  if (entry.type === 'error') return [{ kind: 'bad', atMs, sign: '✕', label: entry.message }];
  return [];
}

/** A pause between two words that begins a new phrase, and the length of a phrase, in a call of `CLOSE_MS` or less. */
const PAUSE_MS = 300;
const PHRASE_MS = 2_000;
/** In a longer call phrases are longer, too: they would have no room for their words. */
const CLOSE_MS = 20_000;

interface Phrase extends Span {
  readonly text: string;
}

/** What one side said: its words by their times where they are known, else whole entries. */
function phrasesOf({ voice, timeline, whole }: Figure, speaker: 'caller' | 'agent'): Phrase[] {
  const heard = voice.words.filter((word) => word.speaker === speaker && !word.unheard);
  const phrases: Phrase[] = [];
  for (const entry of timeline) {
    if (phrases.length >= MAX_MARKS) break;
    if (entry.type !== 'speech' || entry.speaker !== speaker || entry.text === '') continue;
    const own = heard.filter((word) => middleOf(word) >= entry.start && middleOf(word) <= entry.end);
    phrases.push(
      ...(own.length > 0
        ? phrased(own, Math.max(1, whole / CLOSE_MS))
        : [{ text: entry.text, startMs: entry.start, endMs: entry.end }]),
    );
  }
  return phrases;
}

const middleOf = ({ startMs, endMs }: Span): number => (startMs + endMs) / 2;

/** @param scale of the shortest phrases and pauses */
function phrased(words: readonly Phrase[], scale: number): Phrase[] {
  const phrases: Phrase[] = [];
  for (const { text, startMs, endMs } of words) {
    const last = phrases.at(-1);
    const goesOn = last && startMs - last.endMs < PAUSE_MS * scale && endMs - last.startMs <= PHRASE_MS * scale;
    if (goesOn) phrases[phrases.length - 1] = { ...last, text: `${last.text} ${text}`, endMs };
    else phrases.push({ text, startMs, endMs });
  }
  return phrases;
}

/**
 * Phrases where they were spoken, each cut at the beginning of the next one; the whole text with its times on the pointer.
 * HTML, because text of SVG cannot end with an ellipsis.
 */
const words = (figure: Figure): Html =>
  html`${lines(figure, 'caller', CALLER_WORDS_Y)}${lines(figure, 'agent', AGENT_WORDS_Y)}`;

function lines(figure: Figure, speaker: 'caller' | 'agent', y: number): Html {
  const { whole } = figure;
  const spoken = phrasesOf(figure, speaker);
  return html`${spoken.slice(0, MAX_MARKS).map(({ text, startMs: start, endMs }, index) => {
    const until = spoken[index + 1]?.startMs ?? whole;
    const label = `${moment(start)} to ${moment(endMs)}: ${text}`;
    return html`<line
        class="line-start"
        x1="${share(start, whole)}"
        x2="${share(start, whole)}"
        y1="${y + 2}"
        y2="${y + WORDS - 2}"
      />
      <foreignObject x="${share(start, whole)}" y="${y}" width="${share(until - start, whole)}" height="${WORDS}">
        <div class="caption" title="${title(label)}">${title(text)}</div>
      </foreignObject>`;
  })}`;
}
