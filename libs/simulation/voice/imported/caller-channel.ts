import { activeLevel, amplitudeOf, FRAME_MS } from '../../../audio/index.js';
import type { AgentSound, SayAct, SoundAct, Span } from '../facts/facts.js';
import { Line } from '../facts/line.js';
import { hearLane, type RecordedLane } from '../hearing/hear-lane.js';
import { CONTINUATION_MS } from '../measures/lines.js';
import { contains, overlapOf } from '../facts/spans.js';
import { sentIn } from './sent.js';
import { entryAt, ROUGH_MS, spreadWords, type TranscriptEntry } from './transcript.js';

/**
 * Speech begins and ends at its first and last sample above this, relative to its active level: as on calls of the service,
 * whose callers speak at -26 dBFS and begin and end at -45 dBFS.
 */
const EDGE_BELOW_SPEECH_DB = 19;
/** How far beyond the edges that the gate finds such a sample is looked for, in milliseconds. */
const EDGE_REACH_MS = 150;
/** How far an edge may be off in a channel without noise, and where noise hides it (decision 147). */
const EDGE_MS = { clean: 40, noisy: 320 } as const;
/** One percent of the samples beside speech may be clicks. */
const NOISE_SHARE = 0.99;
/** After a longer pause the caller has begun to speak once more; a pause of a call of the service is at most 1.2 s. */
const SAME_LINE_MS = 2_000;
/** What a sound has in common with an entry of the transcript is a word of it from this length on. */
const WORD_MS = 200;
/** A shorter sound over the agent may be an "mm-hmm" as well as a "stop". */
const SHORT_MS = 700;
/** A line that begins so soon after the agent's turn is not a barge-in: both began at about the same time. */
const BOTH_BEGAN_MS = 500;

/** Audible sounds of a caller. */
export interface CallerSounds {
  readonly sounds: readonly Span[];
  /** How far each beginning and end may be off. */
  readonly edgesMs: number;
}

/** What is heard on the caller's channel of a recording. */
export function callerSoundsOf(lane: RecordedLane): CallerSounds {
  const line = new Line(lane.rate);
  const { frames, endMs } = extentOf(lane);
  const heard = hearLane(lane, { frames, endMs, arrivals: sentIn(lane) });
  const sounds = heard.sounds.filter(({ isBackground }) => !isBackground);
  const level = activeLevel(lane.pcm, lane.rate);
  const threshold = amplitudeOf(level - EDGE_BELOW_SPEECH_DB);
  const isNoisy = heard.background !== null || noiseOf(lane.pcm, sounds, line) >= threshold;
  if (isNoisy) return { sounds: sounds.map(spanOf), edgesMs: EDGE_MS.noisy };
  const reach = (index: number, edge: 'startMs' | 'endMs', ms: number) => {
    const sound = sounds[index];
    return sound ? sound[edge] : ms;
  };
  return {
    sounds: sounds.map(({ startMs, endMs: soundEndMs }, index) => {
      const from = Math.max(startMs - EDGE_REACH_MS, reach(index - 1, 'endMs', 0));
      const to = Math.min(soundEndMs + EDGE_REACH_MS, reach(index + 1, 'startMs', endMs));
      return edgesIn(lane.pcm, { startMs: from, endMs: to }, threshold, line) ?? { startMs, endMs: soundEndMs };
    }),
    edgesMs: EDGE_MS.clean,
  };
}

/** Whole frames of a channel, and its end. */
export function extentOf({ rate, pcm }: RecordedLane): { readonly frames: number; readonly endMs: number } {
  const endMs = new Line(rate).msOf(pcm.length);
  return { frames: Math.floor(endMs / FRAME_MS), endMs };
}

/** From the first to the last sample above a threshold. */
function edgesIn(pcm: Int16Array, { startMs, endMs }: Span, threshold: number, line: Line): Span | undefined {
  const from = line.samplesOf(startMs);
  const part = pcm.subarray(from, line.samplesOf(endMs));
  const isAbove = (sample: number) => Math.abs(sample) > threshold;
  const first = part.findIndex(isAbove);
  if (first < 0) return undefined;
  return { startMs: line.msOf(from + first), endMs: line.msOf(from + part.findLastIndex(isAbove) + 1) };
}

/** What nearly all samples beside speech are below. */
function noiseOf(pcm: Int16Array, sounds: readonly Span[], line: Line): number {
  const counts = new Uint32Array(32_769);
  let total = 0;
  let from = 0;
  const count = (to: number) => {
    for (let n = from; n < to; n++) counts[Math.abs(pcm[n]!)]!++;
    total += Math.max(0, to - from);
  };
  for (const { startMs, endMs } of sounds) {
    count(line.samplesOf(startMs - EDGE_REACH_MS));
    from = line.samplesOf(endMs + EDGE_REACH_MS);
  }
  count(pcm.length);
  let left = total * NOISE_SHARE;
  for (const [amplitude, samples] of counts.entries()) if ((left -= samples) < 0) return amplitude;
  return 0;
}

/** What the agent's channel shows, beside which the caller's sounds are understood. */
interface Surroundings {
  readonly agent: readonly Pick<AgentSound, 'startMs' | 'endMs'>[];
  /** Entries of the caller; undefined without a transcript. */
  readonly entries: readonly TranscriptEntry[] | undefined;
}

interface Utterance {
  sounds: Span[];
  /** Of the transcript. */
  entries: number[];
}

/** The caller's lines and other sounds. Whether a line is a barge-in is not decided here. */
export function callerActsOf(sounds: readonly Span[], { agent, entries }: Surroundings): (SayAct | SoundAct)[] {
  const isOver = ({ startMs }: Span) => agent.some((sound) => contains(sound, startMs));
  const said: Utterance[] = [];
  const others: SoundAct[] = [];
  const entriesOf = entries ? entriesOfSounds(entries, sounds) : undefined;
  for (const sound of sounds) {
    const own = entriesOf?.get(sound) ?? [];
    const isShort = sound.endMs - sound.startMs < SHORT_MS;
    // With a transcript, what is not in it has no words; without one, a short sound over the agent may be anything.
    const isLine = entries ? own.length > 0 : !(isShort && isOver(sound));
    if (isLine) addTo(said, sound, own, agent);
    else others.push(otherSound(sound, isOver(sound), entries !== undefined));
  }
  let turn = 0;
  const acts = [...said.map((one) => sayAct(one, entries)), ...others].sort((a, b) => a.startMs - b.startMs);
  return acts.map((act) => ({ ...act, turn: act.type === 'say' ? ++turn : turn }));
}

/** Adds a sound to the utterance that it continues, or begins another one. */
function addTo(said: Utterance[], sound: Span, entries: readonly number[], agent: Surroundings['agent']): void {
  const last = said.at(-1);
  const lastEndMs = last?.sounds.at(-1)!.endMs ?? 0;
  const isSameEntry = entries.some((entry) => last?.entries.includes(entry));
  const isAnswered = agent.some(({ startMs, endMs }) => endMs > lastEndMs && startMs < sound.startMs);
  const goesOn = last && (isSameEntry || (!isAnswered && sound.startMs - lastEndMs < SAME_LINE_MS));
  if (!goesOn) said.push({ sounds: [sound], entries: [...entries] });
  else {
    last.sounds.push(sound);
    last.entries.push(...entries.filter((entry) => !last.entries.includes(entry)));
  }
}

/**
 * The entries of each sound that has some: those of which it has a part that is long enough for a word, else the one that it has
 * most in common with, else the nearest that has no sound. Lines that follow each other without a pause are one sound.
 */
function entriesOfSounds(entries: readonly TranscriptEntry[], sounds: readonly Span[]): Map<Span, readonly number[]> {
  const found = new Map<Span, readonly number[]>();
  for (const sound of sounds) {
    const parts = entries.flatMap((entry, index) => (overlapOf(entry, sound) >= WORD_MS ? [index] : []));
    const most = entryAt(entries, sound, 0);
    if (parts.length > 0) found.set(sound, parts);
    else if (most !== undefined) found.set(sound, [most]);
  }
  const taken = new Set([...found.values()].flat());
  for (const sound of sounds) {
    const near = found.has(sound) ? undefined : entryAt(entries, sound, ROUGH_MS);
    if (near === undefined || (taken.has(near) && sound.endMs - sound.startMs < SHORT_MS)) continue;
    found.set(sound, [near]);
    taken.add(near);
  }
  return found;
}

function sayAct({ sounds, entries: own }: Utterance, entries: readonly TranscriptEntry[] | undefined): SayAct {
  const [startMs, endMs] = [sounds[0]!.startMs, sounds.at(-1)!.endMs];
  const texts = own.map((index) => entries![index]!.text.trim());
  const words = own.flatMap((index) => {
    const { text, ...span } = entries![index]!;
    return spreadWords(text.trim(), {
      startMs: Math.min(Math.max(span.startMs, startMs), endMs),
      endMs: Math.max(Math.min(span.endMs, endMs), startMs),
    });
  });
  return {
    type: 'say',
    step: null,
    turn: 0,
    text: texts.join(' '),
    ...(texts.length === 0 && { hasUnknownWords: true as const }),
    startMs,
    endMs,
    parts: partsOf(sounds),
    words,
  };
}

/** Longer pauses are hesitations. */
function partsOf(sounds: readonly Span[]): Span[] {
  const parts: Span[] = [];
  for (const { startMs, endMs } of sounds) {
    const last = parts.at(-1);
    if (last && startMs - last.endMs < CONTINUATION_MS) parts[parts.length - 1] = { ...last, endMs };
    else parts.push({ startMs, endMs });
  }
  return parts;
}

const otherSound = ({ startMs, endMs }: Span, isOver: boolean, isNoWord: boolean): SoundAct => ({
  type: isOver ? 'backchannel' : 'noise',
  step: null,
  turn: 0,
  name: isNoWord ? 'sound without words' : 'short sound',
  afterMs: isOver ? 0 : null,
  possible: isNoWord,
  startMs,
  endMs,
});

/** Whether a line was spoken over the agent. @param heardMs audible milliseconds of the agent's turn before it */
export const isBargeIn = (heardMs: number): boolean => heardMs >= BOTH_BEGAN_MS;

const spanOf = ({ startMs, endMs }: Span): Span => ({ startMs, endMs });
