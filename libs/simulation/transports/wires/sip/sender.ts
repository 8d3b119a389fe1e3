import { dtmfTone, encodeAudio, FRAME_MS, TELEPHONE_RATE } from '../../../../audio/index.js';
import { type KeyReport, keyReports, RtcpSession, writeRtp } from '../../../../rtp/index.js';
import type { RtpPacket } from '../../../../rtp/index.js';
import type { SipMedia } from './state.js';

const FRAME_SAMPLES = (TELEPHONE_RATE * FRAME_MS) / 1_000;
const KEY_MS = 100;
/** After the first report, in milliseconds (RFC 3550, section 6.2). */
const REPORT_MS = 5_000;
const FIRST_REPORT_MS = 1_000;

/** Where the numbers of a stream begin: random ones, so that they cannot be guessed. */
export interface StreamStart {
  readonly ssrc: number;
  readonly sequence: number;
  readonly timestamp: number;
}

/** Our packets: one in 20 ms from the first moment, as sound or as a key, and reports. */
export class RtpSender {
  readonly rtcp: RtcpSession;
  private sequence: number;
  private timestamp: number;
  private packets = 0;
  private octets = 0;
  /** Packets of the pressed key that are still to be sent, and the timestamp at which it went down. */
  private key: { readonly reports: KeyReport[]; readonly timestamp: number } | undefined;
  private tone: Int16Array | undefined;
  private nextReportMs: number;
  private nextSilenceMs: number;

  constructor(
    private readonly send: (packet: Buffer) => void,
    private readonly start: StreamStart,
    public media: SipMedia,
    nowMs: number,
  ) {
    this.sequence = start.sequence;
    this.timestamp = start.timestamp;
    this.rtcp = new RtcpSession(start.ssrc, start.ssrc.toString(36));
    this.nextReportMs = nowMs + FIRST_REPORT_MS;
    this.nextSilenceMs = nowMs;
  }

  /** Silence until there is sound: the far side sends where packets come from. */
  silence(nowMs: number): void {
    for (; this.nextSilenceMs <= nowMs; this.nextSilenceMs += FRAME_MS) this.frame(new Int16Array(FRAME_SAMPLES));
  }

  /** 20 ms of audio, or of the key that is pressed. */
  frame(pcm: Int16Array): void {
    const report = this.key?.reports.shift();
    if (report) {
      const timestamp = (this.key!.timestamp + report.timestampOffset) >>> 0;
      this.packet({ ...report, payloadType: this.media.eventPayloadType!, timestamp });
    } else {
      const { codec } = this.media;
      const payload = encodeAudio({ encoding: codec === 'PCMU' ? 'mulaw' : 'alaw' }, this.withTone(pcm));
      this.packet({
        payload,
        payloadType: this.media.payloadType,
        timestamp: this.timestamp,
        marker: this.packets === 0,
      });
    }
    this.pass();
  }

  /** 20 ms that the line loses. */
  lose(): void {
    this.key?.reports.shift();
    this.sequence = (this.sequence + 1) & 0xffff;
    this.pass();
  }

  /** @returns whether it is sent as an event, and not as a tone */
  press(digit: string): boolean {
    if (this.media.eventPayloadType === null) {
      this.tone = dtmfTone(digit, { rate: TELEPHONE_RATE, ms: KEY_MS });
      return false;
    }
    this.key = { reports: keyReports(digit, KEY_MS), timestamp: this.timestamp };
    return true;
  }

  /** Sends the report that is due. */
  report(nowMs: number): void {
    if (nowMs < this.nextReportMs) return;
    this.nextReportMs = nowMs + REPORT_MS;
    this.send(this.rtcp.report(nowMs, this.sent));
  }

  bye(nowMs: number): void {
    this.send(this.rtcp.bye(nowMs, this.sent));
  }

  private get sent() {
    return { timestamp: this.timestamp, packets: this.packets, octets: this.octets };
  }

  private packet(packet: Omit<RtpPacket, 'ssrc' | 'sequence'>): void {
    this.send(writeRtp({ ...packet, ssrc: this.start.ssrc, sequence: this.sequence }));
    this.sequence = (this.sequence + 1) & 0xffff;
    this.packets++;
    this.octets += packet.payload.length;
  }

  private pass(): void {
    this.timestamp = (this.timestamp + FRAME_SAMPLES) >>> 0;
  }

  private withTone(pcm: Int16Array): Int16Array {
    if (!this.tone) return pcm;
    const tone = this.tone.subarray(0, FRAME_SAMPLES);
    this.tone = this.tone.length > FRAME_SAMPLES ? this.tone.subarray(FRAME_SAMPLES) : undefined;
    return tone;
  }
}
