import { decodeAudio, decodeMulaw, encodeMulaw, FRAME_MS, TELEPHONE_RATE } from '../../../../audio/index.js';
import { type Placement, PLAYOUT_DELAY_MS, ReceiveAnchor, type RtpPacket } from '../../../../rtp/index.js';
import { overlapOf } from '../../../voice/facts/spans.js';

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

interface PlacedSound extends DueSound {
  /** Of the sender, before it. */
  readonly silenceMs: number;
}

/** A span in which sound of the other side was lost. */
export interface LineGap {
  readonly atMs: number;
  readonly ms: number;
}

const spanOf = ({ atMs, ms }: LineGap) => ({ startMs: atMs, endMs: atMs + ms });

/** Places received packets of sound on the line, and finds what the line lost. */
export class Playout {
  private readonly noted: LineGap[] = [];
  /** Sound that belongs to a gap, and is not heard any more. */
  private late: DueSound[] = [];
  /** Whether the sender leaves out silence. */
  leavesOutSilence = false;
  private readonly anchor = new ReceiveAnchor();
  /** In the order of their times. */
  private due: PlacedSound[] = [];
  /**
   * Whether silence is left out, as if it had not been sent: three packets of it may be a gap of the agent, or of what carries the
   * call. Words have shorter ones.
   */
  private isLeftOut = false;
  /** Until when sound was taken. */
  private takenUntilMs: number;
  private hasSound = false;
  private droppedBefore = 0;

  /** @param startMs what is heard before it is not played, but shows how far the sender is ahead */
  constructor(private readonly startMs = -Infinity) {
    this.takenUntilMs = startMs + LAG_MS;
  }

  get dropped(): number {
    return this.anchor.dropped - this.droppedBefore;
  }

  /** What is wrong with the timestamps. */
  get wrongTimestamps(): string | undefined {
    const { isWrong, hasZero } = this.anchor.clock;
    if (isWrong)
      return 'They do not count samples: the sound is placed by the sequence numbers and lengths of its packets';
    return hasZero ? 'Packets in the middle of the sound have the timestamp 0' : undefined;
  }

  /** Apart from doubts. */
  get gaps(): readonly LineGap[] {
    const doubts = this.doubts.map(spanOf);
    return this.noted.filter((gap) => !doubts.some((doubt) => overlapOf(doubt, spanOf(gap)) > 0));
  }

  /** Spans in which the place of the sound is not certain. */
  get doubts(): readonly LineGap[] {
    return this.anchor.clock.doubts.flatMap(({ atMs, ms }) => {
      const start = Math.max(atMs, this.startMs);
      return start < atMs + ms ? [{ atMs: start + LAG_MS, ms: atMs + ms - start }] : [];
    });
  }

  /** @param source changes with the address of the sender */
  receive(packet: RtpPacket, encoding: 'mulaw' | 'alaw', now: number, source: string): void {
    // As the recording keeps it.
    const payload = encoding === 'mulaw' ? packet.payload : encodeMulaw(decodeAudio({ encoding }, packet.payload));
    const { isWrong } = this.anchor.clock;
    this.place(this.anchor.receive({ ...packet, payload }, now, source));
    // Until then it was the clock that seemed to leave out silence.
    if (this.anchor.clock.isWrong && !isWrong) this.leavesOutSilence = false;
    if (now < this.startMs) this.droppedBefore = this.anchor.dropped;
  }

  /** A packet of the stream that has no sound. */
  skip(packet: RtpPacket): void {
    this.anchor.skip(packet);
  }

  /** Sound that is due, each piece after the one before. */
  take(now: number): DueSound[] {
    this.place(this.anchor.advance(now));
    const taken: DueSound[] = [];
    while (this.due[0] && this.due[0].atMs <= now) {
      this.isLeftOut = this.isSilent(0) && (this.isLeftOut || (this.isSilent(1) && this.isSilent(2)));
      const placed = this.due.shift()!;
      const { atMs, pcm } = placed;
      const passed = Math.max(0, Math.round((this.takenUntilMs - atMs) * SAMPLES_PER_MS));
      if (passed < pcm.length && this.hasSound) this.noteGap(placed);
      this.hasSound = true;
      if (passed >= pcm.length) {
        if (this.isInGap(atMs, pcm.length / SAMPLES_PER_MS)) this.late.push({ atMs, pcm });
        continue;
      }
      const startMs = Math.max(atMs, this.takenUntilMs);
      this.takenUntilMs = atMs + pcm.length / SAMPLES_PER_MS;
      if (!this.isLeftOut) taken.push({ atMs: startMs, pcm: pcm.subarray(passed) });
    }
    return taken;
  }

  takeLate(): DueSound[] {
    return this.late.splice(0);
  }

  private isInGap(atMs: number, ms: number): boolean {
    return this.noted.some((gap) => gap.atMs < atMs + 1 && atMs + ms < gap.atMs + gap.ms + 1);
  }

  private isSilent(index: number): boolean {
    return this.due[index]?.pcm.every((sample) => Math.abs(sample) <= SILENT) === true;
  }

  private place(placements: readonly Placement[]): void {
    for (const { packet, heardMs, silenceMs } of placements) {
      this.leavesOutSilence ||= silenceMs > FRAME_MS && heardMs - silenceMs >= this.startMs;
      const atMs = heardMs + LAG_MS;
      const before = this.due.findLastIndex((one) => one.atMs <= atMs);
      this.due.splice(before + 1, 0, { atMs, pcm: decodeMulaw(packet.payload), silenceMs });
    }
  }

  /** What is missing before a sound, but for what the sender left out, was lost, came too late, or its times have moved. */
  private noteGap({ atMs, silenceMs }: PlacedSound): void {
    const ms = atMs - this.takenUntilMs - silenceMs;
    if (ms > 1) this.noted.push({ atMs: this.takenUntilMs, ms });
  }
}
