import { randomBytes } from 'node:crypto';
import { TELEPHONE_RATE } from '../../../../audio/index.js';
import {
  COMFORT_NOISE,
  isRefused,
  isRtcp,
  type KeyChange,
  KeyReceiver,
  readRtcp,
  readRtp,
  type RtpPacket,
} from '../../../../rtp/index.js';
import { OtherSide } from '../../../other-side/other-side.js';
import { failure } from '../../../timeline/failure.js';
import type { JsonValue } from '../../../timeline/text.js';
import type { VoiceFacts, WireFinding } from '../../../voice/facts/facts.js';
import type { Wire, WireEntry, WireSide } from '../../../voice/wire/wire.js';
import { BeepFinder } from './beep.js';
import { NOTED, type SipFindingCode, sipFinding } from './findings.js';
import { LAG_MS, Playout } from './playout.js';
import { RtpSender } from './sender.js';
import type { SipMedia, SipSignal, SipState } from './state.js';

/** Without a packet for so long, the line is lost; in a connection test, so long for the first one. */
const LOST_MS = 15_000;
const TEST_MS = 5_000;
/** Machines answer sooner than people. */
const MACHINE_MS = 2_000;
/** Our payload type for keys, as it is in every offer of `libs/sip`. */
const OUR_EVENTS = 101;
const CODECS = { PCMU: 'mulaw', PCMA: 'alaw' } as const;
/** Static payload types (RFC 3551): both were offered, and may be used in turns. */
const STATIC: Readonly<Record<number, 'mulaw' | 'alaw'>> = { 0: CODECS.PCMU, 8: CODECS.PCMA };
/** Shorter gaps of the line are not listed. */
const SHORTEST_GAP_MS = 60;
const MAX_SHOWN = 100;

const sipWire: WireEntry<SipState> = (state) => (side) => new SipWire(state, side);
export default sipWire;

/** Our side of the media of a telephone call. */
class SipWire implements Wire {
  readonly lagMs = LAG_MS;
  private playout = new Playout();
  /** While an answering machine is possible, until its beep. */
  private beeps: BeepFinder | undefined;
  private readonly keys = new KeyReceiver();
  private readonly agent: OtherSide;
  private sender!: RtpSender;
  private media: SipMedia;
  private answeredAt = 0;
  private openedAt = 0;
  private isReady = false;
  private isStopped = false;
  private heardAt = 0;
  private isHeard = false;
  private hasReports = false;
  private isOnHold = false;
  private hasComfortNoise = false;
  /** Counts the addresses from which packets came. */
  private source = 0;
  private ending: { readonly atMs: number; readonly reason: string } | undefined;

  constructor(
    private readonly state: SipState,
    private readonly side: WireSide,
  ) {
    this.media = state.media;
    this.agent = new OtherSide('', state.secrets);
  }

  open(now: number): void {
    const { answeredAt, answeredAfterMs = Infinity, messages } = this.state;
    if (answeredAfterMs <= MACHINE_MS) this.beeps = new BeepFinder();
    this.answeredAt = answeredAt === null ? now : answeredAt - performance.timeOrigin;
    // Before the answer it rings; senders may be ahead from there on.
    this.playout = new Playout(this.answeredAt);
    this.openedAt = this.heardAt = now;
    const random = randomBytes(10);
    const [ssrc, sequence, timestamp] = [random.readUInt32BE(0), random.readUInt16BE(4), random.readUInt32BE(6)];
    this.sender = new RtpSender((packet) => this.send(packet), { ssrc, sequence, timestamp }, this.media, now);
    for (const { at, direction, text } of messages) this.log(at - performance.timeOrigin, direction, { sip: text });
  }

  tick(now: number): void {
    // The sound that is heard at the answer is played now.
    if (!this.isReady && now >= this.answeredAt + LAG_MS) {
      this.isReady = true;
      const format = { encoding: 'mulaw', rate: TELEPHONE_RATE } as const;
      this.side.ready(this.answeredAt + LAG_MS, { toAgent: format, fromAgent: format });
    }
    if (!this.isReady) this.sender.silence(now);
    for (const { atMs, pcm } of this.playout.take(now)) {
      this.side.play(atMs, pcm);
      if (this.beeps?.hear(atMs, pcm)) this.beepAt(atMs);
    }
    for (const { atMs, pcm } of this.playout.takeLate()) this.side.late(atMs, pcm);
    this.note(now, this.keys.advance(now));
    this.sender.report(now);
    if (this.ending && now >= this.ending.atMs + LAG_MS) return this.side.hangUp(now, this.ending.reason);
    this.watch(now);
  }

  frame(_now: number, pcm: Int16Array): void {
    this.sender.frame(pcm);
  }

  lostFrame(): void {
    this.sender.lose();
  }

  key(now: number, digit: string): void {
    if (this.sender.press(digit)) return;
    this.report(now, 'keys_as_tones', `The key ${digit} was sent as a tone`);
  }

  message(now: number, data: string | Uint8Array): void {
    if (this.isStopped) return;
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    if (isRtcp(bytes)) return this.receiveReport(now, bytes);
    const packet = readRtp(bytes);
    if (isRefused(packet)) return this.malformed(now, bytes, packet.refusal);
    this.heardAt = Math.max(now, this.heardAt);
    this.isHeard = true;
    this.log(now, 'received', () => shown(packet));
    const { payloadType } = packet;
    const isSound = payloadType === this.media.payloadType;
    const encoding = isSound ? CODECS[this.media.codec] : STATIC[payloadType];
    if (encoding) {
      this.sender.rtcp.count(packet, Math.max(0, now));
      return this.playout.receive(packet, encoding, now, String(this.source));
    }
    this.playout.skip(packet);
    // A call that came was answered with the payload types of its offer.
    if (payloadType === OUR_EVENTS || payloadType === this.media.eventPayloadType)
      return this.note(now, this.keys.receive(packet, now));
    if (payloadType === COMFORT_NOISE) {
      this.hasComfortNoise = true;
      return;
    }
    const said = this.agent.excerpt(Buffer.from(packet.payload).toString('utf8')).slice(0, MAX_SHOWN);
    this.log(now, 'received', { unknown: said });
    this.report(now, 'unknown_payload_type', `A packet has the payload type ${payloadType}`);
  }

  signal(now: number, message: JsonValue): void {
    const signal = message as unknown as SipSignal;
    switch (signal.type) {
      case 'message':
        return this.log(now, signal.direction, { sip: signal.text });
      case 'ended':
        return this.endAt(now, signal.reason === '' ? 'The agent hung up' : `The agent hung up: ${signal.reason}`);
      case 'lost':
        return this.side.failed(now, failure('line_lost', `the network ended the call: ${signal.reason}`));
      case 'transfer':
        this.event(now, 'transfer', signal.target);
        return this.endAt(now, `The agent transferred the call to ${signal.target}`);
      case 'disconnected':
        return this.report(now, 'signalling_lost', `The connection ended: ${signal.reason}`);
      case 'next_hop':
        return this.report(now, 'other_next_hop', `ACK and what follows it go to ${signal.address}`);
      case 'media':
        return this.moved(now, signal);
    }
  }

  noted(now: number, what: string): void {
    if (what === 'changed_address') {
      this.source++;
      return this.event(now, 'note', 'The packets of the agent come from another address');
    }
    const [code, detail] = NOTED[what] ?? ['malformed_packet', `A packet is refused: ${what}`];
    this.report(now, code, detail);
  }

  stop(now: number): void {
    this.isStopped = true;
    this.sender.bye(Math.max(0, now));
    const { roundTripMs } = this.sender.rtcp;
    const path =
      roundTripMs === undefined
        ? `The way to the other side is not known: ${this.hasReports ? 'its reports do not answer ours' : 'it sent no RTCP'}`
        : `To the edge of the other side and back: ${Math.round(roundTripMs)} ms, half of it each way`;
    if (this.isHeard) this.event(now, 'note', path);
  }

  review(): readonly WireFinding[] {
    const { gaps, dropped, wrongTimestamps } = this.playout;
    const at = (ms: number) => ms - this.answeredAt - LAG_MS;
    const lostMs = gaps.reduce((sum, { ms }) => sum + ms, 0);
    const long = gaps
      .filter(({ ms }) => ms >= SHORTEST_GAP_MS)
      .map(({ atMs, ms }) => `${seconds(at(atMs))} (${Math.round(ms)} ms)`);
    const listed = long.length === 0 ? '' : `; the longest at ${long.slice(0, 5).join(', ')}`;
    const found = [
      ...(lostMs > 0
        ? [
            {
              ...sipFinding('line_gaps', `${Math.round(lostMs)} ms in ${gaps.length} gaps${listed}`),
              atMs: at(gaps[0]!.atMs),
            },
          ]
        : []),
      ...(dropped > 0 ? [{ ...sipFinding('packets_dropped', `${dropped} packets`), atMs: 0 }] : []),
      ...(wrongTimestamps ? [{ ...sipFinding('wrong_timestamps', wrongTimestamps), atMs: 0 }] : []),
    ];
    return found;
  }

  /** What the line lost, or may have heard at a wrong time, in call time: nothing can be said of the agent there. */
  lineGaps(): VoiceFacts['timing']['stalls'] {
    const { gaps, doubts } = this.playout;
    return [...gaps, ...doubts].map(({ atMs, ms }) => ({ at: atMs - this.answeredAt - LAG_MS, ms }));
  }

  /** Times of the wire are those of arrival, and what is heard then is played later. */
  private event(now: number, type: 'transfer' | 'note', detail: string): void {
    this.side.event(now + LAG_MS, { type, detail });
  }

  private report(now: number, code: SipFindingCode, detail: string): void {
    this.side.finding(now + LAG_MS, sipFinding(code, detail));
  }

  private beepAt(atMs: number): void {
    this.beeps = undefined;
    const detail = `Answered after ${seconds(this.state.answeredAfterMs!)}, and a beep`;
    this.side.finding(atMs, sipFinding('answered_by_machine_possible', detail));
  }

  private log(now: number, direction: 'sent' | 'received', message: object | (() => object)): void {
    if (this.side.isLogged) this.side.log(now + LAG_MS, direction, typeof message === 'function' ? message() : message);
  }

  /** What was heard until then is played first. */
  private endAt(now: number, reason: string): void {
    this.ending ??= { atMs: now, reason };
  }

  private send(packet: Buffer): void {
    this.side.send(packet);
  }

  private moved(now: number, { media, hold, isElsewhere }: SipSignal & { readonly type: 'media' }): void {
    this.media = this.sender.media = media;
    if (hold !== this.isOnHold) this.event(now, 'note', hold ? 'The agent put the call on hold' : 'The hold ended');
    if (isElsewhere) this.event(now, 'note', 'The agent takes sound at another address');
    if (!hold && this.isOnHold) this.heardAt = now;
    this.isOnHold = hold;
  }

  private receiveReport(now: number, bytes: Uint8Array): void {
    const packets = readRtcp(bytes);
    if (isRefused(packets)) return this.malformed(now, bytes, packets.refusal);
    this.heardAt = Math.max(now, this.heardAt);
    this.hasReports ||= packets.some(({ type }) => type === 'report');
    this.log(now, 'received', { rtcp: packets.map(({ type }) => type) });
    // A BYE of RTCP may be forged, and ends nothing.
    this.sender.rtcp.receive(packets, Math.max(0, now));
  }

  private malformed(now: number, bytes: Uint8Array, refusal: string): void {
    this.log(now, 'received', {
      malformed: this.agent.excerpt(Buffer.from(bytes).toString('utf8')).slice(0, MAX_SHOWN),
    });
    this.report(now, 'malformed_packet', `A packet of ${bytes.length} bytes is refused: ${refusal}`);
  }

  private note(now: number, changes: readonly KeyChange[]): void {
    for (const { type, key } of changes) {
      if (type === 'down') this.event(now, 'note', `The agent pressed the key ${key ?? 'of an unknown event'}`);
    }
  }

  private watch(now: number): void {
    if (this.ending || this.isOnHold) return;
    const isTested = this.state.isTest && !this.isHeard && now - this.openedAt >= TEST_MS;
    if (isTested) return this.side.failed(now, failure('line_lost', 'no packet within 5 s'));
    const isSilent = this.hasComfortNoise || this.playout.leavesOutSilence;
    if (isSilent || now - this.heardAt < LOST_MS) return;
    this.side.failed(now, failure('line_lost', `neither RTP nor RTCP for ${LOST_MS / 1_000} s`));
  }
}

/** What the wire log shows of a packet. */
const shown = ({ sequence, timestamp, payloadType, marker, payload }: RtpPacket) => ({
  rtp: { sequence, timestamp, payloadType, ...(marker && { marker }), bytes: payload.length },
});

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
