import { readPacket, receiverReport, rtp } from '../../../../../test/simulators/sip/packets.js';
import { decodeMulaw, encodeMulaw } from '../../../../audio/index.js';
import { MediaCall } from '../../../voice/call/media-call.js';
import { collected, planOf, speech } from '../../../voice/testing/virtual-calls.js';
import type { HeardPiece } from '../../../voice/facts/heard-piece.js';
import type { VoiceCallPlan } from '../../../voice/facts/plan.js';
import type { SipSignal, SipState } from './state.js';
import sipWire from './wire.js';

const STATE: SipState = {
  answeredAt: null,
  media: { codec: 'PCMU', payloadType: 0, eventPayloadType: 96 },
  messages: [],
  isTest: false,
  secrets: [],
};

/** A call whose packets a test sends and reads. */
class Line {
  now = 0;
  readonly sent: Uint8Array[] = [];
  readonly recording = collected();
  readonly pieces: HeardPiece[] = [];
  /** Packets that are late. */
  readonly held: Buffer[] = [];
  readonly media: MediaCall;
  private sequence = 1;
  private timestamp = 160;

  constructor(script: Parameters<typeof planOf>[0], state: Partial<SipState> = {}, more: Partial<VoiceCallPlan> = {}) {
    this.media = new MediaCall(planOf(script, more), sipWire({ ...STATE, ...state }), {
      send: (data) => this.sent.push(data as Uint8Array),
      recording: this.recording.sink,
      onPiece: (piece) => this.pieces.push(piece),
    });
    this.media.start(0);
  }

  /** Ticks every 10 ms, with what happens then. */
  run(ms: number, each: () => void = () => undefined): this {
    for (const end = this.now + ms; this.now < end && !this.media.isOver;) {
      each();
      this.media.tick((this.now += 10));
    }
    return this;
  }

  packet(
    payload: Uint8Array,
    payloadType = 0,
    more: { readonly lost?: number; readonly timestamp?: number; readonly isHeld?: boolean } = {},
  ): this {
    this.sequence += more.lost ?? 0;
    this.timestamp += 160 * (more.lost ?? 0);
    const { sequence, timestamp } = this;
    const bytes = rtp({
      payloadType,
      marker: false,
      sequence,
      timestamp: more.timestamp ?? timestamp,
      ssrc: 7,
      payload,
    });
    if (more.isHeld) this.held.push(bytes);
    else this.media.onMessage(this.now, bytes);
    this.sequence++;
    this.timestamp += 160;
    return this;
  }

  /** A second of audio or of silence in packets of 20 ms. */
  says(pcm: Int16Array): this {
    let next = 0;
    return this.run(1_000, () => {
      if (this.now % 20 === 0) this.packet(encodeMulaw(pcm.subarray(160 * next, 160 * ++next)));
    });
  }

  signal(message: SipSignal): this {
    this.media.onSignal(this.now, message as never);
    return this;
  }

  packets(payloadType: number) {
    return this.sent.flatMap((bytes) => readPacket(bytes) ?? []).filter((packet) => packet.payloadType === payloadType);
  }

  get codes(): string[] {
    return this.media.facts().wireFindings.map(({ code }) => code);
  }
}

const WAITS = [{ type: 'wait', ms: 60_000 }] as const;
const SILENCE = new Int16Array(8_000);

describe('the wire of SIP', () => {
  it('sends a packet in 20 ms from the first moment, without a pause when the call begins', () => {
    const line = new Line(WAITS).run(1_000);
    const packets = line.packets(0);
    expect(packets.length).toBeGreaterThanOrEqual(48);
    expect(packets.map(({ sequence }) => (sequence - packets[0]!.sequence) & 0xffff)).toEqual(packets.map((_, n) => n));
    expect(packets.map(({ timestamp }) => ((timestamp - packets[0]!.timestamp) >>> 0) / 160)).toEqual(
      packets.map((_, n) => n),
    );
    expect(packets.map(({ marker }) => marker)).toEqual(packets.map((_, n) => n === 0));
  });

  it('hears sound when it arrives, and records what the caller said at that time beside it', () => {
    const line = new Line(
      [
        { type: 'wait', ms: 500 },
        { type: 'say', text: 'x', parts: [{ pcm: speech(300), speechStart: 0, speechEnd: 2_400, words: [] }] },
        ...WAITS,
      ],
      {},
      { firstSpeaker: 'caller' },
    );
    line.says(SILENCE).says(speech(1_000)).says(SILENCE);
    line.media.abort(line.now);
    const { agent, caller } = line.media.facts();
    expect(agent).toMatchObject([
      { startMs: expect.closeTo(1_000, -1) as number, endMs: expect.closeTo(2_000, -1) as number },
    ]);
    // 140 ms later than by the clock of the playout: then its packets went out.
    expect(caller[0]).toMatchObject({ startMs: 640, endMs: 940 });
    const [left, right] = [0, 1].map((channel) =>
      decodeMulaw(line.recording.bytes().filter((_, n) => n % 2 === channel)),
    );
    const onset = (pcm: Int16Array) => pcm.findIndex((sample) => Math.abs(sample) > 500) / 8;
    expect([onset(left!), onset(right!)]).toEqual([expect.closeTo(640, -1), expect.closeTo(1_000, -1)]);
  });

  it('sends keys as events with the payload type of the other side, their end three times', () => {
    const line = new Line([{ type: 'press', keys: '5#' }, ...WAITS], {}, { firstSpeaker: 'caller' }).run(1_500);
    const events = line.packets(96).map(({ payload, timestamp }) => [payload[0], payload[1]! >> 7, timestamp]);
    expect(events.map(([key, end]) => `${key}${end}`)).toEqual([
      ...['50', '50', '50', '50'],
      ...['51', '51', '51'],
      ...['110', '110', '110', '110'],
      ...['111', '111', '111'],
    ]);
    expect(new Set(events.map(([, , timestamp]) => timestamp)).size).toBe(2);
  });

  it('sends keys as tones, with a finding, where the other side takes no events', () => {
    const media = { ...STATE.media, eventPayloadType: null };
    const line = new Line([{ type: 'press', keys: '5' }, ...WAITS], { media }, { firstSpeaker: 'caller' }).run(1_000);
    const loud = line
      .packets(0)
      .filter(({ payload }) => decodeMulaw(payload).some((sample) => Math.abs(sample) > 2_000));
    expect(loud).toHaveLength(5);
    line.media.abort(line.now);
    expect(line.codes).toContain('keys_as_tones');
  });

  it('notes keys of the agent once, though their end comes three times', () => {
    const line = new Line(WAITS).run(200);
    for (const end of [0, 0, 1, 1, 1])
      line.packet(Uint8Array.of(9, end << 7, 3, 32), 101, { timestamp: 9_000 }).run(20);
    line.media.abort(line.now);
    const { platformEvents } = line.media.facts();
    expect(platformEvents.filter(({ detail }) => detail === 'The agent pressed the key 9')).toHaveLength(1);
  });

  it('is lost after 15 s without a packet, and not while the other side leaves out silence or holds the call', () => {
    const silent = new Line(WAITS).run(16_000);
    expect(silent.media.facts().failure).toMatchObject({ code: 'line_lost', fault: 'infrastructure' });
    // Comfort noise once, and then nothing (RFC 3389, section 4).
    const comfortable = new Line(WAITS).run(500).packet(Uint8Array.of(60), 13).run(16_000);
    const held = new Line(WAITS)
      .run(500)
      .signal({ type: 'media', hold: true, isElsewhere: false, media: STATE.media })
      .run(16_000);
    const reporting = new Line(WAITS);
    reporting.run(16_000, () => reporting.media.onMessage(reporting.now, receiverReport(7)));
    expect([comfortable, held, reporting].map(({ media }) => media.isOver)).toEqual([false, false, false]);
  });

  it('says in a connection test after 5 s that no packet came', () => {
    const line = new Line(WAITS, { isTest: true }, { listenMs: 1_000 }).run(6_000);
    expect(line.media.facts().failure).toMatchObject({ code: 'line_lost' });
    expect(line.now).toBeLessThan(5_100);
  });

  it('goes on after a BYE of RTCP, which may be forged', () => {
    const line = new Line(WAITS).run(500);
    line.media.onMessage(line.now, Buffer.from([0x80, 201, 0, 1, 0, 0, 0, 7, 0x81, 203, 0, 1, 0, 0, 0, 7]));
    expect(line.run(500).media.isOver).toBe(false);
  });

  it('ends with the BYE of the agent, after what was heard until then', () => {
    const line = new Line(WAITS).says(SILENCE).says(speech(1_000));
    line.signal({ type: 'ended', reason: 'done' }).run(500);
    const { end, agent } = line.media.facts();
    expect(end).toMatchObject({ by: 'agent', code: 'agent_hung_up', reason: 'The agent hung up: done' });
    expect(end.atMs).toBeCloseTo(2_000, -1);
    expect(agent[0]!.endMs).toBeCloseTo(2_000, -1);
  });

  it('is lost if the network ended it: the agent did not hang up', () => {
    const line = new Line(WAITS).says(SILENCE).signal({ type: 'lost', reason: 'Temporary Failure' });
    expect(line.run(500).media.facts().failure).toMatchObject({ code: 'line_lost', fault: 'infrastructure' });
  });

  it('lists what the line lost, and what the packets have that they should not', () => {
    const line = new Line(WAITS).says(speech(1_000));
    for (let n = 0; n < 20; n++)
      line.packet(encodeMulaw(speech(20)), 0, { lost: n === 5 ? 10 : 0 }).run(n === 4 ? 220 : 20);
    line.packet(Uint8Array.of(1, 2), 77).media.onMessage(line.now, Uint8Array.of(9));
    line.run(300).media.onNoted(line.now, 'foreign_address');
    line.media.abort(line.now);
    const { timing, wireFindings } = line.media.facts();
    expect(timing.lineGaps).toEqual([{ at: expect.closeTo(1_100, -2) as number, ms: 200 }]);
    expect(wireFindings.map(({ severity }) => severity)).not.toContain('error');
    expect(line.codes.sort()).toEqual(['foreign_packets', 'line_gaps', 'malformed_packet', 'unknown_payload_type']);
  });

  it.each([
    ['up to half a second late is in the recording and in what is recognised, at its time', 300, true],
    ['later is in neither', 700, false],
  ])('sound that comes %s, and a gap of the line', (_what, lateMs, isKept) => {
    const line = new Line(WAITS).says(SILENCE);
    const sound = encodeMulaw(speech(20));
    for (let n = 0; n < 90; n++) {
      line.packet(sound, 0, { isHeld: n >= 40 && n < 45 }).run(20);
      if (20 * (n - 45) !== lateMs) continue;
      for (const bytes of line.held.splice(0)) line.media.onMessage(line.now, bytes);
    }
    line.says(SILENCE).run(500).media.abort(line.now);
    const { timing, agent } = line.media.facts();
    const { at, ms } = timing.lineGaps![0]!;
    expect([timing.lineGaps!.length, ms]).toEqual([1, 100]);
    const isLoud = (pcm: Int16Array) => pcm.subarray(80, 720).some((one) => Math.abs(one) > 500);
    const right = decodeMulaw(line.recording.bytes().filter((_, n) => n % 2 === 1));
    const [piece] = line.pieces;
    expect(isLoud(right.subarray(8 * at))).toBe(isKept);
    expect(isLoud(piece!.pcm.subarray(8 * (at - piece!.startMs)))).toBe(isKept);
    // Neither the turns nor their times know of it.
    expect(agent).toMatchObject([{ startMs: expect.closeTo(1_000, -1) as number }]);
  });

  // pjsip/pjproject#4005: media is sent before the 200. roomkit-live/roomkit#36: sound is sent 240 ms ahead.
  it('learns from packets before the answer that the sender is ahead, and hears its sound when it is due', () => {
    const line = new Line(WAITS, { answeredAt: performance.timeOrigin + 300 }).run(280);
    const silence = encodeMulaw(new Int16Array(160));
    for (let n = 0; n < 12; n++) line.packet(silence);
    for (let n = 12; n < 51; n++) line.packet(silence).run(20);
    line.says(speech(1_000)).says(SILENCE);
    line.media.abort(line.now);
    const { agent, timing } = line.media.facts();
    // The 52nd packet of 20 ms is due 1,020 ms after the first one, which came 20 ms before the answer.
    expect(agent).toMatchObject([{ startMs: expect.closeTo(1_000, -1) as number }]);
    expect(timing.lineGaps).toBeUndefined();
    expect(line.codes).toEqual([]);
  });

  it('is lost after 15 s without a packet, also if the ring tone left out silence', () => {
    const line = new Line(WAITS, { answeredAt: performance.timeOrigin + 2_000 });
    const ring = encodeMulaw(speech(20));
    for (let n = 0; n < 50; n++) {
      line.packet(ring, 0, { timestamp: 160 * (n < 25 ? n : n + 25) }).run(n === 24 ? 520 : 20);
    }
    line.run(500).says(SILENCE).run(17_000);
    expect(line.media.facts().failure).toMatchObject({ code: 'line_lost' });
  });

  it.each([
    ['soon, and a beep follows', 1_500, ['answered_by_machine_possible']],
    ['later', 2_500, []],
  ])('says that a machine may have answered if the answer comes %s', (_when, answeredAfterMs, codes) => {
    const line = new Line(WAITS, { answeredAfterMs }).says(SILENCE).says(speech(1_000)).says(SILENCE);
    line.says(speech(1_000)).says(SILENCE).media.abort(line.now);
    const { wireFindings, failure } = line.media.facts();
    expect([line.codes, failure]).toEqual([codes, undefined]);
    expect(wireFindings.map(({ severity }) => severity)).not.toContain('error');
  });

  it.each([
    ['count milliseconds', (n: number) => 20 * n],
    ['count samples at 16 kHz', (n: number) => 320 * n],
    ['stand still', () => 7],
    ['are 0 in single packets (signalwire/freeswitch#801)', (n: number) => (n % 20 === 9 ? 0 : 160 * n)],
  ])('hears an agent whose timestamps %s, with a finding', (_what, timestampOf) => {
    const line = new Line(WAITS);
    const pcm = Int16Array.from([...SILENCE, ...speech(2_000), ...SILENCE]);
    for (let n = 0; n < 200; n++)
      line.packet(encodeMulaw(pcm.subarray(160 * n, 160 * n + 160)), 0, { timestamp: timestampOf(n) }).run(20);
    line.run(300).media.abort(line.now);
    const { agent, timing, wireFindings } = line.media.facts();
    expect(agent).toEqual([
      expect.objectContaining({ startMs: expect.closeTo(1_000, -1), endMs: expect.closeTo(3_000, -1) }),
    ]);
    const right = decodeMulaw(line.recording.bytes().filter((_, n) => n % 2 === 1));
    const loud = right.filter((sample) => Math.abs(sample) > 500).length;
    expect(loud).toBe(speech(2_000).filter((sample) => Math.abs(sample) > 500).length);
    expect(wireFindings).toEqual([expect.objectContaining({ code: 'wrong_timestamps', severity: 'warning' })]);
    // What was heard before the clock was known is not judged.
    expect((timing.lineGaps ?? []).every(({ at, ms }) => at + ms < 300)).toBe(true);
  });

  it('is lost after 15 s without a packet, also if another clock seemed to leave out silence', () => {
    const line = new Line(WAITS);
    for (let n = 0; n < 50; n++) line.packet(encodeMulaw(speech(20)), 0, { timestamp: 480 * n }).run(20);
    expect(line.run(16_000).media.facts().failure).toMatchObject({ code: 'line_lost' });
  });

  it('leaves out what came before the answer: it rang', () => {
    const line = new Line(WAITS, { answeredAt: performance.timeOrigin + 1_000 }).says(speech(1_000)).says(SILENCE);
    line.run(500).media.abort(line.now);
    expect(line.media.facts().agent).toEqual([]);
  });
});
