import fc from 'fast-check';
import { decodeMulaw, encodeMulaw, readWav, wavHeader, WavError, writeWav } from './index.js';

const pcm = Int16Array.of(0, 100, -100, 32_767, -32_768, 5);
const mono = writeWav({ channels: [pcm], rate: 8_000, encoding: 'pcm16' });

/** Overwrites a 32-bit number. */
const withUint32 = (file: Uint8Array, at: number, value: number): Uint8Array => {
  const copy = Uint8Array.from(file);
  new DataView(copy.buffer).setUint32(at, value, true);
  return copy;
};
const bytes = (...parts: (string | number[] | Uint8Array)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))));

describe('WAV', () => {
  it('reads back any written sound, rate and encoding, mono and stereo', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: -32_768, max: 32_767 }), fc.integer({ min: -32_768, max: 32_767 }))),
        fc.constantFrom(8_000, 16_000, 22_050, 24_000, 48_000),
        fc.constantFrom('pcm16', 'mulaw'),
        fc.constantFrom(1, 2),
        (frames, rate, encoding, count) => {
          const channels = [0, 1].slice(0, count).map((n) => Int16Array.from(frames, (frame) => frame[n]!));
          const file = writeWav({ channels, rate, encoding });
          const expected = encoding === 'pcm16' ? channels : channels.map((one) => decodeMulaw(encodeMulaw(one)));
          expect(readWav(file)).toEqual({ channels: expected, rate, encoding });
          expect(file.length % 2).toBe(0);
          expect(new DataView(file.buffer).getUint32(4, true)).toBe(file.length - 8);
        },
      ),
    );
  });

  it('has the header of a canonical 16-bit file', () => {
    expect(Buffer.from(wavHeader({ encoding: 'pcm16', rate: 24_000, channels: 2 }, 1_000)).toString('latin1')).toBe(
      'RIFF\x0c\x04\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0\xc0\x5d\0\0\x00\x77\x01\0\x04\0\x10\0data\xe8\x03\0\0',
    );
  });

  it('writes mu-law as format 7 with a fact chunk that has the samples per channel', () => {
    expect(Buffer.from(wavHeader({ encoding: 'mulaw', rate: 8_000, channels: 2 }, 1_000)).toString('latin1')).toBe(
      'RIFF\x1a\x04\0\0WAVEfmt \x12\0\0\0\x07\0\x02\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x08\0\0\0' +
        'fact\x04\0\0\0\xf4\x01\0\0data\xe8\x03\0\0',
    );
  });

  it.each([0, 0xffff_ffff, 0x7fff_ffff, 100_000])('reads to the end of a stream that declares %d bytes', (length) => {
    const file = withUint32(withUint32(mono, 4, length), 40, length);
    expect(readWav(file).channels).toEqual([pcm]);
    // An incomplete last sample is ignored.
    expect(readWav(bytes(file, [7])).channels).toEqual([pcm]);
  });

  it('reads an empty file as empty, also with a chunk after its data', () => {
    const empty = writeWav({ channels: [new Int16Array(0)], rate: 8_000, encoding: 'pcm16' });
    expect(readWav(empty).channels).toEqual([new Int16Array(0)]);
    const file = bytes(empty, 'LIST', [4, 0, 0, 0], 'INFO');
    expect(readWav(withUint32(file, 4, file.length - 8)).channels).toEqual([new Int16Array(0)]);
  });

  it('skips other chunks, with padding, and reads the extensible format', () => {
    const format = [0xfe, 0xff, 1, 0, 0x40, 0x1f, 0, 0, 0x80, 0x3e, 0, 0, 2, 0, 16, 0, 22, 0, 16, 0, 4, 0, 0, 0];
    const subFormat = [1, 0, 0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71];
    const file = bytes(
      ...['RIFF', [0, 0, 0, 0], 'WAVE', 'LIST', [3, 0, 0, 0], 'abc\0'],
      ...['fmt ', [40, 0, 0, 0], format, subFormat, 'JUNK', [2, 0, 0, 0], 'xy'],
      ...['data', [4, 0, 0, 0], [1, 0, 2, 0], 'LIST', [1, 0, 0, 0], 'a\0'],
    );
    expect(readWav(file)).toEqual({ encoding: 'pcm16', rate: 8_000, channels: [Int16Array.of(1, 2)] });
  });

  it.each<[string, Uint8Array, string]>([
    ['an empty file', new Uint8Array(0), 'Not a WAV file: it does not begin with RIFF and WAVE.'],
    ['an MP3', bytes('ID3\x04\0\0\0\0\0\0\0\0\0\0'), 'Not a WAV file: it does not begin with RIFF and WAVE.'],
    ['a header alone', mono.slice(0, 36), 'The WAV file has no data chunk.'],
    ['no format', bytes('RIFF\0\0\0\0WAVEdata\x02\0\0\0ab'), 'The WAV file has no fmt chunk before its data.'],
    ['a short format', bytes('RIFF\0\0\0\0WAVEfmt \x02\0\0\0ab'), 'The fmt chunk of the WAV file is too short.'],
    ['a cut chunk', bytes('RIFF\0\0\0\0WAVELIST\xff\0\0\0ab'), 'The WAV file ends inside its chunk "LIST".'],
    [
      '24 bits',
      withUint32(mono, 32, 0x18_0003),
      'WAV format 1 with 24 bits is not supported; use 16-bit PCM (1), mu-law (7) or A-law (6).',
    ],
    [
      'six channels',
      withUint32(mono, 20, 0x6_0001),
      'WAV files with 6 channels are not supported; use mono or stereo.',
    ],
    ['no rate', withUint32(mono, 24, 0), 'A WAV file with 0 samples per second is not supported.'],
  ])('rejects %s', (_what, file, message) => {
    expect(() => readWav(file)).toThrow(new WavError(message));
  });

  it('rejects any other bytes with a WavError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(43), (noise, kept) => {
        try {
          readWav(bytes(mono.slice(0, kept), noise));
        } catch (error) {
          expect(error).toBeInstanceOf(WavError);
        }
      }),
    );
  });
});
