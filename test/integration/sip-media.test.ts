import { randomBytes } from 'node:crypto';
import { connect as connectByTls } from 'node:tls';
import { decodeMulaw, tone, wavHeader } from '../../libs/audio/index.js';
import {
  bindPortPair,
  isRefused,
  isRtcp,
  type KeyChange,
  KeyReceiver,
  keyReports,
  type Placement,
  type PortPair,
  ReceiveAnchor,
  readRtcp,
  readRtp,
  RtcpSession,
  SrtpReceiver,
  SrtpSender,
  writeRtp,
} from '../../libs/rtp/index.js';
import {
  type MediaAnswer,
  mediaOffer,
  parseSipAddress,
  SipCall,
  type SipConnect,
  SipEndpoint,
} from '../../libs/sip/index.js';
import { connectByTcp } from '../../libs/sip/testing/far-side.js';
import { Baresip } from '../support/baresip.js';
import { describeWith } from '../support/programs.js';
import { until } from '../support/until.js';

/** Milliseconds in the file at which a tone of 100 ms begins. */
const MARKS = [500, 1_500, 2_620, 4_005, 6_001, 8_250];
const FILE_MS = 11_000;

function markedFile(): Buffer {
  const pcm = new Int16Array(8 * FILE_MS);
  for (const mark of MARKS) pcm.set(tone([700], { rate: 8_000, ms: 100, dbfs: -10 }), 8 * mark);
  const data = Buffer.from(pcm.buffer);
  return Buffer.concat([wavHeader({ encoding: 'pcm16', rate: 8_000, channels: 1 }, data.length), data]);
}

/** Times at which sound begins after silence. */
function onsets(placements: readonly Placement[]): number[] {
  const loud = placements.flatMap(({ packet, heardMs }) =>
    [...decodeMulaw(packet.payload)].flatMap((sample, index) => (Math.abs(sample) > 500 ? [heardMs + index / 8] : [])),
  );
  return loud.filter((at, index) => at - (loud[index - 1] ?? -Infinity) > 200);
}

interface Keys {
  readonly own: Uint8Array;
  readonly theirs: Uint8Array;
}

/** One end of the media of a call, which sends silence and reports. */
class Telephone {
  readonly placements: Placement[] = [];
  readonly keys: KeyChange[] = [];
  /** Of RTP. */
  readonly refusals: string[] = [];
  readonly anchor = new ReceiveAnchor();
  readonly reports: RtcpSession;
  private readonly ssrc = randomBytes(4).readUInt32BE();
  private readonly receivedKeys = new KeyReceiver();
  private readonly sender: SrtpSender | undefined;
  private readonly receiver: SrtpReceiver | undefined;
  private readonly timer: NodeJS.Timeout;
  private readonly startMs = performance.now();
  private sequence = 0;
  private sent = 0;
  private pressed: { key: string; atPacket: number } | undefined;

  constructor(
    private readonly pair: PortPair,
    private readonly far: MediaAnswer,
    keys: Keys | undefined,
  ) {
    this.reports = new RtcpSession(this.ssrc, 'test');
    this.sender = keys && new SrtpSender(keys.own);
    this.receiver = keys && new SrtpReceiver(keys.theirs);
    pair.rtp.on('message', (bytes) => this.received(bytes));
    pair.rtcp.on('message', (bytes) => this.receivedReport(bytes));
    this.timer = setInterval(() => this.send(), 20);
  }

  press(key: string): void {
    this.pressed = { key, atPacket: this.sent };
  }

  close(): void {
    clearInterval(this.timer);
    this.pair.rtp.close();
    this.pair.rtcp.close();
  }

  private received(bytes: Uint8Array): void {
    if (isRtcp(bytes)) return this.receivedReport(bytes);
    const plain = this.receiver ? this.receiver.unprotect(bytes) : bytes;
    const packet = isRefused(plain) ? plain : readRtp(plain);
    if (isRefused(packet)) return void this.refusals.push(packet.refusal);
    const now = performance.now();
    if (packet.payloadType === this.far.eventPayloadType) {
      this.anchor.skip(packet);
      this.keys.push(...this.receivedKeys.receive(packet, now));
      return;
    }
    this.reports.count(packet, now);
    this.placements.push(...this.anchor.receive(packet, now));
  }

  private receivedReport(bytes: Uint8Array): void {
    const plain = this.receiver ? this.receiver.unprotectRtcp(bytes) : bytes;
    const packets = isRefused(plain) ? plain : readRtcp(plain);
    // baresip encrypts neither its first packet nor BYE.
    if (!isRefused(packets)) this.reports.receive(packets, performance.now());
  }

  private send(): void {
    const now = performance.now();
    this.placements.push(...this.anchor.advance(now));
    for (; this.startMs + 20 * this.sent <= now; this.sent += 1) {
      const timestamp = 160 * this.sent;
      const sound = { marker: false, payloadType: 0, timestamp, payload: new Uint8Array(160).fill(0xff) };
      const packet = this.keyReport() ?? sound;
      const bytes = writeRtp({ ...packet, sequence: this.sequence++, ssrc: this.ssrc });
      this.pair.rtp.send(this.sender ? this.sender.protect(bytes) : bytes, this.far.port, this.far.address);
      if (this.sent % 50 !== 49) continue;
      const report = this.reports.report(now, { timestamp, packets: this.sent, octets: 160 * this.sent });
      const secured = this.sender ? this.sender.protectRtcp(report) : report;
      this.pair.rtcp.send(secured, this.far.rtcpPort, this.far.address);
    }
  }

  /** The report of the pressed key that is due instead of sound. */
  private keyReport() {
    if (this.pressed === undefined || this.far.eventPayloadType === undefined) return undefined;
    const { key, atPacket } = this.pressed;
    const report = keyReports(key, 200)[this.sent - atPacket];
    if (report === undefined) return void (this.pressed = undefined);
    const { marker, timestampOffset, payload } = report;
    const timestamp = 160 * atPacket + timestampOffset;
    return { marker, payloadType: this.far.eventPayloadType, timestamp, payload };
  }
}

describeWith('baresip', 'The media of a call to baresip', () => {
  let baresip: Baresip;
  afterEach(() => baresip.stop());

  it.each([
    ['over TCP', 'tcp', '', undefined],
    ['with SRTP, over TLS', 'tls', ';mediaenc=srtp-mand', randomBytes(30)],
  ] as const)('%s is placed as it was said, and has keys and reports both ways', async (_, transport, account, own) => {
    baresip = await Baresip.start({ says: markedFile(), account });
    const connectByTlsTo: SipConnect = ({ host, port }) =>
      new Promise((resolve, reject) => {
        const trust = { ca: baresip.certificate, checkServerIdentity: () => undefined };
        const socket = connectByTls({ host, port, ...trust }, () => resolve(socket));
        socket.on('error', reject);
      });
    const port = baresip.port + (transport === 'tls' ? 1 : 0);
    const address = parseSipAddress(`sip:agent@127.0.0.1:${port};transport=${transport}`);
    const connect = transport === 'tls' ? connectByTlsTo : connectByTcp;
    const endpoint = await SipEndpoint.open({ connect, address, userAgent: 'test' });
    const pair = await bindPortPair('127.0.0.1');
    const srtpKey = own && { srtpKey: own.toString('base64') };
    const offer = mediaOffer({ address: '127.0.0.1', port: pair.port, session: 1, ...srtpKey });
    let isOver = false;
    const call = new SipCall(
      endpoint,
      { target: address, offer, srtp: own !== undefined },
      { ended: () => (isOver = true) },
    );
    const answer = await call.result;
    if (!('media' in answer)) throw new Error(answer.reason);
    const { media } = answer;
    const telephone = new Telephone(pair, media, own && { own, theirs: Buffer.from(media.srtpKey ?? '', 'base64') });
    setTimeout(() => telephone.press('7'), 1_000);
    setTimeout(() => baresip.command('sndcode', '5'), 3_000);
    setTimeout(() => baresip.command('sndcode', '\u0004'), 3_300);
    // At the end of its file baresip hangs up.
    await until('baresip hangs up', () => isOver, 60_000);
    telephone.close();
    endpoint.close();
    const [first = 0, ...others] = onsets(telephone.placements);
    expect([0, ...others.map((at) => Math.round(at - first))]).toEqual(MARKS.map((mark) => mark - MARKS[0]!));
    // baresip says the first 180 ms of its file at once: nothing of them is late, lost or silence.
    expect(telephone.placements.filter(({ lostMs, silenceMs }) => lostMs + silenceMs > 0)).toEqual([]);
    expect(telephone.anchor.dropped).toBe(0);
    expect(telephone.refusals).toEqual([]);
    expect(telephone.keys.map(({ type, key }) => `${key} ${type}`)).toEqual(['5 down', '5 up']);
    expect(baresip.events).toContainEqual(expect.objectContaining({ type: 'CALL_DTMF_START', param: '7' }));
    expect(telephone.reports.roundTripMs).toBeGreaterThanOrEqual(0);
  });
});
