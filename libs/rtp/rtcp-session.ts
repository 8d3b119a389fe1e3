import type { RtpPacket } from './packet.js';
import { type ReportBlock, type RtcpPacket, writeRtcp } from './rtcp.js';
import { distance16 } from './serial.js';

/** Sender reports whose answers are recognised. */
const REMEMBERED_REPORTS = 8;
const MOST_LOST = 0x7f_ffff;

/** Middle 32 bits of a 64-bit time: 1/65,536 s. */
const middle = (ntp: bigint): number => Number((ntp >> 16n) & 0xffff_ffffn);

const ntpOf = (ms: number): bigint => BigInt(Math.round((ms * 65_536) / 1_000)) << 16n;

/** What was received of the other side's present source (RFC 3550, appendices A.3 and A.8). */
class Reception {
  private readonly first: number;
  private highest: number;
  private received = 0;
  private transit: number | undefined;
  private jitter = 0;
  private reported = { expected: 0, received: 0 };

  constructor(
    readonly ssrc: number,
    sequence: number,
  ) {
    this.first = this.highest = sequence;
  }

  add({ sequence, timestamp }: RtpPacket, ticks: number): void {
    this.received++;
    this.highest += Math.max(0, distance16(sequence, this.highest & 0xffff));
    const transit = (Math.round(ticks) - timestamp) | 0;
    if (this.transit !== undefined) this.jitter += (Math.abs((transit - this.transit) | 0) - this.jitter) / 16;
    this.transit = transit;
  }

  block(lastReport: number, delay: number): ReportBlock {
    const expected = this.highest - this.first + 1;
    const [due, came] = [expected - this.reported.expected, this.received - this.reported.received];
    this.reported = { expected, received: this.received };
    return {
      ssrc: this.ssrc,
      fractionLost: due > came ? Math.min(255, Math.floor((256 * (due - came)) / due)) : 0,
      lost: Math.max(-MOST_LOST, Math.min(MOST_LOST, expected - this.received)),
      highestSequence: this.highest,
      jitter: Math.floor(this.jitter),
      lastReport,
      delay,
    };
  }
}

/** The RTCP of one call: the reports that are sent, and the round trip that the other side's reports show. */
export class RtcpSession {
  private readonly sentReports: number[] = [];
  private reception: Reception | undefined;
  private heardReport: { readonly ssrc: number; readonly middle: number; readonly atMs: number } | undefined;
  /** Time in ms to the next RTP endpoint and back, by the other side's last report. */
  roundTripMs: number | undefined;

  /** @param cname a random name (RFC 7022) @param clockRate ticks of the RTP clock a second */
  constructor(
    private readonly ssrc: number,
    private readonly cname: string,
    private readonly clockRate = 8_000,
  ) {}

  /** Counts an audio packet of the other side. */
  count(packet: RtpPacket, nowMs: number): void {
    if (this.reception?.ssrc !== packet.ssrc) this.reception = new Reception(packet.ssrc, packet.sequence);
    this.reception.add(packet, (nowMs * this.clockRate) / 1_000);
  }

  /** Reads reports of the other side: its time, and its answers to our reports. */
  receive(packets: readonly RtcpPacket[], nowMs: number): void {
    for (const packet of packets) {
      if (packet.type !== 'report') continue;
      if (packet.sender) this.heardReport = { ssrc: packet.ssrc, middle: middle(packet.sender.ntp), atMs: nowMs };
      for (const { ssrc, lastReport, delay } of packet.blocks) {
        if (ssrc !== this.ssrc || !this.sentReports.includes(lastReport)) continue;
        const roundTrip = (middle(ntpOf(nowMs)) - lastReport - delay) | 0;
        if (roundTrip >= 0) this.roundTripMs = (roundTrip * 1_000) / 65_536;
      }
    }
  }

  /**
   * A compound packet: sender report, or receiver report before anything was sent, and description.
   * @param nowMs any clock that only goes forward, at least 0
   */
  report(
    nowMs: number,
    sent: { readonly timestamp: number; readonly packets: number; readonly octets: number },
  ): Buffer {
    return writeRtcp(this.packets(nowMs, sent));
  }

  /** The last packet of a call: a report and BYE. */
  bye(nowMs: number, sent: { readonly timestamp: number; readonly packets: number; readonly octets: number }): Buffer {
    return writeRtcp([...this.packets(nowMs, sent), { type: 'bye', ssrcs: [this.ssrc] }]);
  }

  private packets(
    nowMs: number,
    sent: { readonly timestamp: number; readonly packets: number; readonly octets: number },
  ): Exclude<RtcpPacket, { type: 'other' }>[] {
    const { ssrc, cname, reception } = this;
    const heard = this.heardReport?.ssrc === reception?.ssrc ? this.heardReport : undefined;
    const delay = heard ? Math.round(((nowMs - heard.atMs) * 65_536) / 1_000) : 0;
    const blocks = reception ? [reception.block(heard?.middle ?? 0, delay)] : [];
    const ntp = ntpOf(nowMs);
    if (sent.packets > 0 && this.sentReports.push(middle(ntp)) > REMEMBERED_REPORTS) this.sentReports.shift();
    return [
      { type: 'report', ssrc, ...(sent.packets > 0 && { sender: { ntp, ...sent } }), blocks },
      { type: 'description', ssrc, cname },
    ];
  }
}
