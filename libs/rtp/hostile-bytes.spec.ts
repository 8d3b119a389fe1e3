import { Random } from '../audio/index.js';
import {
  comfortNoiseLevel,
  isRefused,
  isRtcp,
  KeyReceiver,
  keyReports,
  readRtcp,
  readRtp,
  ReceiveAnchor,
  RtcpSession,
  SrtpReceiver,
  SrtpSender,
  writeRtcp,
  writeRtp,
} from './index.js';

const header = { marker: false, payloadType: 0, sequence: 7, timestamp: 1_120, ssrc: 1, csrcs: [9, 9] };
const sound = writeRtp(
  { ...header, extension: { profile: 1, data: new Uint8Array(8) }, payload: new Uint8Array(160) },
  4,
);
const key = writeRtp({ ...header, payloadType: 101, payload: keyReports('1', 20)[0]!.payload });
const session = new RtcpSession(1, 'name');
session.count({ ...header, payload: new Uint8Array(160) }, 0);
const report = session.bye(20, { timestamp: 1, packets: 1, octets: 1 });
const reason = writeRtcp([{ type: 'bye', ssrcs: [1], reason: 'over' }]);
const secret = new Uint8Array(30);
const sender = new SrtpSender(secret);
const seeds = [sound, key, report, reason, sender.protect(sound), sender.protectRtcp(report)];

/** Cuts, lengthens and changes bytes. */
function mutated(random: Random): Buffer {
  const original = seeds[Math.floor(random.between(0, seeds.length))]!;
  const extra = random.next() < 0.2 ? Math.floor(random.between(0, 1_600)) : 0;
  const length = random.next() < 0.4 ? Math.floor(random.between(0, original.length + 1)) : original.length;
  const bytes = Buffer.concat([original.subarray(0, length), Buffer.alloc(extra, Math.floor(random.between(0, 256)))]);
  for (let n = Math.floor(random.between(0, 6)); n > 0 && bytes.length > 0; n--) {
    const early = random.next() < 0.7 ? Math.min(bytes.length, 24) : bytes.length;
    bytes[Math.floor(random.between(0, early))] = Math.floor(random.between(0, 256));
  }
  return bytes;
}

describe('hostile bytes', () => {
  it('are read or refused by name: 20,000 changed packets, no exception, and finite times', () => {
    const random = new Random(49);
    const [anchor, keys, receiver] = [new ReceiveAnchor(), new KeyReceiver(), new SrtpReceiver(secret)];
    const counts = { rtp: 0, rtcp: 0, refused: 0, placed: 0 };
    for (let n = 0; n < 20_000; n++) {
      const bytes = mutated(random);
      receiver.unprotect(bytes);
      receiver.unprotectRtcp(bytes);
      comfortNoiseLevel(bytes);
      const result = isRtcp(bytes) ? readRtcp(bytes) : readRtp(bytes);
      if (isRefused(result)) {
        expect(result.refusal).toMatch(/^(too|wrong|truncated)_[a-z]+$/);
        counts.refused++;
      } else if ('payload' in result) {
        counts.rtp++;
        keys.receive(result, 20 * n);
        session.count(result, 20 * n);
        const placed = anchor.receive(result, 20 * n);
        counts.placed += placed.length;
        for (const { heardMs, lateMs, lostMs, silenceMs } of placed) {
          expect([heardMs, lateMs, lostMs, silenceMs].every(Number.isFinite)).toBe(true);
          expect(heardMs - 20 * n).toBeLessThan(1_000);
        }
      } else {
        counts.rtcp++;
        session.receive(result, 20 * n);
        session.report(20 * n, { timestamp: n, packets: n, octets: n });
      }
    }
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(1_000);
  });
});
