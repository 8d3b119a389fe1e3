import {
  type KeyChange,
  KeyReceiver,
  keyReports,
  readTelephoneEvents,
  type RtpPacket,
  type TelephoneEvent,
  writeTelephoneEvent,
} from './index.js';

interface Report {
  readonly at?: number;
  readonly event?: number;
  readonly timestamp?: number;
  readonly duration: number;
  readonly end?: boolean;
  readonly marker?: boolean;
  readonly sequence?: number;
}

function receive(reports: readonly Report[], receiver = new KeyReceiver()): KeyChange[] {
  return reports.flatMap(({ at, event = 5, timestamp = 8_000, duration, end = false, marker = false, sequence }, n) => {
    const payload = writeTelephoneEvent({ event, isEnd: end, volume: 10, duration });
    const packet: RtpPacket = { marker, payloadType: 101, sequence: sequence ?? n, timestamp, ssrc: 1, payload };
    return receiver.receive(packet, at ?? n * 20);
  });
}

const down = (key: string, timestamp = 8_000): object => ({ type: 'down', key, timestamp });
const up = (key: string, durationMs: number, isEndLost = false): object => ({ type: 'up', key, durationMs, isEndLost });

describe('telephone events', () => {
  it('reads and writes the fields of RFC 4733, section 2.3', () => {
    expect(readTelephoneEvents(Buffer.from('0b8a0640', 'hex'))).toEqual([
      { event: 11, isEnd: true, volume: 10, duration: 1_600 },
    ]);
    expect(
      Buffer.from(writeTelephoneEvent({ event: 11, isEnd: true, volume: 10, duration: 1_600 })).toString('hex'),
    ).toBe('0b8a0640');
    expect(readTelephoneEvents(Buffer.alloc(3))).toEqual({ refusal: 'wrong_event_length' });
    expect(readTelephoneEvents(Buffer.alloc(0))).toEqual({ refusal: 'wrong_event_length' });
    expect(readTelephoneEvents(Buffer.alloc(1_400))).toEqual({ refusal: 'wrong_event_length' });
  });

  it('sends a key as growing durations from 20 ms on, the last one three times (pjproject#361, pjproject#1582)', () => {
    const reports = keyReports('#', 100);
    const events = reports.map(({ payload }) => (readTelephoneEvents(payload) as readonly TelephoneEvent[])[0]!);
    expect(reports.map(({ atMs, marker, timestampOffset }) => [atMs, marker, timestampOffset])).toEqual([
      [20, true, 0],
      ...[40, 60, 80, 100, 120, 140].map((atMs) => [atMs, false, 0]),
    ]);
    expect(events.map(({ duration, isEnd }) => [duration, isEnd])).toEqual([
      ...[160, 320, 480, 640].map((duration) => [duration, false]),
      ...[800, 800, 800].map((duration) => [duration, true]),
    ]);
    expect(() => keyReports('x', 100)).toThrow(RangeError);
    expect(() => keyReports('12', 100)).toThrow(RangeError);
  });

  it.each([40, 100, 8_000, 20_000])('receives what it sends for %i ms, also in segments of 65,535 ticks', (ms) => {
    const receiver = new KeyReceiver();
    const changes = keyReports('7', ms).flatMap(({ atMs, marker, timestampOffset, payload }, sequence) =>
      receiver.receive({ marker, payloadType: 96, sequence, timestamp: 500 + timestampOffset, ssrc: 9, payload }, atMs),
    );
    expect(changes).toMatchObject([down('7', 500), up('7', ms)]);
  });

  it('ignores missing markers (livekit/sip#585, livekit/sip#742), repeated ends and misordered reports', () => {
    const reports: Report[] = [
      { duration: 320, sequence: 1 },
      { duration: 160, sequence: 0 },
      { duration: 800, end: true, sequence: 4 },
      { duration: 480, sequence: 2 },
      { duration: 800, end: true, sequence: 5 },
      { duration: 800, end: true, sequence: 6 },
    ];
    expect(receive(reports)).toMatchObject([down('5'), up('5', 100)]);
  });

  it('ignores a late end of a key after the next key went down', () => {
    const reports = [
      { duration: 800, end: true },
      { event: 6, timestamp: 16_000, duration: 160, sequence: 9 },
      { duration: 800, end: true, sequence: 1 },
      { event: 6, timestamp: 16_000, duration: 800, end: true, sequence: 10 },
    ];
    expect(receive(reports)).toMatchObject([down('5'), up('5', 100), down('6', 16_000), up('6', 100)]);
  });

  it('tells the same key pressed twice from one press, also if all ends of the first one are lost', () => {
    const twice = [
      { duration: 160, marker: true },
      { duration: 800, end: true },
      { duration: 160, timestamp: 9_600, sequence: 2 },
      { duration: 800, timestamp: 9_600, end: true, sequence: 3 },
    ];
    expect(receive(twice)).toMatchObject([down('5'), up('5', 100), down('5', 9_600), up('5', 100)]);
    expect(receive(twice.filter((_, n) => n !== 1))).toMatchObject([
      down('5'),
      up('5', 20, true),
      down('5', 9_600),
      up('5', 100),
    ]);
  });

  it('keeps one key over a second without reports (unispeech/asterisk-unimrcp#44) and ends it after two', () => {
    const reports = [
      { at: 0, duration: 160 },
      { at: 20, duration: 320 },
      { at: 1_700, duration: 1_696 * 8, end: true },
    ];
    const receiver = new KeyReceiver();
    expect(receive(reports.slice(0, 2), receiver)).toMatchObject([down('5')]);
    expect(receiver.advance(1_600)).toEqual([]);
    expect(receive(reports.slice(2), receiver)).toMatchObject([up('5', 1_696)]);
    const lost = new KeyReceiver();
    receive(reports.slice(0, 2), lost);
    expect(lost.advance(2_020)).toMatchObject([up('5', 40, true)]);
    expect(lost.advance(9_000)).toEqual([]);
    expect(receive([{ at: 3_000, duration: 24_000, end: true, sequence: 3 }], lost)).toEqual([]);
  });

  it('takes reports whose RTP time moves with the duration as one key (pjsip/pjproject#363)', () => {
    const moving = [160, 320, 480, 640, 800, 800, 800].map((duration, n) => {
      return { duration, timestamp: 8_000 + 160 * n, end: n >= 4, marker: n === 0 };
    });
    expect(receive(moving)).toMatchObject([down('5'), up('5', 100)]);
  });

  it('reads several events of one packet, and events other than keys', () => {
    const payload = Buffer.from('058a0320068a0320', 'hex');
    const packet = { marker: true, payloadType: 101, sequence: 1, timestamp: 100, ssrc: 1, payload };
    expect(new KeyReceiver().receive(packet, 0)).toMatchObject([
      down('5', 100),
      up('5', 100),
      down('6', 900),
      up('6', 100),
    ]);
    expect(receive([{ event: 16, duration: 160, end: true }])).toMatchObject([
      { event: 16, key: undefined },
      { event: 16 },
    ]);
  });
});
