import { SoundInspector } from './sound-inspector.js';
import { chunks, pcmBytes, silence, SOUNDS, toMulaw } from '../../../testing/telephone-sounds.js';

/** The faults of a sound that arrives at once. */
function faultsOf(sound: Uint8Array, size?: number): Set<string> {
  const inspector = new SoundInspector();
  return new Set(chunks(sound, size).flatMap((chunk) => inspector.inspect(0, chunk, 1_000)));
}

/** The faults of messages of a length, sent with a period and a jitter. */
function faultsOfPace(bytes: number, periodMs: number, messages: number, jitterMs = 2): Set<string> {
  const inspector = new SoundInspector();
  const faults = new Set<string>();
  for (let index = 0; index < messages; index++) {
    const now = index * periodMs + (index % 3) * jitterMs;
    for (const fault of inspector.inspect(now, new Uint8Array(bytes).fill(0x55), 1_000)) faults.add(fault);
  }
  return faults;
}

const LEVELS = [150, 1_500, 8_000, 32_000];

describe('SoundInspector', () => {
  describe.each(Object.entries(SOUNDS))('%s', (_name, sound) => {
    it.each(LEVELS)('has no fault as mu-law, at a peak of %d', (level) => {
      expect(faultsOf(toMulaw(sound(level)))).toEqual(new Set());
    });
  });

  it('finds no fault in mu-law silence, also with noise in the last bit', () => {
    const flicker = Uint8Array.from({ length: 32_000 }, (_, index) => (index % 7 < 3 ? 0xff : 0x7f));
    expect(faultsOf(silence(4_000))).toEqual(new Set());
    expect(faultsOf(flicker)).toEqual(new Set());
  });

  it.each(
    ['speech', 'music'].flatMap((name) =>
      [8_000, 16_000, 24_000].flatMap((rate) => LEVELS.slice(1).map((level) => [name, rate, level] as const)),
    ),
  )('finds 16-bit PCM: %s at %d Hz with a peak of %d', (name, rate, level) => {
    expect(faultsOf(pcmBytes(SOUNDS[name]!(level, rate)))).toContain('wrong_encoding');
  });

  it('finds 16-bit PCM with the high byte first, and after mu-law and silence', () => {
    const bigEndian = Buffer.from(pcmBytes(SOUNDS.speech!(8_000))).swap16();
    expect(faultsOf(bigEndian)).toContain('wrong_encoding');
    expect(faultsOf(Buffer.concat([toMulaw(SOUNDS.speech!(8_000)), silence(5_000), bigEndian]))).toContain(
      'wrong_encoding',
    );
  });

  it.each([
    'RIFF\x24\x00\x00\x00WAVEfmt ',
    'FORM\x00\x00\x10\x00AIFFCOMM',
    'OggS\x00\x02\x00\x00\x00\x00',
    'fLaC\x00\x00\x00\x22',
    'ID3\x04\x00\x00\x00\x00\x02\x01',
    '.snd\x00\x00\x00\x18',
    '\x1aE\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81\x04B\xf3\x81\x08B\x82\x84webm',
  ])('finds the header of a file: %j', (header) => {
    const file = Buffer.concat([Buffer.from(header, 'latin1'), silence(100)]);
    expect(faultsOf(file)).toEqual(new Set(['file_header_in_media']));
  });

  it.each(['RIFF', 'FORM', 'OggS', 'fLaC', '.snd', 'ID3\x04'])('takes %j before noise for noise', (text) => {
    expect(
      faultsOf(Buffer.concat([Buffer.from(text, 'latin1'), toMulaw(SOUNDS.speech!(1_500)).subarray(3_000)])),
    ).toEqual(new Set());
  });

  it('finds a frame of 0x00, also across messages, and not a shorter one', () => {
    expect(faultsOf(silence(20, 0x00), 80)).toEqual(new Set(['wrong_silence']));
    expect(faultsOf(Buffer.concat([silence(20), silence(19, 0x00), silence(20)]))).toEqual(new Set());
  });

  it('inspects the first minute of a message only, because other calls wait for it', () => {
    const minute = silence(60_000);
    expect(faultsOf(Buffer.concat([minute.subarray(160), silence(20, 0x00)]), minute.length)).toEqual(
      new Set(['wrong_silence']),
    );
    expect(faultsOf(Buffer.concat([minute, silence(20, 0x00)]), minute.length + 160)).toEqual(new Set());
  });

  it.each([
    [320, 20],
    [480, 20],
    [960, 20],
    [640, 40],
  ])('finds %d bytes every %d ms', (bytes, periodMs) => {
    expect(faultsOfPace(bytes, periodMs, 160)).toEqual(new Set(['wrong_rate']));
  });

  it.each([
    ['real time', 160, 20, 300],
    ['slightly faster than real time', 160, 18, 300],
    ['5 times real time', 800, 20, 300],
    ['at once', 320, 0.2, 3_000],
    ['5 times real time, with a timer that is late', 800, 25, 110],
    ['too fast for a short time', 320, 20, 140],
  ])('accepts sound that arrives in/at %s', (_name, bytes, periodMs, messages) => {
    expect(faultsOfPace(bytes, periodMs, messages, 0)).toEqual(new Set());
  });

  it('accepts bursts whose mean is a multiple of the rate', () => {
    const inspector = new SoundInspector();
    const faults: string[] = [];
    for (let index = 0; index < 400; index++) {
      const burst = Math.floor(index / 10);
      faults.push(...inspector.inspect(burst * 100, new Uint8Array(160).fill(0x55), 1_000));
    }
    expect(faults).toEqual([]);
  });

  it('finds tiny chunks with gaps between them, and no gaps where the buffer lasts', () => {
    const gaps = new SoundInspector();
    const found = Array.from({ length: 12 }, (_, index) => gaps.inspect(index * 15, new Uint8Array(80).fill(0x55), 0));
    expect(found.flat()).toEqual(['tiny_chunks', 'tiny_chunks']);
    const buffered = new SoundInspector();
    expect(
      Array.from({ length: 40 }, (_, index) => buffered.inspect(index * 10, new Uint8Array(80).fill(0x55), 30)).flat(),
    ).toEqual([]);
  });
});
