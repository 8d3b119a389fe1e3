import fc from 'fast-check';
import { AudioDecoder, type AudioFormat, decodeAudio, encodeAudio } from './index.js';
import { cut } from './testing/cut.js';

const ENCODINGS = ['mulaw', 'alaw', 'pcm16'] as const;
const formatOf = (encoding: AudioFormat['encoding']): AudioFormat => ({ encoding, rate: 8_000 });

describe('AudioFormat', () => {
  it.each([
    ['mulaw', [0xff, 0x80, 0x00], [0, 32_124, -32_124]],
    ['alaw', [0xd5, 0xaa, 0x2a], [8, 32_256, -32_256]],
    ['pcm16', [0x34, 0x12, 0xff, 0x7f, 0x00, 0x80], [0x1234, 32_767, -32_768]],
  ] as const)('%s has its codes', (encoding, bytes, samples) => {
    expect([...decodeAudio(formatOf(encoding), Uint8Array.from(bytes))]).toEqual(samples);
    expect([...encodeAudio(formatOf(encoding), Int16Array.from(samples))]).toEqual(bytes);
  });

  it('ignores half a sample at the end, and reads bytes at any offset of their buffer', () => {
    expect([...decodeAudio(formatOf('pcm16'), Uint8Array.of(9, 1, 0, 2).subarray(1))]).toEqual([1]);
  });
});

describe('AudioDecoder', () => {
  it.each(ENCODINGS)('returns the same samples no matter how the bytes of %s were cut', (encoding) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.array(fc.nat()), (bytes, places) => {
        const decoder = new AudioDecoder(formatOf(encoding));
        const samples = cut(bytes, places).flatMap((part) => [...decoder.push(part)]);
        expect(samples).toEqual([...decodeAudio(formatOf(encoding), bytes)]);
      }),
    );
  });
});
