import { decodeAudio, decodeMulaw, encodeMulaw, FRAME_MS, TELEPHONE_RATE } from '../../../../audio/index.js';
import { type Placement, PLAYOUT_DELAY_MS, ReceiveAnchor, type RtpPacket } from '../../../../rtp/index.js';

/** Until a possible new start of the sender's clock is decided. */
const DECISION_MS = 100;
/** How much later than it is heard sound is played: late packets and undecided starts still come in time. */
export const LAG_MS = Math.ceil((PLAYOUT_DELAY_MS + DECISION_MS) / FRAME_MS) * FRAME_MS;

/** The least sample of A-law, which has no zero. */
const SILENT = 8;
const SAMPLES_PER_MS = TELEPHONE_RATE / 1_000;

/** Sound at its time, on the clock of `now`. */
interface DueSound {
  readonly atMs: number;
  readonly pcm: Int16Array;
}

/** A span in which sound of the other side was lost. */
export interface LineGap {
  readonly atMs: number;
  readonly ms: number;
}

/** Places received packets of sound on the line, and finds what the line lost. */
export class Playout {
  readonly gaps: LineGap[] = [];
  /** Whether the sender leaves out silence. */
  leavesOutSilence = false;
  private readonly anchor = new ReceiveAnchor();
  /** In the order of their times. */
  private due: DueSound[] = [];
  /** Until when sound was taken. */
  private takenUntilMs = -Infinity;

  get dropped(): number {
    return this.anchor.dropped;
  }

  /** @param source changes with the address of the sender */
  receive(packet: RtpPacket, encoding: 'mulaw' | 'alaw', now: number, source: string): void {
    // As the recording keeps it.
    const payload = encoding === 'mulaw' ? packet.payload : encodeMulaw(decodeAudio({ encoding }, packet.payload));
    this.place(this.anchor.receive({ ...packet, payload }, now, source));
  }

  /** A packet of the stream that has no sound. */
  skip(packet: RtpPacket): void {
    this.anchor.skip(packet);
  }

  /** Sound that is due, each piece after the one before. */
  take(now: number): DueSound[] {
    this.place(this.anchor.advance(now));
    const later = this.due.findIndex(({ atMs }) => atMs > now);
    return this.due.splice(0, later < 0 ? this.due.length : later).flatMap(({ atMs, pcm }) => {
      const passed = Math.max(0, Math.round((this.takenUntilMs - atMs) * SAMPLES_PER_MS));
      if (passed >= pcm.length) return [];
      const startMs = Math.max(atMs, this.takenUntilMs);
      this.takenUntilMs = atMs + pcm.length / SAMPLES_PER_MS;
      // As if it had not been sent: nobody can tell silence of the agent from that of what carries the call.
      return pcm.every((sample) => Math.abs(sample) <= SILENT) ? [] : [{ atMs: startMs, pcm: pcm.subarray(passed) }];
    });
  }

  private place(placements: readonly Placement[]): void {
    for (const { packet, heardMs, lateMs, lostMs, silenceMs, isMisordered } of placements) {
      this.leavesOutSilence ||= silenceMs > FRAME_MS;
      const pcm = decodeMulaw(packet.payload);
      const atMs = heardMs + LAG_MS;
      if (isMisordered) this.fill(atMs, pcm.length / SAMPLES_PER_MS);
      if (lostMs > 0) this.gaps.push({ atMs: atMs - lostMs, ms: lostMs });
      // What is later than the whole lag has been missed.
      const missedMs = Math.min(pcm.length / SAMPLES_PER_MS, lateMs - DECISION_MS);
      if (missedMs > 0) this.gaps.push({ atMs, ms: missedMs });
      const before = this.due.findLastIndex((one) => one.atMs <= atMs);
      this.due.splice(before + 1, 0, { atMs, pcm });
    }
  }

  /** A misordered packet fills the gap that it had left. */
  private fill(atMs: number, ms: number): void {
    const index = this.gaps.findLastIndex((gap) => gap.atMs <= atMs + 1 && gap.atMs + gap.ms >= atMs + ms - 1);
    const gap = this.gaps[index];
    if (!gap) return;
    const parts = [
      { atMs: gap.atMs, ms: atMs - gap.atMs },
      { atMs: atMs + ms, ms: gap.atMs + gap.ms - atMs - ms },
    ];
    this.gaps.splice(index, 1, ...parts.filter((part) => part.ms > 1));
  }
}
