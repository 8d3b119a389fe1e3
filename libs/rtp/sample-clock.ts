import type { RtpPacket } from './packet.js';
import { distance32 } from './serial.js';

/** This many packets in a row whose timestamps do not fit their sound show another clock; fewer are a pause or a restart. */
const PROOF_PACKETS = 5;
/** Sound cannot overlap: a clock that advances by so much less than the sound counts something else. */
const BEHIND_MS = 50;
/** Silence between packets is legal: if the clock advances by so much more than the sound, the arrivals decide. */
const AHEAD_MS = 200;

/** A packet: its timestamp, its place by the lengths of the packets before it, and its arrival. */
interface Place {
  readonly timestamp: number;
  readonly counted: number;
  readonly atMs: number;
}

/**
 * Timestamps of a sender in samples. Clocks that count something else, such as milliseconds or another rate
 * (baresip/baresip#1834, traud/asterisk-evs#5), give way to sequence numbers and the lengths of the packets.
 */
export class SampleClock {
  /** Whether the clock counts something else. */
  isWrong = false;
  /** Whether a packet inside the stream had the timestamp 0 (signalwire/freeswitch#801). */
  hasZero = false;
  private readonly decided: { readonly atMs: number; readonly ms: number }[] = [];
  private last: Place = { timestamp: 0, counted: 0, atMs: 0 };
  /** Where the last packet ends. */
  private end = 0;
  /** The packet before those whose timestamps do not fit, and how many these are. */
  private first: Place | undefined;
  private misfits = 0;

  constructor(private readonly clockRate: number) {}

  /** Spans of arrivals in which sound may have a wrong place, since it was not known what the clock counts. */
  get doubts(): readonly { readonly atMs: number; readonly ms: number }[] {
    return [...this.decided, ...this.doubt()];
  }

  /** Timestamp of a packet in samples. @param steps from the highest sequence number; undefined: a new stream */
  read({ timestamp, payload }: RtpPacket, steps: number | undefined, atMs: number): number {
    const counted = this.end + ((steps ?? 1) - 1) * payload.length;
    if (steps !== undefined && steps <= 0) return this.isWrong ? counted >>> 0 : timestamp;
    const sent = distance32(timestamp, this.last.timestamp);
    const due = counted - this.last.counted;
    const fits = steps === undefined || Math.abs(sent - due) * 10 <= due;
    const isZero = timestamp === 0 && !fits;
    this.hasZero ||= isZero;
    if (!this.isWrong && !isZero) this.judge({ timestamp, counted: fits ? timestamp : counted, atMs }, fits);
    const isCounted = this.isWrong || isZero;
    this.end = (fits && !isCounted ? timestamp : counted) + payload.length;
    return isCounted ? counted >>> 0 : timestamp;
  }

  private judge(place: Place, fits: boolean): void {
    if (!fits) {
      this.first ??= this.last;
      this.misfits++;
    }
    if (fits) this.decide();
    this.last = place;
    if (this.misfits < PROOF_PACKETS) return;
    const { ahead, toSound, toClock } = this.distances();
    this.isWrong = ahead <= -BEHIND_MS || (ahead >= AHEAD_MS && 2 * toSound < ahead);
    if (this.isWrong || (ahead >= AHEAD_MS && 2 * toClock < ahead)) this.decide();
  }

  /** Begins again. */
  private decide(): void {
    this.decided.push(...this.doubt());
    this.first = undefined;
    this.misfits = 0;
  }

  /** By how many ms the clock advanced more than the sound, and how far the arrivals are from either. */
  private distances(): { readonly ahead: number; readonly toSound: number; readonly toClock: number } {
    const { timestamp, counted, atMs } = this.first ?? this.last;
    const arrived = this.last.atMs - atMs;
    const clock = (distance32(this.last.timestamp, timestamp) * 1_000) / this.clockRate;
    const sound = ((this.last.counted - counted) * 1_000) / this.clockRate;
    return { ahead: clock - sound, toSound: Math.abs(arrived - sound), toClock: Math.abs(arrived - clock) };
  }

  private doubt(): { readonly atMs: number; readonly ms: number }[] {
    const { ahead, toSound, toClock } = this.distances();
    if (this.misfits < PROOF_PACKETS || Math.abs(ahead) < BEHIND_MS) return [];
    if (toClock < toSound && !this.isWrong) return [];
    const { atMs } = this.first ?? this.last;
    return [{ atMs, ms: this.last.atMs - atMs }];
  }
}
