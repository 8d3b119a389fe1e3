import { FRAME_MS, type LineRate } from '../../../audio/index.js';
import type { Arrival, VoiceFacts } from '../facts/facts.js';
import { Line } from '../facts/line.js';
import { agentSounds, finite } from './agent-sounds.js';
import { HeardSounds } from './heard-sounds.js';

/** The channel of the agent in a recording, from the answer to the end of the call. */
export interface RecordedLane {
  readonly rate: LineRate;
  readonly pcm: Int16Array;
}

/**
 * Facts whose sounds of the agent are those that the gate finds in the recording. What the caller did is a fact whatever the
 * gate finds; so are the agent's turns as the caller saw them. Facts without `hearing` are returned as they are.
 */
export function hearAgain(facts: VoiceFacts, { rate, pcm }: RecordedLane): VoiceFacts {
  const { hearing, arrivals, end, level } = facts;
  if (!hearing) return facts;
  const line = new Line(rate);
  const heard = new HeardSounds(line);
  const played = new Played(arrivals, line);
  const turnEnds = [...hearing.turnEnds];
  for (let frame = 0; frame < hearing.frames; frame++) {
    while (turnEnds[0] && turnEnds[0].afterFrames <= frame) heard.turnEnded(turnEnds.shift()!.playedAtMs);
    const from = frame * line.frameSamples;
    // A frame that is missing at the end of the recording is silence.
    const samples = new Int16Array(line.frameSamples);
    samples.set(pcm.subarray(from, from + line.frameSamples));
    heard.push(samples, played.isWhole(from, from + line.frameSamples));
  }
  const from = hearing.frames * line.frameSamples;
  const to = line.samplesOf(Math.max(hearing.frames * FRAME_MS, end.atMs));
  heard.finish(pcm.slice(from, to), played.isWhole(from, to), end.atMs);
  const agent = agentSounds(heard, { arrivals, ...linesOf(facts) });
  const wasSent = level.inaudible || facts.agent.length > 0;
  return {
    ...facts,
    agent,
    background: heard.background,
    level: {
      ...level,
      dbfs: agent.length > 0 ? finite(heard.activeDbfs) : null,
      inaudible: agent.length === 0 && wasSent,
    },
  };
}

/** Which parts of the playout the agent sent, asked for in order. */
class Played {
  private next = 0;
  private readonly spans: readonly (readonly [from: number, to: number])[];

  constructor(arrivals: readonly Arrival[], line: Line) {
    this.spans = arrivals.map(({ playedFromMs, playedToMs }) => [
      line.samplesOf(playedFromMs),
      line.samplesOf(playedToMs),
    ]);
  }

  /** Whether all samples of a span were sent. */
  isWhole(from: number, to: number): boolean {
    const { spans } = this;
    while (this.next < spans.length && spans[this.next]![1] <= from) this.next++;
    let played = 0;
    for (let index = this.next; index < spans.length && spans[index]![0] < to; index++) {
      played += Math.max(0, Math.min(spans[index]![1], to) - Math.max(spans[index]![0], from));
    }
    return played === to - from;
  }
}

function linesOf({ caller }: VoiceFacts) {
  const lines = caller.filter(({ type }) => type === 'say');
  return {
    turnAt: (atMs: number) => lines.findLastIndex(({ startMs }) => startMs <= atMs) + 1,
    lineEndBefore: (atMs: number) => lines.findLast(({ startMs }) => startMs < atMs)?.endMs ?? 0,
  };
}
