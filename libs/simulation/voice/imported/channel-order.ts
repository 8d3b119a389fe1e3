import type { Speaker } from '../../../evaluation-definition/index.js';
import type { Span } from '../facts/facts.js';
import { Line } from '../facts/line.js';
import type { RecordedLane } from '../hearing/hear-lane.js';
import { entriesOf, ROUGH_MS, type TranscriptEntry } from './transcript.js';

/** By so much a channel has to be louder than the other one while its side speaks: 6 dB, as a ratio of energies. */
const LOUDER = 4;
/** Share of the audible time of each side in which its channel has to be the louder one. */
const MOST = 0.8;
/** Share of the energy of a channel that has to be at the times of its side. */
const EXPLAINED = 0.7;
/** Mean square below which nothing is audible: -60 dBFS. */
const AUDIBLE = 32_768 ** 2 * 1e-6;
/** Length of the last entry, if it does not say when it ended. */
const LAST_MS = 5_000;

type Lanes = readonly [RecordedLane, RecordedLane];

/**
 * Which of two channels has the caller, by who speaks at which times of the transcript. Undefined if that cannot be told, such
 * as with both voices in a channel, with times of another call, or with words that are not in the recording.
 */
export function callerChannel(lanes: Lanes, transcript: readonly TranscriptEntry[]): 0 | 1 | undefined {
  const lengthMs = new Line(lanes[0].rate).msOf(lanes[0].pcm.length);
  if (transcript.some(({ endMs }) => endMs > lengthMs + ROUGH_MS)) return undefined;
  const [caller, agent] = (['caller', 'agent'] as const).map((side) => spansOf(transcript, side)) as [Span[], Span[]];
  const [ofCaller, ofAgent] = [louderChannel(lanes, caller), louderChannel(lanes, agent)];
  const channel = ofCaller ?? (ofAgent === 0 ? 1 : 0);
  if (ofCaller === 'both' || ofAgent === 'both' || channel === 'both' || channel === ofAgent) return undefined;
  if (ofCaller === undefined && ofAgent === undefined) return undefined;
  const isOf = (lane: RecordedLane, spans: readonly Span[]) =>
    explainedShare(lane, spans) >= EXPLAINED && spans.every((span) => isHeard(lane, span));
  return isOf(lanes[channel], caller) && isOf(lanes[channel === 0 ? 1 : 0], agent) ? channel : undefined;
}

/** Whether anything is audible at about the time of an entry. */
function isHeard(lane: RecordedLane, { startMs, endMs }: Span): boolean {
  const span = { startMs: Math.max(0, startMs - ROUGH_MS), endMs: endMs + ROUGH_MS };
  return energyIn(lane, span) >= (span.endMs - span.startMs) * AUDIBLE;
}

/** Some platforms do not say when an entry ended: then it may have lasted until the next one. */
function spansOf(transcript: readonly TranscriptEntry[], side: Speaker): Span[] {
  const starts = transcript.map(({ startMs }) => startMs);
  return entriesOf(transcript, side).map(({ startMs, endMs }) => {
    if (endMs > startMs) return { startMs, endMs };
    const next = Math.min(...starts.filter((other) => other > startMs));
    return { startMs, endMs: Number.isFinite(next) ? next : startMs + LAST_MS };
  });
}

/** The channel that is louder at these times; undefined if nothing is heard at them. */
function louderChannel(lanes: Lanes, spans: readonly Span[]): 0 | 1 | 'both' | undefined {
  const louderMs: [number, number] = [0, 0];
  let audibleMs = 0;
  for (const span of spans) {
    const lengthMs = span.endMs - span.startMs;
    const [left, right] = [energyIn(lanes[0], span) / lengthMs, energyIn(lanes[1], span) / lengthMs];
    if (Math.max(left, right) < AUDIBLE) continue;
    audibleMs += lengthMs;
    if (left >= right * LOUDER) louderMs[0] += lengthMs;
    else if (right >= left * LOUDER) louderMs[1] += lengthMs;
  }
  if (audibleMs === 0) return undefined;
  return louderMs[0] >= audibleMs * MOST ? 0 : louderMs[1] >= audibleMs * MOST ? 1 : 'both';
}

/** How much of the energy of a channel is at these times, which are rough; 1 for a silent channel. */
function explainedShare(lane: RecordedLane, spans: readonly Span[]): number {
  const wholeMs = new Line(lane.rate).msOf(lane.pcm.length);
  const whole = energyIn(lane, { startMs: 0, endMs: wholeMs });
  if (whole < wholeMs * AUDIBLE) return 1;
  let [explained, untilMs] = [0, 0];
  for (const { startMs, endMs } of spans) {
    const span = { startMs: Math.max(untilMs, startMs - ROUGH_MS), endMs: endMs + ROUGH_MS };
    if (span.endMs <= span.startMs) continue;
    explained += energyIn(lane, span);
    untilMs = span.endMs;
  }
  return explained / whole;
}

/** Sum of the squares of the samples, for each sample of a millisecond. */
function energyIn({ rate, pcm }: RecordedLane, { startMs, endMs }: Span): number {
  const line = new Line(rate);
  let sum = 0;
  for (const sample of pcm.subarray(line.samplesOf(startMs), line.samplesOf(endMs))) sum += sample * sample;
  return sum / (rate / 1_000);
}
