import { FRAME_MS } from '../../../audio/index.js';
import type { CallerActs } from '../speaking/caller-acts.js';
import type { CallerAct, Span, VoiceFacts } from '../facts/facts.js';
import { overlapOf } from '../facts/spans.js';

type Moved = Pick<VoiceFacts, 'caller' | 'silences' | 'thinking' | 'timing' | 'underruns' | 'isEarliest'>;

/** Shorter gaps change no time by more than a frame or two. */
const LONG_GAP_MS = 60;

/**
 * How much later than it is heard the agent's sound is played to the caller (`Wire.lagMs`). Call time is that of the agent's
 * sound, so what the caller does at a moment of the playout happens that much later, also in the recording.
 */
export class HearingLag {
  /** Frames of the caller that are recorded beside what is heard next. */
  private waiting: (Int16Array | null)[];

  constructor(readonly ms: number) {
    this.waiting = new Array<null>(ms / FRAME_MS).fill(null);
  }

  /** @param sent valid until the next frame @returns what the agent got while it made the sound that is played now */
  beside(sent: Int16Array | null): Int16Array | null {
    if (this.ms === 0) return sent;
    this.waiting.push(sent && sent.slice());
    return this.waiting.shift() ?? null;
  }

  /** What was sent and is not recorded yet, at the end of the call. */
  rest(): (Int16Array | null)[] {
    return this.waiting.splice(0);
  }

  /** Facts about the caller that hearing needs. */
  timesOf(caller: CallerActs): [turnAt: (atMs: number) => number, lineEndBefore: (atMs: number) => number] {
    const { ms } = this;
    if (ms === 0) return [(at) => caller.turnAt(at), (at) => caller.lineEndBefore(at)];
    const lineEndBefore = (at: number) => caller.lineEndBefore(at - ms);
    return [(at) => caller.turnAt(at - ms), (at) => (lineEndBefore(at) === 0 ? 0 : lineEndBefore(at) + ms)];
  }

  /**
   * Moves what the caller and the tester did to when it happened. The agent's sound has the times of its packets, whenever they
   * were read. @param lineGaps what the line lost, which is not a gap of the agent's
   */
  moved<Facts extends Moved>(facts: Facts, lineGaps: NonNullable<VoiceFacts['timing']['lineGaps']> = []): Facts {
    if (this.ms === 0) return facts;
    const { caller, silences, thinking, timing } = facts;
    const long = lineGaps.filter(({ ms }) => ms >= LONG_GAP_MS);
    return {
      ...facts,
      isEarliest: true,
      underruns: facts.underruns.filter(
        (span) => !lineGaps.some(({ at, ms }) => overlapOf(span, { startMs: at, endMs: at + ms }) > 0),
      ),
      caller: caller.map((act) => this.act(act)),
      silences: silences.map((silence) => this.span(silence)),
      ...(thinking && { thinking: thinking.map((thought) => this.span(thought)) }),
      timing: {
        ...timing,
        stalls: timing.stalls.map(({ at, ms }) => ({ at: at + this.ms, ms })),
        ...(long.length > 0 && { lineGaps: long }),
      },
    };
  }

  private act(act: CallerAct): CallerAct {
    if (act.type !== 'say') return this.span(act);
    const spans = <T extends Span>(all: readonly T[]) => all.map((one) => this.span(one));
    return { ...this.span(act), parts: spans(act.parts), words: spans(act.words) };
  }

  private span<T extends Span>(span: T): T {
    return { ...span, startMs: span.startMs + this.ms, endMs: span.endMs + this.ms };
  }
}
