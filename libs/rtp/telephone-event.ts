import { bufferOf, type Refused, type RtpPacket } from './packet.js';
import { distance16, distance32 } from './serial.js';

/** A report of a telephone event (RFC 4733, section 2.3). */
export interface TelephoneEvent {
  /** 0 to 15 are the keys of {@link TELEPHONE_KEYS}. */
  readonly event: number;
  readonly isEnd: boolean;
  /** Level below 0 dBm0 in dB, 0 to 63. */
  readonly volume: number;
  /** Ticks of the RTP clock since the event began. */
  readonly duration: number;
}

/** Keys in the order of their event codes. */
export const TELEPHONE_KEYS = '0123456789*#ABCD';

const UPDATE_MS = 20;
/** The last report of an event is sent three times (section 2.5.1.4). */
const END_REPORTS = 3;
const LONGEST_SEGMENT = 0xffff;
/** Sixteen reports: more keys are not pressed in the time of one packet. */
const LONGEST_PAYLOAD = 64;
/** An event without reports has ended; one gateway pauses for more than a second (unispeech/asterisk-unimrcp#44). */
const SILENT_EVENT_MS = 2_000;

/** Reads the reports of a packet; an event that follows another one begins where that one ends. */
export function readTelephoneEvents(payload: Uint8Array): readonly TelephoneEvent[] | Refused<'wrong_event_length'> {
  if (payload.length === 0 || payload.length % 4 !== 0 || payload.length > LONGEST_PAYLOAD)
    return { refusal: 'wrong_event_length' };
  return Array.from({ length: payload.length / 4 }, (_, n) => ({
    event: payload[4 * n]!,
    isEnd: payload[4 * n + 1]! >= 0x80,
    volume: payload[4 * n + 1]! & 0x3f,
    duration: bufferOf(payload).readUInt16BE(4 * n + 2),
  }));
}

export const writeTelephoneEvent = ({ event, isEnd, volume, duration }: TelephoneEvent): Uint8Array =>
  Uint8Array.of(event, (isEnd ? 0x80 : 0) | volume, duration >> 8, duration & 0xff);

/** A packet of a key that is sent `atMs` after the key went down. */
export interface KeyReport {
  readonly atMs: number;
  readonly marker: boolean;
  /** To be added to the RTP time at which the key went down. */
  readonly timestampOffset: number;
  readonly payload: Uint8Array;
}

/**
 * The packets of a pressed key, 20 ms apart: the first one has the marker and the duration of 20 ms, the last one comes
 * three times. A key longer than 65,535 ticks has several segments (RFC 4733, section 2.5.1.3).
 * @param ms multiple of 20
 * @throws RangeError for another key
 */
export function keyReports(key: string, ms: number, { clockRate = 8_000, volume = 10 } = {}): KeyReport[] {
  const event = key.length === 1 ? TELEPHONE_KEYS.indexOf(key) : -1;
  if (event < 0) throw new RangeError(`${JSON.stringify(key)} is not a telephone key.`);
  const reports: KeyReport[] = [];
  for (let atMs = UPDATE_MS; atMs <= ms + UPDATE_MS * (END_REPORTS - 1); atMs += UPDATE_MS) {
    const ticks = Math.round((Math.min(atMs, ms) * clockRate) / 1_000);
    const timestampOffset = Math.floor((ticks - 1) / LONGEST_SEGMENT) * LONGEST_SEGMENT;
    const duration = ticks - timestampOffset;
    const payload = writeTelephoneEvent({ event, isEnd: atMs >= ms, volume, duration });
    reports.push({ atMs, marker: atMs === UPDATE_MS, timestampOffset, payload });
  }
  return reports;
}

/** A key that went down, or came up after `durationMs`. `isEndLost`: no last report of it was received. */
export type KeyChange =
  | { readonly type: 'down'; readonly event: number; readonly key: string | undefined; readonly timestamp: number }
  | {
      readonly type: 'up';
      readonly event: number;
      readonly key: string | undefined;
      readonly durationMs: number;
      readonly isEndLost: boolean;
    };

interface OpenEvent extends Pick<RtpPacket, 'ssrc' | 'sequence'> {
  readonly event: number;
  /** RTP time of the present segment. */
  readonly segment: number;
  /** Ticks of the segments before it. */
  readonly before: number;
  readonly duration: number;
  readonly isEnded: boolean;
  readonly atMs: number;
}

/**
 * Keys that the other side sends. An event is recognised by its RTP time, because gateways leave out the marker
 * (livekit/sip#742), and is reported once, however many of its packets are lost, repeated or late.
 */
export class KeyReceiver {
  private open: OpenEvent | undefined;

  constructor(private readonly clockRate = 8_000) {}

  receive(packet: RtpPacket, nowMs: number): KeyChange[] {
    const reports = readTelephoneEvents(packet.payload);
    if ('refusal' in reports) return [];
    let timestamp = packet.timestamp;
    return reports.flatMap((report) => {
      const changes = this.report(report, { ...packet, timestamp }, nowMs);
      timestamp = (timestamp + report.duration) >>> 0;
      return changes;
    });
  }

  /** Ends an event that has not been reported for two seconds. */
  advance(nowMs: number): KeyChange[] {
    return this.open && nowMs - this.open.atMs >= SILENT_EVENT_MS ? this.end(true) : [];
  }

  private report(report: TelephoneEvent, packet: RtpPacket, atMs: number): KeyChange[] {
    const { ssrc, sequence, timestamp } = packet;
    const { event, duration, isEnd } = report;
    const open = this.open;
    const changes: KeyChange[] = [];
    if (open && open.ssrc === ssrc && this.continues(open, report, packet)) {
      const isLater = distance16(sequence, open.sequence) > 0;
      this.open = { ...open, duration: Math.max(open.duration, duration), ...(isLater && { sequence, atMs }) };
    } else if (open?.ssrc === ssrc && this.isNextSegment(open, event, timestamp)) {
      this.open = { ...open, segment: timestamp, before: open.before + LONGEST_SEGMENT, duration, sequence, atMs };
    } else if (open?.ssrc === ssrc && distance32(timestamp, open.segment) <= 0) {
      return [];
    } else {
      changes.push(...this.end(true));
      this.open = { ssrc, sequence, event, segment: timestamp, before: 0, duration, isEnded: false, atMs };
      changes.push({ type: 'down', event, key: TELEPHONE_KEYS[event], timestamp });
    }
    return isEnd ? [...changes, ...this.end(false)] : changes;
  }

  /** Some senders move the RTP time with every report (pjsip/pjproject#363): then the duration shows the event. */
  private continues(open: OpenEvent, { event, duration }: TelephoneEvent, packet: RtpPacket): boolean {
    if (open.event !== event) return false;
    const isNext = [1, 2, 3].includes(distance16(packet.sequence, open.sequence));
    const grows = open.isEnded ? duration === open.duration : duration > open.duration;
    return packet.timestamp === open.segment || (isNext && !packet.marker && grows);
  }

  private isNextSegment(open: OpenEvent, event: number, timestamp: number): boolean {
    return !open.isEnded && open.event === event && distance32(timestamp, open.segment) === LONGEST_SEGMENT;
  }

  private end(isEndLost: boolean): KeyChange[] {
    if (!this.open || this.open.isEnded) return [];
    this.open = { ...this.open, isEnded: true };
    const { event, before, duration } = this.open;
    const durationMs = ((before + duration) * 1_000) / this.clockRate;
    return [{ type: 'up', event, key: TELEPHONE_KEYS[event], durationMs, isEndLost }];
  }
}
