import { Random } from '../audio/index.js';
import { PLAYOUT_DELAY_MS, ReceiveAnchor } from './index.js';
import { DELAY, errors, frozen, receive, share, sound, steady, sum } from './testing/streams.js';

describe('ReceiveAnchor', () => {
  it('places steady sound at its arrival, across the wrap of sequence number and timestamp', () => {
    const sent = steady(1_000);
    const placed = receive(sent);
    expect(placed).toHaveLength(1_000);
    expect(share(errors(sent, placed), 1e-6)).toBe(1);
    expect(placed.every(({ lateMs, lostMs, silenceMs }) => lateMs + lostMs + silenceMs === 0)).toBe(true);
  });

  it.each([0, 20, 40, 60, 80])('keeps 95 %% of the times within 25 ms at %i ms of jitter and 2 %% loss', (jitterMs) => {
    const random = new Random(jitterMs);
    const sent = steady(3_000).map((one) => ({ ...one, delayMs: DELAY + random.between(0, jitterMs) }));
    const placed = receive(sent.filter(() => random.next() > 0.02));
    expect(share(errors(sent, placed), 25)).toBeGreaterThan(0.95);
    expect(sum(placed.map(({ silenceMs }) => silenceMs))).toBeLessThan(600);
  });

  it('is not moved by jitter up to the playout delay', () => {
    const random = new Random(7);
    const sent = steady(2_000).map((one) => ({ ...one, delayMs: DELAY + random.between(0, PLAYOUT_DELAY_MS - 11) }));
    const placed = receive(sent);
    expect(placed.filter(({ lateMs }) => lateMs > 0)).toEqual([]);
    expect(share(errors(sent, placed), 11)).toBe(1);
  });

  it.each([80, 300, 480])(
    "keeps the times through a stall of the network of %i ms: the gap is the line's",
    (stallMs) => {
      const sent = steady(200).map((one) => {
        const held = one.sentMs >= 1_000 && one.sentMs < 1_000 + stallMs;
        return held ? { ...one, delayMs: DELAY + 1_000 + stallMs - one.sentMs } : one;
      });
      const placed = receive(sent);
      expect(placed).toHaveLength(200);
      expect(share(errors(sent, placed), 1e-6)).toBe(1);
      expect(Math.max(...placed.map(({ lateMs }) => lateMs))).toBe(stallMs - PLAYOUT_DELAY_MS);
      expect(sum(placed.map(({ silenceMs, lostMs }) => silenceMs + lostMs))).toBe(0);
    },
  );

  it('drops what comes more than 500 ms after its play time', () => {
    const anchor = new ReceiveAnchor();
    const sent = steady(200).map((one, n) => (n === 100 ? { ...one, delayMs: DELAY + 600 } : one));
    expect(receive(sent, anchor)).toHaveLength(199);
    expect(anchor.dropped).toBe(1);
  });

  it.each([0, 40])(
    'follows a sender whose timestamp stands still in silence (bwmarrin/discordgo#1695), %i ms jitter',
    (jitterMs) => {
      const random = new Random(3);
      const sent = frozen(30).map((one) => ({ ...one, delayMs: DELAY + random.between(0, jitterMs) }));
      const placed = receive(sent);
      expect(placed).toHaveLength(sent.length);
      expect(share(errors(sent, placed), 25)).toBeGreaterThan(0.95);
      const silences = placed.map(({ silenceMs }) => silenceMs).filter((ms) => ms > 0);
      expect(silences).toHaveLength(29);
      expect(silences.every((ms) => Math.abs(ms - 1_500) <= jitterMs)).toBe(true);
    },
  );

  it('follows such a sender when the first packets of its sounds are lost', () => {
    const sent = frozen(20);
    const placed = receive(sent.filter((_, n) => n % 40 !== 0));
    expect(share(errors(sent, placed), 1)).toBe(1);
  });

  it.each([80, 160, 240])(
    'hears a sender that sends %i ms ahead when its first packet comes (roomkit-live/roomkit#36)',
    (ahead) => {
      const sent = frozen(20, { ahead });
      const placed = receive(sent);
      expect(placed).toHaveLength(sent.length);
      placed.forEach(({ heardMs }, n) => {
        expect(heardMs).toBeCloseTo(Math.floor(n / 40) * 2_300 + (n % 40) * 20 + DELAY, 6);
      });
    },
  );

  it('hears a sender with a running clock that sends ahead when its first packet comes', () => {
    const sent = frozen(20, { ahead: 240 }).map((one, n) => {
      const spurt = Math.floor(n / 40);
      return { ...one, packet: { ...one.packet, marker: n % 40 === 0, timestamp: 160 * n + spurt * 12_000 } };
    });
    receive(sent).forEach(({ heardMs, silenceMs }, n) => {
      expect(heardMs).toBeCloseTo(Math.floor(n / 40) * 2_300 + (n % 40) * 20 + DELAY, 6);
      expect(silenceMs).toBeCloseTo(n % 40 === 0 && n > 0 ? 1_500 : 0, 6);
    });
  });

  it('takes the packets of the first second that come at once for a stall, not for sound sent ahead', () => {
    const sent = steady(200).map((one, n) => (n < 50 ? { ...one, delayMs: DELAY + 980 - 20 * n } : one));
    const placed = receive(sent);
    expect(errors(sent, placed).filter((error) => Math.abs(error) > 1)).toEqual([]);
    expect(placed.filter(({ lateMs }) => lateMs > 0).length).toBeGreaterThan(20);
  });

  it.each([40, 80])('recognises sound sent ahead whose packets are misordered by %i ms of jitter', (jitterMs) => {
    const random = new Random(jitterMs);
    const sent = frozen(40, { ahead: 240 }).map((one) => ({ ...one, delayMs: DELAY + random.between(0, jitterMs) }));
    const due = new Map(sent.map(({ packet }, n) => [packet, Math.floor(n / 40) * 2_300 + (n % 40) * 20 + DELAY]));
    const placed = receive(sent);
    expect(placed).toHaveLength(sent.length);
    expect(
      share(
        placed.map(({ packet, heardMs }) => heardMs - due.get(packet)!),
        25,
      ),
    ).toBeGreaterThan(0.95);
  });

  it('hears a sender that gets 240 ms ahead at twice the speed when its first packet comes', () => {
    const sent = frozen(20, { ahead: 240 }).map((one, n) => ({
      ...one,
      sentMs: Math.floor(n / 40) * 2_300 + Math.max(10 * (n % 40), 20 * (n % 40) - 240),
    }));
    receive(sent).forEach(({ heardMs }, n) => {
      expect(heardMs).toBeCloseTo(Math.floor(n / 40) * 2_300 + (n % 40) * 20 + DELAY, 6);
    });
  });

  it.each([
    ['after a pause of the packets', frozen(20, { ahead: 240, silenceMs: 30 })],
    [
      'from a new source',
      frozen(2, { ahead: 240, silenceMs: -100 }).map((one, n) =>
        n < 40 ? one : { ...one, packet: { ...one.packet, ssrc: 2 } },
      ),
    ],
  ])('lets no sound that was sent ahead be heard over the one before it, %s', (_, sent) => {
    const placed = receive(sent);
    for (const [n, { heardMs }] of placed.slice(1).entries())
      expect(heardMs).toBeGreaterThanOrEqual(placed[n]!.heardMs + 20 - 1e-6);
  });

  it.each([-200, 200])('follows a sender whose clock is off by %i ppm for ten minutes', (ppm) => {
    const sent = steady(30_000, { seconds: 0.02 * (1 + ppm / 1e6) });
    const placed = receive(sent);
    expect(share(errors(sent, placed), 12)).toBe(1);
  });

  it('takes a marker or a jump of the timestamp at constant sequence as silence of the sender (livekit/sip#557)', () => {
    const before = steady(50);
    const after = steady(50, { first: 50, fromMs: 3_000 }).map(({ sentMs, packet }) => ({
      sentMs,
      packet: { ...packet, timestamp: (packet.timestamp + 16_000) >>> 0 },
    }));
    const placed = receive([...before, ...after]);
    expect(share(errors([...before, ...after], placed), 1e-6)).toBe(1);
    expect(placed[50]).toMatchObject({ silenceMs: 2_000, lostMs: 0 });
  });

  it('takes missing sequence numbers as loss, and the rest of a jump as silence', () => {
    const lost = receive(steady(100).filter((_, n) => n < 50 || n > 53));
    expect(lost[50]).toMatchObject({ lostMs: 80, silenceMs: 0 });
    const after = steady(50, { first: 52, fromMs: 3_000 }).map(({ sentMs, packet }) => ({
      sentMs,
      packet: { ...packet, marker: true, timestamp: (packet.timestamp + 15_680) >>> 0 },
    }));
    expect(receive([...steady(50), ...after])[50]).toMatchObject({ lostMs: 40, silenceMs: 1_960 });
  });

  it('places misordered packets at their time and repeated ones once', () => {
    const anchor = new ReceiveAnchor();
    const sent = steady(100).flatMap((one, n) =>
      [n % 10 === 5 ? { ...one, delayMs: DELAY + 25 } : one, one].slice(n % 10 === 5 ? 0 : 1),
    );
    const placed = receive(sent, anchor);
    expect(placed).toHaveLength(100);
    expect(share(errors(sent, placed), 1e-6)).toBe(1);
    const swapped = receive(steady(100).map((one, n) => (n % 10 === 5 ? { ...one, delayMs: DELAY + 25 } : one)));
    expect(swapped.filter(({ isMisordered }) => isMisordered)).toHaveLength(10);
    expect(anchor.dropped).toBe(10);
  });

  it('places misordered packets after a quarter of an hour, and among the first ones of a source', () => {
    const sent = steady(45_000).map((one, n) => (n % 1_000 === 1 ? { ...one, delayMs: DELAY + 25 } : one));
    const placed = receive(sent.slice(1).map((one, n) => (n === 1 ? { ...one, delayMs: DELAY - 1 } : one)));
    expect(placed).toHaveLength(44_999);
    expect(placed.every(({ lostMs, silenceMs }) => lostMs >= 0 && silenceMs >= 0)).toBe(true);
    expect(placed.filter(({ isMisordered }) => isMisordered)).toHaveLength(44);
  });

  it('adds no delay when the timestamp jumps forward while sound goes on (linphone-sdk#571)', () => {
    const sent = steady(500).map(({ sentMs, packet }, n) => {
      return { sentMs, packet: { ...packet, timestamp: (packet.timestamp + Math.floor(n / 50) * 80_000) >>> 0 } };
    });
    const placed = receive(sent);
    expect(share(errors(sent, placed), 1e-6)).toBe(1);
    expect(sum(placed.map(({ silenceMs }) => Math.round(silenceMs)))).toBe(0);
  });

  it('places the stale packet after a hold and the sound after it without doubling the silence (sippy/rtpproxy#61)', () => {
    const after = steady(100, { first: 50, fromMs: 11_000 }).map(({ sentMs, packet }, n) => ({
      sentMs,
      packet: n === 0 ? packet : { ...packet, timestamp: (packet.timestamp + 80_000) >>> 0 },
    }));
    const sent = [...steady(50), ...after];
    const placed = receive(sent).slice(-99);
    expect(share(errors(sent, placed), 1e-6)).toBe(1);
  });

  it('begins with a new source, and with a new address whose packets take longer', () => {
    const second = steady(50, { fromMs: 1_000 }).map(({ sentMs, packet }) => ({
      sentMs,
      packet: sound(packet.sequence + 777, packet.timestamp + 3_333, { ssrc: 2 }),
    }));
    const third = steady(50, { first: 50, fromMs: 1_000 }).map((one) => ({
      ...one,
      delayMs: DELAY + 100,
      address: 'b',
    }));
    const source = receive([...steady(50), ...second]);
    expect(source.at(-1)!.heardMs).toBeCloseTo(1_980 + DELAY, 6);
    const address = receive([...steady(50).map((one) => ({ ...one, address: 'a' })), ...third]);
    expect(address.at(-1)!.heardMs).toBeCloseTo(1_980 + DELAY + 100, 6);
  });

  it('begins with restarted sequence numbers, not with a single stray one (baresip/baresip#724)', () => {
    const anchor = new ReceiveAnchor();
    const restarted = steady(50, { fromMs: 1_000 }).map(({ sentMs, packet }, n) => ({
      sentMs,
      packet: sound(20_000 + n, packet.timestamp + 99_999),
    }));
    const stray = { sentMs: 500, packet: sound(30_000, 5) };
    const placed = receive([...steady(50), stray, ...restarted], anchor);
    expect(placed).toHaveLength(99);
    expect(placed.at(-1)!.heardMs).toBeCloseTo(1_980 + DELAY, 6);
    expect(anchor.dropped).toBe(2);
  });

  it('stays in the call after single packets with a wrong timestamp', () => {
    const anchor = new ReceiveAnchor();
    const sent = steady(500).map((one, n) =>
      n % 50 === 25
        ? { ...one, packet: { ...one.packet, timestamp: (one.packet.timestamp + 123_456_789 * n) >>> 0 } }
        : one,
    );
    const placed = receive(sent, anchor).filter(
      ({ packet }) => sent.findIndex((one) => one.packet === packet) % 50 > 28,
    );
    expect(placed).toHaveLength(210);
    expect(share(errors(sent, placed), 1e-6)).toBe(1);
  });

  it('counts keys and comfort noise as received, also if the timestamp stood still (sipsorcery#669)', () => {
    const anchor = new ReceiveAnchor();
    receive(steady(50), anchor);
    for (let n = 0; n < 10; n++) anchor.skip(sound(65_050 + n, 4_294_900_000 + 8_000, { payloadType: 101 }));
    anchor.skip(sound(9, 9, { ssrc: 77 }));
    const after = steady(20, { first: 60, fromMs: 1_200 }).map(({ sentMs, packet }) => ({
      sentMs,
      packet: { ...packet, timestamp: (packet.timestamp - 1_600) >>> 0 },
    }));
    const placed = receive(after, anchor);
    expect(placed).toHaveLength(20);
    expect(placed[0]).toMatchObject({ heardMs: 1_230, lostMs: 0, silenceMs: 200 });
  });
});
