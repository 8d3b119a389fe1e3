import { ClippingMeter, LevelMeter } from '../../../audio/index.js';
import type { AgentTurnFact, SayAct, SoundAct, VoiceFacts } from '../facts/facts.js';
import type { HeardPiece } from '../facts/heard-piece.js';
import { Line } from '../facts/line.js';
import { agentSounds, finite } from '../hearing/agent-sounds.js';
import { AgentTurns, type HeardAgent } from '../hearing/agent-turns.js';
import { linesOf } from '../hearing/hear-again.js';
import { hearLane, type RecordedLane } from '../hearing/hear-lane.js';
import type { HeardSounds } from '../hearing/heard-sounds.js';
import { playedOfItem } from '../hearing/item-played.js';
import { callerActsOf, callerSoundsOf, extentOf, isBargeIn } from './caller-channel.js';
import { sentIn, withItems } from './sent.js';
import { entriesOf, itemsOf, saidOf, type TranscriptEntry } from './transcript.js';

/** A call that was recorded by somebody else. Its recording begins with the answer. */
export interface ImportedCall {
  readonly caller: RecordedLane;
  readonly agent: RecordedLane;
  /** What both sides said; without it, words are not known before a recogniser has heard the agent. */
  readonly transcript?: readonly TranscriptEntry[] | undefined;
  /** Silence that ends the agent's turn. */
  readonly turnEndMs: number;
  /** What to know of the file of the recording. */
  readonly note?: string | undefined;
  /** Called with what a recogniser is to transcribe of the agent, cut as on a call of the service. */
  readonly onPiece?: ((piece: HeardPiece) => void) | undefined;
}

/**
 * What a recording shows of a call, as it is observed on a call of the service. What it does not show is empty: when audio was
 * sent, messages of a protocol, tool calls, who hung up.
 */
export function importedFacts(call: ImportedCall): VoiceFacts {
  const { caller: callerLane, agent: lane, transcript: words, turnEndMs, onPiece, note } = call;
  const agentEntries = words && entriesOf(words, 'agent');
  const items = agentEntries ? itemsOf(agentEntries) : [];
  const { frames, endMs } = extentOf(lane);
  const arrivals = withItems(sentIn(lane), items);
  const extent = { frames, endMs, arrivals };
  const { sounds, edgesMs } = callerSoundsOf(callerLane);
  const audible = hearLane(lane, extent).sounds.filter(({ isBackground }) => !isBackground);
  const callerEntries = words && entriesOf(words, 'caller');
  // A transcript of the agent alone says nothing about the sounds of the caller.
  const entries = callerEntries?.length ? callerEntries : undefined;
  const acts = callerActsOf(sounds, { agent: audible, entries });
  const turns = new RecordedTurns(acts, turnEndMs, audible);
  const heard = hearLane(lane, { ...extent, onPiece, after: (sounds, untilMs) => turns.advance(sounds, untilMs) });
  const agent = agentSounds(heard, { arrivals, ...linesOf(acts) });
  const agentTurns = turns.until(heard, endMs);
  const sent = sentLevel(lane, arrivals);
  return {
    caller: turns.withBargeIns(arrivals),
    agent,
    background: heard.background,
    agentTurns,
    silences: [],
    arrivals,
    clears: [],
    underruns: [],
    level: {
      dbfs: agent.length > 0 ? finite(heard.activeDbfs) : null,
      ...sent,
      inaudible: agent.length === 0 && arrivals.length > 0,
    },
    end: { by: 'tester', code: 'recording_over', reason: 'The recording ended', atMs: endMs },
    answeredTurns: new Set(agentTurns.map(({ turn }) => turn)).size,
    said: agentEntries ? saidOf(agentEntries, items) : [],
    heardCaller: [],
    toolCalls: [],
    unknownTools: 'A recording does not show tool calls',
    wireFindings: [],
    platformEvents: note === undefined ? [] : [{ type: 'note', atMs: 0, detail: note }],
    timing: { stalls: [], sentAsPlanned: true },
    hearing: heard.fact,
    imported: { callerEdgesMs: edgesMs },
  };
}

function sentLevel({ rate, pcm }: RecordedLane, arrivals: VoiceFacts['arrivals']) {
  const line = new Line(rate);
  const level = new LevelMeter();
  const clipping = new ClippingMeter();
  for (const { playedFromMs, playedToMs } of arrivals) {
    const part = pcm.subarray(line.samplesOf(playedFromMs), line.samplesOf(playedToMs));
    level.push(part);
    clipping.push(part);
  }
  return { sentDbfs: finite(level.dbfs), clippedPercent: Math.round(clipping.percent * 1_000) / 1_000 };
}

type Act = SayAct | SoundAct;

/** The agent's turns beside the lines of a caller that are known beforehand. */
class RecordedTurns {
  private readonly lines: readonly SayAct[];
  private readonly heardBefore = new Map<SayAct, number>();
  private turns: AgentTurns | undefined;
  private next = 0;

  /** @param audible sounds of the agent */
  constructor(
    private readonly acts: readonly Act[],
    private readonly turnEndMs: number,
    private readonly audible: readonly { readonly startMs: number; readonly endMs: number }[],
  ) {
    this.lines = acts.filter((act) => act.type === 'say');
  }

  /** Takes note of what was heard until a moment. */
  advance(heard: HeardSounds, untilMs: number): void {
    this.turns ??= new AgentTurns(withoutBuffer(heard), this.turnEndMs, linesOf(this.acts).turnAt);
    this.turns.listen(this.lines[this.next - 1]);
    for (let line = this.lines[this.next]; line && line.startMs <= untilMs; line = this.lines[this.next]) {
      this.heardBefore.set(line, this.turns.audibleMs(line.startMs));
      this.turns.callerTakesFloor(line.startMs);
      this.next++;
    }
    this.turns.endAfterSilence(untilMs, 0);
  }

  until(heard: HeardSounds, endMs: number): readonly AgentTurnFact[] {
    this.advance(heard, endMs);
    return this.turns!.until(endMs);
  }

  /** What the caller did, with the lines that it spoke over the agent. */
  withBargeIns(arrivals: VoiceFacts['arrivals']): Act[] {
    return this.acts.map((act) => {
      if (act.type !== 'say') return act;
      const { startMs } = act;
      const afterHeardMs = this.heardBefore.get(act) ?? 0;
      const isOver = this.audible.some((sound) => sound.startMs < startMs && startMs < sound.endMs);
      if (!isOver || !isBargeIn(afterHeardMs)) return act;
      const sinceMs = this.lines.findLast((line) => line.endMs <= startMs)?.endMs ?? 0;
      const heardUntilMs = playedOfItem([...arrivals].reverse(), startMs, sinceMs);
      return {
        ...act,
        bargeIn: { afterMs: Math.round(afterHeardMs), possible: true, afterHeardMs, bufferedMs: 0, heardUntilMs },
      };
    });
  }
}

/** What is heard of a recording: nothing waits to be played. */
const withoutBuffer = (heard: HeardSounds): HeardAgent => ({
  get sounds() {
    return heard.sounds;
  },
  get isOnsetPending() {
    return heard.isOnsetPending;
  },
  get endless() {
    return heard.endless;
  },
  hasAudibleLeft: () => false,
  turnEndPlayedAt: () => null,
});
