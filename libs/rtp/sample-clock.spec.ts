import { Random } from '../audio/index.js';
import { ReceiveAnchor, type RtpPacket } from './index.js';
import { DELAY, errors, frozen, receive, type Sent, share, sound, steady } from './testing/streams.js';

/** The same packets with timestamps of another clock. */
const timed = (sent: readonly Sent[], timestampOf: (n: number, one: Sent) => number): Sent[] =>
  sent.map((one, n) => ({ ...one, packet: { ...one.packet, timestamp: timestampOf(n, one) >>> 0 } }));

const jittered = (sent: readonly Sent[], jitterMs: number, random = new Random(5)): Sent[] =>
  sent.map((one) => ({ ...one, delayMs: DELAY + random.between(0, jitterMs) }));

describe('SampleClock', () => {
  it.each([
    ['milliseconds', 20],
    ['packets', 1],
    ['nothing', 0],
    ['half of the samples (baresip/baresip#753, #1834)', 80],
    ['samples at 16 kHz (traud/asterisk-evs#5)', 320],
    ['samples at 24 kHz', 480],
    ['samples at 48 kHz', 960],
    ['backwards', -160],
  ])('places the sound of a sender whose timestamps count %s by its packets', (_what, ticks) => {
    for (const jitterMs of [0, 40, 80]) {
      const random = new Random(jitterMs);
      const all = timed(jittered(steady(1_500), jitterMs, random), (n) => 4_294_967_000 + ticks * n);
      const sent = all.filter(() => random.next() > 0.02);
      const anchor = new ReceiveAnchor();
      const placed = receive(sent, anchor);
      expect([anchor.clock.isWrong, anchor.dropped]).toEqual([true, 0]);
      expect(placed).toHaveLength(sent.length);
      expect(share(errors(sent, placed).slice(25), 25)).toBeGreaterThan(0.95);
      const [doubt, ...more] = anchor.clock.doubts;
      expect(more).toEqual([]);
      expect(doubt!.atMs + doubt!.ms).toBeLessThan(700);
    }
  });

  it('places the sound of a sender with random timestamps by its packets', () => {
    const random = new Random(1);
    const sent = timed(steady(500), () => random.between(0, 2 ** 32));
    const placed = receive(sent);
    expect(share(errors(sent, placed).slice(25), 1e-6)).toBe(1);
  });

  it('places its sounds when they come if it counts milliseconds and leaves out silence', () => {
    const sent = timed(frozen(20), (n) => 20 * n + 1_500 * Math.floor(n / 40));
    const placed = receive(sent);
    expect(share(errors(sent, placed).slice(5), 1)).toBe(1);
    expect(placed.filter(({ silenceMs }) => silenceMs > 1_000)).toHaveLength(19);
  });

  it.each([
    ['steady sound', steady(500)],
    ['80 ms of jitter', jittered(steady(500), 80)],
    ['short sounds with as much silence', steady(500, { seconds: 0.04 }).map((one, n) => stretched(one, n))],
    ['timestamps of the wall clock (asterisk/asterisk#1751)', wallClock(steady(500), 10)],
    ['silence that is left out', frozen(20)],
    ['sound that is sent ahead', frozen(20, { ahead: 240 })],
    ['lost packets', steady(500).filter((_, n) => n % 7 > 2)],
    ['restarts at 0 (meetecho/janus-gateway#2646)', timed(steady(500), (n) => 160 * (n % 100))],
    ['restarts at any time (signalwire/freeswitch#949)', timed(steady(500), (n) => 160 * n + Math.floor(n / 50) ** 9)],
  ])('takes the clock of a sender with %s as it is', (_what, sent) => {
    const anchor = new ReceiveAnchor();
    receive(sent, anchor);
    expect([anchor.clock.isWrong, anchor.clock.doubts]).toEqual([false, []]);
  });

  it('places a packet with the timestamp 0 among others by its sequence number (signalwire/freeswitch#801)', () => {
    const isZero = (n: number) => n % 50 === 25;
    const sent = jittered(steady(1_000), 30);
    const odd = timed(sent, (n, { packet }) => (isZero(n) ? 0 : packet.timestamp));
    const anchor = new ReceiveAnchor();
    const [plain, placed] = [receive(sent), receive(odd, anchor)];
    expect(placed.map(({ heardMs }) => heardMs)).toEqual(plain.map(({ heardMs }) => heardMs));
    expect(anchor.clock).toMatchObject({ hasZero: true, isWrong: false, doubts: [] });
  });

  it('does not know where sound is that comes at once with pauses between its packets', () => {
    const burst = Array.from({ length: 40 }, (_, n): Sent => ({ sentMs: 1_000 + n, packet: sound(n, 400 * n) }));
    const anchor = new ReceiveAnchor();
    receive(burst, anchor);
    expect(anchor.clock).toMatchObject({ isWrong: false, doubts: [{ atMs: 1_030, ms: 39 }] });
  });
});

/** Sent every 40 ms with the timestamps of that. */
function stretched(one: Sent, n: number): Sent {
  const packet: RtpPacket = { ...one.packet, timestamp: 320 * n };
  return { ...one, packet };
}

/** Sent up to some milliseconds late, with the time of sending as timestamp. */
function wallClock(sent: readonly Sent[], lateMs: number): Sent[] {
  const random = new Random(2);
  return sent.map((one) => {
    const sentMs = one.sentMs + random.between(0, lateMs);
    return { ...one, sentMs, packet: { ...one.packet, timestamp: Math.round(8 * sentMs) } };
  });
}
