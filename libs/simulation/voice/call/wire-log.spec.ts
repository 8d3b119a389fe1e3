import { SEND_LIMITS } from '../../other-side/send-limits.js';
import { WireLog } from './wire-log.js';

const { bytesPerMinute, bytes, lastMessages } = SEND_LIMITS.wireLog;
const LINE = 1_000;
/** A line of 1,000 bytes with its end. */
const line = (n: number) => `${n} `.padEnd(LINE - 1, 'x');
const omittedOf = (lines: readonly string[]) =>
  lines
    .filter((text) => text.startsWith('{"omitted"'))
    .map((text) => (JSON.parse(text) as { omitted: { messages: number; bytes: number; fromMs: number } }).omitted);

describe('WireLog', () => {
  it('writes every line of a call within the limits', () => {
    const log = new WireLog();
    for (let n = 0; n < 2_000; n++) log.add(n, line(n));
    expect(log.take(true)).toEqual(Array.from({ length: 2_000 }, (_, n) => line(n)));
    expect(log.bytes).toBe(0);
  });

  it('has the beginning of a flood, one line a second about omitted messages, and the last messages, in order', () => {
    const log = new WireLog();
    const count = 50_000;
    for (let n = 0; n < count; n++) log.add(n / 10, line(n));
    const lines = log.take(true);
    const written = Math.floor(bytesPerMinute / LINE);
    expect(lines.slice(0, written)).toEqual(Array.from({ length: written }, (_, n) => line(n)));
    expect(lines.slice(-lastMessages)).toEqual(
      Array.from({ length: lastMessages }, (_, n) => line(count - lastMessages + n)),
    );
    const omitted = omittedOf(lines);
    expect(lines).toHaveLength(written + omitted.length + lastMessages);
    expect(omitted).toHaveLength(5);
    expect(omitted[0]!.fromMs).toBe(written / 10);
    expect(omitted.reduce((sum, { messages }) => sum + messages, 0)).toBe(count - written - lastMessages);
    expect(omitted.every((one) => one.bytes === one.messages * LINE)).toBe(true);
  });

  it('continues in the next minute with the kept messages', () => {
    const log = new WireLog();
    for (let n = 0; n < 10_000; n++) log.add(n, line(n));
    log.add(60_000, line(-1));
    const lines = log.take(false);
    expect(lines.slice(-2)).toEqual([line(9_999), line(-1)]);
    expect(omittedOf(lines.slice(-lastMessages - 2, -lastMessages - 1))).toHaveLength(1);
  });

  it('never writes more than the limit of a call, one line a second and the last messages', () => {
    const log = new WireLog();
    let [written, kept] = [0, 0];
    const seconds = 3_600;
    for (let n = 0; n < seconds * 50; n++) {
      log.add(n * 20, line(n));
      if (n % 500 === 0) for (const text of log.take(false)) written += text.length + 1;
      kept = Math.max(kept, log.bytes);
    }
    for (const text of log.take(true)) written += text.length + 1;
    expect(written).toBeLessThan(bytes + seconds * 100 + lastMessages * LINE);
    expect(kept).toBeLessThan(2 * lastMessages * (LINE + 64));
  });
});
