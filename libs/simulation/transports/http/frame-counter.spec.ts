import fc from 'fast-check';
import { FrameCounter } from './frame-counter.js';

interface Frame {
  readonly opcode: number;
  readonly length: number;
  readonly isMasked: boolean;
}

const [TEXT, CONTINUATION, PING] = [1, 0, 9];

function bytesOf({ opcode, length, isMasked }: Frame): Buffer {
  const mask = isMasked ? 0x80 : 0;
  const size = length < 126 ? length : length < 65_536 ? 126 : 127;
  const extended = Buffer.alloc(size === 126 ? 2 : size === 127 ? 8 : 0);
  if (size === 126) extended.writeUInt16BE(length);
  if (size === 127) extended.writeBigUInt64BE(BigInt(length));
  const head = Buffer.from([0x80 | opcode, mask | size]);
  // A payload that looks like the headers of frames.
  return Buffer.concat([head, extended, Buffer.alloc(isMasked ? 4 : 0, 0x89), Buffer.alloc(length, 0x89)]);
}

describe('FrameCounter', () => {
  it('counts frames of any kind and length, however their bytes are cut', () => {
    const frame = fc.record({
      opcode: fc.constantFrom(TEXT, CONTINUATION, PING, 2, 10),
      length: fc.constantFrom(0, 1, 125, 126, 300, 65_535, 65_536),
      isMasked: fc.boolean(),
    });
    const sizes = fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1 });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), sizes, (frames, cuts) => {
        const bytes = Buffer.concat(frames.map(bytesOf));
        const counter = new FrameCounter();
        const total = { messages: 0, control: 0, continuation: 0 };
        for (let at = 0, n = 0; at < bytes.length; n++) {
          const part = bytes.subarray(at, at + cuts[n % cuts.length]!);
          at += part.length;
          const counts = counter.push(part);
          for (const kind of ['messages', 'control', 'continuation'] as const) total[kind] += counts[kind];
        }
        const having = (...opcodes: number[]) => frames.filter(({ opcode }) => opcodes.includes(opcode)).length;
        expect(total).toEqual({ messages: having(TEXT, 2), control: having(PING, 10), continuation: having(0) });
      }),
    );
  });
});
