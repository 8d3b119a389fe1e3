import fc from 'fast-check';
import {
  decodeAlaw,
  decodeAlawSample,
  decodeMulaw,
  decodeMulawSample,
  encodeAlaw,
  encodeAlawSample,
  encodeMulaw,
  encodeMulawSample,
  MULAW_FULL_SCALE,
  MULAW_SILENCE,
} from './index.js';

const SAMPLES = Array.from({ length: 65_536 }, (_, n) => n - 32_768);
const CODES = Array.from({ length: 256 }, (_, n) => n);

/** Decision values of one polarity: `ends` are the segment ends of G.711, each divided into `steps` equal intervals. */
const decisions = (ends: readonly number[], scale: number): number[] =>
  ends
    .slice(1)
    .flatMap((end, n) => Array.from({ length: 16 }, (_, k) => (ends[n]! + ((end - ends[n]!) * k) / 16) * scale));

/** Table 2a/G.711: the first interval is half as wide as the others of its segment. */
const MULAW = {
  // The segment of the first 16 intervals begins at -1, so that they have equal widths.
  decisions: [0, ...decisions([-1, 31, 95, 223, 479, 991, 2_015, 4_063, 8_159], 4).slice(1)],
  end: 8_159 * 4,
  magnitude: (sample: number) => Math.abs(sample),
};
/** Table 1a/G.711: the first segment has 32 intervals. */
const ALAW = {
  decisions: decisions([0, 32, 64, 128, 256, 512, 1_024, 2_048, 4_096], 8),
  end: 4_096 * 8,
  // A sample on a decision value belongs to the upper interval, also among the negative samples.
  magnitude: (sample: number) => (sample < 0 ? -sample - 1 : sample),
};

/** Interval of each sample, in the order of `SAMPLES`. */
function intervals({ decisions: values, magnitude }: typeof MULAW): number[] {
  const ofMagnitude = new Uint8Array(40_000);
  values.forEach((from, n) => ofMagnitude.fill(n, from));
  return SAMPLES.map((sample) => ofMagnitude[magnitude(sample)]!);
}

describe.each([
  [
    'mu-law',
    encodeMulawSample,
    decodeMulawSample,
    MULAW,
    (n: number, negative: boolean) => (negative ? 0x7f : 0xff) - n,
  ],
  [
    'A-law',
    encodeAlawSample,
    decodeAlawSample,
    ALAW,
    (n: number, negative: boolean) => (negative ? n : n | 0x80) ^ 0x55,
  ],
] as const)('%s', (name, encode, decode, law, codeOf) => {
  const expected = intervals(law);

  it('encodes each of the 65,536 samples as G.711 defines it', () => {
    const wrong = SAMPLES.filter((sample, at) => encode(sample) !== codeOf(expected[at]!, sample < 0));
    expect(wrong).toEqual([]);
  });

  it('decodes each code to the middle of its interval', () => {
    for (const negative of [false, true]) {
      law.decisions.forEach((from, n) => {
        const to = law.decisions[n + 1] ?? law.end;
        // The first interval of mu-law reaches from -1 to 1, and its middle is 0.
        const middle = name === 'mu-law' && n === 0 ? 0 : (from + to) / 2;
        expect(decode(codeOf(n, negative))).toBe(negative && middle > 0 ? -middle : middle);
      });
    }
  });

  it('has an error of at most half an interval, except beyond the last decision value', () => {
    const wrong = SAMPLES.filter((sample, at) => {
      const n = expected[at]!;
      const to = law.decisions[n + 1] ?? law.end;
      const width = n === 0 && name === 'mu-law' ? 2 * to : to - law.decisions[n]!;
      const beyond = Math.max(0, Math.abs(sample) - law.end);
      return Math.abs(decode(encode(sample)) - sample) > width / 2 + beyond;
    });
    expect(wrong).toEqual([]);
  });

  it('is monotonic', () => {
    const decoded = SAMPLES.map((sample) => decode(encode(sample)));
    expect(decoded.filter((value, n) => n > 0 && value < decoded[n - 1]!)).toEqual([]);
  });

  it('encodes each decoded code to itself, except the negative zero of mu-law', () => {
    const changed = CODES.filter((code) => encode(decode(code)) !== code);
    expect(changed).toEqual(name === 'mu-law' ? [0x7f] : []);
  });
});

describe('codecs of whole sounds', () => {
  it.each([
    ['mu-law', encodeMulaw, decodeMulaw, encodeMulawSample, decodeMulawSample],
    ['A-law', encodeAlaw, decodeAlaw, encodeAlawSample, decodeAlawSample],
  ] as const)('convert %s sample by sample', (_name, encode, decode, encodeSample, decodeSample) => {
    fc.assert(
      fc.property(fc.int16Array(), fc.uint8Array(), (pcm, codes) => {
        expect([...encode(pcm)]).toEqual([...pcm].map(encodeSample));
        expect([...decode(codes)]).toEqual([...codes].map(decodeSample));
      }),
    );
  });

  it('have the silence and the full scale of the constants', () => {
    expect(decodeMulawSample(MULAW_SILENCE)).toBe(0);
    expect(encodeMulawSample(0)).toBe(MULAW_SILENCE);
    expect(Math.max(...CODES.map(decodeMulawSample))).toBe(MULAW_FULL_SCALE);
  });
});
