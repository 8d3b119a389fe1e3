import { LeastWindow } from './least-window.js';
import type { RtpPacket } from './packet.js';
import { SampleClock } from './sample-clock.js';
import { distance16, distance32 } from './serial.js';

/** A packet is played so long after it was due: jitter up to this time moves nothing. */
export const PLAYOUT_DELAY_MS = 40;
/** A packet that comes later than this after it should have been played is dropped. */
const TOO_LATE_MS = 500;
const WINDOW_MS = 5_000;
/** After a pause of this length the sender may have stopped its RTP clock. */
const QUIET_MS = 60;
/** So long the packets after a possible new start are collected until it is decided. */
const DECISION_MS = 100;
/** Packets that come this much before the first one show its jitter; packets that are earlier were sent ahead. */
const JITTER_MS = 80;
/** Packets that come together with the first one, and so much sound in them, were sent ahead as well. */
const BURST_MS = 20;
const BURST_AHEAD_MS = 60;
/** More than that is not sent ahead: the other side or the network had stalled (senders are 80 to 240 ms ahead). */
const MOST_LEAD_MS = 400;
/** The offset changes inside continuous sound only by more than this, and not by jitter of the window's least value. */
const STEP_MS = 10;
/** Sound that would be heard later than this is a wrong timestamp. */
const MOST_AHEAD_MS = 1_000;
/** A sequence number further back or forward is a restart of the sender (RFC 3550, appendix A.1). */
const MOST_MISORDERED = 100;
const MOST_LOST = 3_000;
const REMEMBERED = 512;

/** Where a packet of sound belongs in the call. */
export interface Placement {
  readonly packet: RtpPacket;
  /** When its sound is heard on a line without jitter. It is played {@link PLAYOUT_DELAY_MS} later. */
  readonly heardMs: number;
  /** How long after that play time the packet came: that much of it is a gap of the line. */
  readonly lateMs: number;
  /** Sound that was lost before it: a gap of the line, filled by a packet that is still to come if that one is misordered. */
  readonly lostMs: number;
  /** Silence of the sender before it: it sent nothing. */
  readonly silenceMs: number;
  readonly isMisordered: boolean;
}

interface Arrival {
  readonly packet: RtpPacket;
  readonly arrivedMs: number;
  /** RTP time without wrap-around. */
  readonly rtpMs: number;
  /** Distance of its sequence number from the one before. */
  readonly steps: number;
  /** Whether its RTP time is not the end of the packet before it. */
  readonly isJump: boolean;
  readonly isNewSource: boolean;
}

/** How late a packet may be without a new start: a sender whose clock moved in the silence did not stop it. */
const toleranceMs = ({ isJump }: Arrival): number => (isJump ? JITTER_MS : PLAYOUT_DELAY_MS);

/**
 * Turns arrivals of G.711 packets into moments at which the sound is heard: RTP time plus an offset, the least difference
 * of arrival and RTP time in the last five seconds. A sender whose clock stands still in silence, or that sends ahead,
 * starts a new offset; a stall of the network does not. What is placed can lie up to 100 ms in the past.
 */
export class ReceiveAnchor {
  /** Packets that were dropped: too late, repeated, with a wrong timestamp, or from before the present start. */
  dropped = 0;
  /** What the sender's timestamps count. */
  readonly clock: SampleClock;
  private readonly window = new LeastWindow(WINDOW_MS);
  private readonly seen = new Int32Array(REMEMBERED).fill(-1);
  private source: { ssrc: number; address: string } | undefined;
  private sequence = 0;
  private restartAt: number | undefined;
  private startSequence = 0;
  private placedSequence = 0;
  /** RTP time at which the last packet ends, as sent and without wrap-around. */
  private endTimestamp = 0;
  private endTicks = 0;
  private arrivedMs = 0;
  private pending: Arrival[] = [];
  private offset: number | undefined;
  /** How much earlier than due the sender's packets come. */
  private lead = 0;
  private isAhead = false;
  private startMs = 0;
  private base = { offset: 0, atMs: 0 };
  private end: { readonly rtpMs: number; readonly heardMs: number } | undefined;

  /** @param clockRate bytes, and ticks of the RTP clock, a second */
  constructor(private readonly clockRate = 8_000) {
    this.clock = new SampleClock(clockRate);
  }

  /** A packet of sound. @param address where it came from @returns packets whose place is now known */
  receive(packet: RtpPacket, nowMs: number, address = ''): Placement[] {
    const placed = this.advance(nowMs);
    const isRestart = this.isRestart(packet);
    if (isRestart === undefined) return placed;
    const isNewSource = isRestart || this.source?.ssrc !== packet.ssrc;
    if (isNewSource) {
      placed.push(...this.decide());
      this.seen.fill(-1);
    }
    if (this.seen[packet.sequence % REMEMBERED] === packet.sequence) {
      this.dropped++;
      return placed;
    }
    this.seen[packet.sequence % REMEMBERED] = packet.sequence;
    const steps = isNewSource ? 1 : distance16(packet.sequence, this.sequence);
    const { isWrong } = this.clock;
    const timestamp = this.clock.read(packet, isNewSource ? undefined : steps, nowMs);
    const isNewStart = isNewSource || this.clock.isWrong !== isWrong;
    if (isNewStart && !isNewSource) {
      placed.push(...this.decide());
      this.end = undefined;
    }
    const ticks = isNewStart ? timestamp : this.endTicks + distance32(timestamp, this.endTimestamp);
    const isJump = ticks !== this.endTicks;
    const rtpMs = (ticks * 1_000) / this.clockRate;
    const arrival = { packet, arrivedMs: nowMs, rtpMs, steps, isJump, isNewSource: isNewStart };
    if (steps <= 0) return [...placed, ...this.misordered(arrival)];
    // Another jump is decided by itself.
    if (isJump && steps === 1) placed.push(...this.decide());
    const mayStart = this.mayStart(arrival, address);
    this.source = { ssrc: packet.ssrc, address };
    this.sequence = packet.sequence;
    this.endTicks = ticks + packet.payload.length;
    this.endTimestamp = (timestamp + packet.payload.length) >>> 0;
    this.arrivedMs = nowMs;
    if (this.pending.length > 0 || mayStart) this.pending.push(arrival);
    else return [...placed, ...this.place(arrival, this.window.add(nowMs, nowMs - arrival.rtpMs))];
    return this.caughtUp() ? [...placed, ...this.decide()] : placed;
  }

  /** A key or comfort noise of the same stream: its sequence number is not lost. */
  skip({ ssrc, sequence }: RtpPacket): void {
    if (ssrc !== this.source?.ssrc || distance16(sequence, this.sequence) !== 1) return;
    if (this.placedSequence === this.sequence) this.placedSequence = sequence;
    this.sequence = sequence;
  }

  /** Decides what was collected; to be called every 20 ms. */
  advance(nowMs: number): Placement[] {
    const [first] = this.pending;
    return first && nowMs - first.arrivedMs >= DECISION_MS ? this.decide() : [];
  }

  /** Whether the sender's sequence numbers began again; undefined for a single stray one. */
  private isRestart({ ssrc, sequence }: RtpPacket): boolean | undefined {
    if (ssrc !== this.source?.ssrc) return false;
    const distance = distance16(sequence, this.sequence);
    const isStray = distance < -MOST_MISORDERED || distance > MOST_LOST;
    const isRestart = isStray && sequence === this.restartAt;
    this.restartAt = isStray && !isRestart ? (sequence + 1) & 0xffff : undefined;
    if (isStray && !isRestart) this.dropped++;
    return isStray && !isRestart ? undefined : isRestart;
  }

  private mayStart(arrival: Arrival, address: string): boolean {
    const { packet, arrivedMs, rtpMs, isJump, isNewSource } = arrival;
    if (isNewSource || this.offset === undefined) return true;
    const lagMs = arrivedMs - rtpMs - this.offset;
    const isHint = packet.marker || isJump || address !== this.source?.address;
    if (lagMs > toleranceMs(arrival)) return isHint || arrivedMs - this.arrivedMs >= QUIET_MS;
    return lagMs < -TOO_LATE_MS || (isJump && lagMs < -JITTER_MS - Math.max(this.lead, PLAYOUT_DELAY_MS));
  }

  /** Whether the collected packets show that the old offset still holds: the network had stalled. */
  private caughtUp(): boolean {
    const [first] = this.pending;
    if (!first || first.isNewSource || this.offset === undefined) return false;
    const lags = this.pending.map(({ arrivedMs, rtpMs }) => arrivedMs - rtpMs - this.offset!);
    return lags[0]! >= -PLAYOUT_DELAY_MS && Math.min(...lags) <= toleranceMs(first);
  }

  private decide(): Placement[] {
    const arrivals = this.pending;
    if (arrivals.length === 0) return [];
    const isStart = !this.caughtUp();
    this.pending = [];
    if (isStart) this.window.clear();
    const differences = arrivals.map(({ arrivedMs, rtpMs }) => arrivedMs - rtpMs);
    const leasts = differences.map((difference, n) => this.window.add(arrivals[n]!.arrivedMs, difference));
    const ordered = arrivals.toSorted((a, b) => distance16(a.packet.sequence, b.packet.sequence));
    if (isStart) this.start(arrivals, ordered[0]!, differences);
    return ordered.flatMap((arrival, n) => {
      const isFirst = n === 0 && arrivals[0]!.isNewSource;
      const steps = isFirst ? 1 : distance16(arrival.packet.sequence, this.placedSequence);
      return this.place({ ...arrival, steps }, leasts.at(-1)!);
    });
  }

  /** @param arrivals in their order @param first by its sequence number @param differences of arrival and RTP time */
  private start(arrivals: readonly Arrival[], first: Arrival, differences: readonly number[]): void {
    const { arrivedMs } = arrivals[0]!;
    const least = Math.min(...differences);
    const together = differences.filter((_, n) => arrivals[n]!.arrivedMs - arrivedMs <= BURST_MS);
    // The packets of a burst may be misordered.
    const atFirst = arrivedMs - first.rtpMs;
    const isAhead = atFirst - least > JITTER_MS || atFirst - Math.min(...together) >= BURST_AHEAD_MS;
    this.isAhead = isAhead && atFirst - least <= MOST_LEAD_MS;
    // Sound is never heard over the sound before it.
    const earliest = (this.end?.heardMs ?? -Infinity) - first.rtpMs;
    this.offset = Math.max(this.isAhead ? atFirst : least, earliest);
    this.lead = this.offset - least;
    this.base = { offset: this.offset, atMs: arrivedMs };
    this.startMs = arrivedMs;
    this.startSequence = first.packet.sequence;
    this.end = this.end && { rtpMs: this.end.heardMs - this.offset, heardMs: this.end.heardMs };
  }

  private place(arrival: Arrival, least: number): Placement[] {
    const { packet, arrivedMs, rtpMs, steps } = arrival;
    const ms = (packet.payload.length * 1_000) / this.clockRate;
    const gapMs = this.end ? Math.max(0, rtpMs - this.end.rtpMs) : 0;
    const target = this.follow(arrivedMs, least);
    if (gapMs > 0 || Math.abs(target - this.offset!) > STEP_MS) this.offset = target;
    const lostMs = Math.min(gapMs, (steps - 1) * ms);
    const placement = this.placement(arrival, { lostMs, silenceMs: gapMs - lostMs });
    this.placedSequence = packet.sequence;
    if (distance16(packet.sequence, this.startSequence) > MOST_MISORDERED)
      this.startSequence = packet.sequence - MOST_MISORDERED;
    if (placement.length > 0) this.end = { rtpMs: rtpMs + ms, heardMs: rtpMs + ms + this.offset! };
    return placement;
  }

  /** The offset after one more packet. */
  private follow(nowMs: number, least: number): number {
    const offset = this.offset!;
    // The sender's lead has become smaller: what it sent ahead is played on.
    if (least + this.lead > offset) this.lead = Math.max(0, offset - least);
    if (nowMs - this.base.atMs > WINDOW_MS) this.base = { offset, atMs: nowMs };
    const mostEarly = this.isAhead && this.base.atMs === this.startMs ? 0 : JITTER_MS;
    if (least + this.lead < this.base.offset - mostEarly) this.lead = this.base.offset - least;
    return least + this.lead;
  }

  private misordered(arrival: Arrival): Placement[] {
    const { sequence } = arrival.packet;
    const [first] = this.pending;
    if (first && (first.isNewSource || distance16(sequence, this.placedSequence) > 0)) this.pending.push(arrival);
    else if (distance16(sequence, this.startSequence) >= 0)
      return this.placement(arrival, { lostMs: 0, silenceMs: 0, isMisordered: true });
    else this.dropped++;
    return [];
  }

  private placement(
    { packet, arrivedMs, rtpMs }: Arrival,
    before: { readonly lostMs: number; readonly silenceMs: number; readonly isMisordered?: boolean },
  ): Placement[] {
    const heardMs = rtpMs + this.offset!;
    const lateMs = Math.max(0, arrivedMs - heardMs - PLAYOUT_DELAY_MS);
    if (lateMs > TOO_LATE_MS || heardMs - arrivedMs > MOST_AHEAD_MS) {
      this.dropped++;
      return [];
    }
    return [{ packet, heardMs, lateMs, isMisordered: false, ...before }];
  }
}
