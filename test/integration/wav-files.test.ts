import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { open, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { tone, encodeAudio, Random, readWav, WavError } from '../../libs/audio/index.js';
import { shareOf } from '../../libs/statistics/testing/sample.js';
import { layoutOf, lengthNote, secondsOf } from '../../src/modules/recordings/wav-upload.js';
import { describeWith } from '../support/programs.js';

const CODES = { pcm16: 1, alaw: 6, mulaw: 7 } as const;
type Encoding = keyof typeof CODES;

interface Parts {
  readonly encoding?: Encoding;
  readonly channels?: number;
  readonly samples?: Int16Array;
  readonly isExtensible?: boolean;
  readonly before?: readonly Buffer[];
  readonly behind?: Buffer;
  /** What the header declares; the right lengths unless they are given. */
  readonly data?: number;
  readonly riff?: number;
}

const uint = (value: number, bytes = 4): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
};
const chunk = (name: string, content: Buffer | string, size = content.length, pad = true): Buffer =>
  Buffer.concat([
    Buffer.from(name),
    uint(size),
    Buffer.from(content),
    Buffer.alloc(pad ? Buffer.from(content).length % 2 : 0),
  ]);

const RATE = 8_000;
const SECOND = tone([440], { rate: RATE, ms: 1_000, dbfs: -10 });
const TWO_SECONDS = tone([440], { rate: RATE, ms: 2_000, dbfs: -10 });
const LIST = chunk('LIST', 'INFOISFT\x0e\0\0\0Lavf60.16.100\0');

function wavFile({
  encoding = 'pcm16',
  channels = 1,
  samples = TWO_SECONDS,
  isExtensible = false,
  before = [],
  behind = Buffer.alloc(0),
  data,
  riff,
}: Parts = {}): Buffer {
  const bytes = encoding === 'pcm16' ? 2 : 1;
  const fields = [uint(RATE), uint(RATE * channels * bytes), uint(channels * bytes, 2), uint(bytes * 8, 2)];
  const guid = [uint(22, 2), uint(bytes * 8, 2), uint(4), uint(CODES[encoding], 2)];
  const extension = isExtensible ? [...guid, Buffer.from('000000001000800000aa00389b71', 'hex')] : [];
  const code = isExtensible ? 0xfffe : CODES[encoding];
  const format = chunk('fmt ', Buffer.concat([uint(code, 2), uint(channels, 2), ...fields, ...extension]));
  const audio = Buffer.from(encodeAudio({ encoding }, samples));
  const body = Buffer.concat([
    Buffer.from('WAVE'),
    ...before,
    format,
    chunk('data', audio, data ?? audio.length),
    behind,
  ]);
  return Buffer.concat([Buffer.from('RIFF'), uint(riff ?? body.length), body]);
}

const ALL = TWO_SECONDS.length * 2;
const both = (length: number): Parts => ({ data: length, riff: length });

/** With their sources, and the audio that each of them has: two seconds, unless it says so. */
const ROWS: readonly (readonly [string, Buffer, Int16Array?])[] = [
  ['as the specification has it', wavFile()],
  ['a data length of 0 (speaches-ai/speaches#493, rs1729/RS#39, rhasspy/piper#556)', wavFile({ data: 0, riff: 36 })],
  ['both lengths 0', wavFile(both(0))],
  ['0xFFFFFFFF (AstrBotDevs/AstrBot#9867, pollinations/pollinations#11951)', wavFile(both(0xffff_ffff))],
  ['0x7FFFFFFF (pollinations/pollinations#11457, google/oboe#2108)', wavFile(both(0x7fff_ffff))],
  ['0x7FFFF000, the placeholder of sox', wavFile({ data: 0x7fff_f000, riff: 0x7fff_f024 })],
  ['2000000000 (kyutai-labs/pocket-tts#229)', wavFile(both(2_000_000_000))],
  ['both lengths stale (VoiceBlender/voiceblender#81)', wavFile({ data: ALL / 20, riff: 36 + ALL / 20 })],
  ['a stale data length alone', wavFile({ data: ALL / 20 })],
  ['a stale data length that is odd', wavFile({ data: ALL / 20 + 1, riff: 36 })],
  ['a RIFF length of 0 (tinyalsa/tinyalsa#16)', wavFile({ riff: 0 })],
  ['a stale RIFF length alone', wavFile({ riff: 36 })],
  ['a data length that counts the header (llfbandit/record#96)', wavFile({ data: ALL + 44 })],
  ['texts before the audio', wavFile({ before: [LIST, chunk('JUNK', Buffer.alloc(28))] })],
  ['a chunk of odd length before the audio', wavFile({ before: [chunk('LIST', 'abc')] })],
  ['texts behind the audio (roryeckel/wyoming_openai#73)', wavFile({ behind: LIST })],
  ['texts behind the audio that the RIFF length leaves out', wavFile({ behind: LIST, riff: 36 + ALL })],
  ['texts of odd length behind the audio, without padding', wavFile({ behind: chunk('C2PA', 'abc', 3, false) })],
  ['four bytes behind the audio (remsky/Kokoro-FastAPI#463)', wavFile({ behind: uint(ALL), riff: 36 + ALL })],
  ['texts behind no audio', wavFile({ samples: new Int16Array(), behind: LIST }), new Int16Array()],
  ['half of what it declares', wavFile({ data: 2 * ALL, riff: 36 + 2 * ALL })],
  ['a last sample that is cut', wavFile().subarray(0, -1), TWO_SECONDS.subarray(0, -1)],
  ['the extensible format', wavFile({ isExtensible: true })],
];
const READ = ROWS.map(([name, file, samples = TWO_SECONDS]) => [name, file, samples] as const);

const MORE_AUDIO = 'The WAV file has more audio behind its audio, in another';
const REFUSED: readonly (readonly [string, Buffer, string])[] = [
  [
    'two files in a row (remsky/Kokoro-FastAPI#94, travisvn/chatterbox-tts-api#14)',
    Buffer.concat([wavFile(), wavFile()]),
    `${MORE_AUDIO} RIFF; join them in one chunk.`,
  ],
  [
    'two data chunks',
    wavFile({ samples: SECOND, behind: chunk('data', Buffer.alloc(8_000)) }),
    `${MORE_AUDIO} data; join them in one chunk.`,
  ],
  [
    'RF64',
    Buffer.concat([Buffer.from('RF64'), wavFile().subarray(4)]),
    'RF64, WAV of more than 4 GiB, is not supported; use RIFF.',
  ],
];

describe('a WAV file of a recorder or a speech server', () => {
  it.each(READ)('is read to the end of its audio: %s', (_, file, samples) => {
    expect(readWav(file).channels).toEqual([samples]);
  });

  it.each(REFUSED)('is refused where a part of its audio would be left out: %s', (_, file, message) => {
    expect(() => readWav(file)).toThrow(new WavError(message));
  });
});

describe('a recording whose header is stale', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'vat-wav-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const layout = async (bytes: Uint8Array) => {
    await writeFile(path.join(folder, 'call.wav'), bytes);
    const file = await open(path.join(folder, 'call.wav'));
    return layoutOf(file).finally(() => file.close());
  };

  it('is imported as a whole, with a note (VoiceBlender/voiceblender#81)', async () => {
    const fixture = path.join(__dirname, '../fixtures/compatibility/wav/stale-length.wav');
    const found = await layout(await readFile(fixture));
    expect(secondsOf(found)).toBe(3);
    const note = 'The header of the recording declares 0.3 s of audio; all 3.0 s in the file were read';
    expect(lengthNote(found)).toBe(note);
  });

  it('has no note for a placeholder, nor for a chunk behind its first MiB, which is not audio', async () => {
    const samples = new Int16Array(800_000).fill(7);
    for (const file of [wavFile({ samples, behind: LIST }), wavFile({ samples, ...both(0xffff_ffff) })]) {
      const found = await layout(file);
      expect([secondsOf(found), lengthNote(found)]).toEqual([100, undefined]);
    }
  });
});

/** The samples that sox reads. It believes a length that is too small, unless it is to ignore it; then it plays chunks behind. */
function bySox(file: Buffer, channels: number, ignoresLength: boolean): Int16Array {
  const input = [...(ignoresLength ? ['--ignore-length'] : []), '-t', 'wav', '-'];
  const output = ['-t', 'raw', '-e', 'signed', '-b', '16', '-'];
  const { status, stdout, stderr } = spawnSync('sox', [...input, ...output], { input: file });
  if (status !== 0) throw new Error(`sox failed: ${stderr.toString()}`);
  const whole = stdout.length - (stdout.length % (2 * channels));
  return new Int16Array(stdout.buffer.slice(stdout.byteOffset, stdout.byteOffset + whole));
}

describeWith('sox', 'WAV files and sox', () => {
  it.each(READ)('read the same samples: %s', (name, file, samples) => {
    expect(bySox(file, 1, !name.includes('behind'))).toEqual(samples);
  });

  it('read the same samples of random legal files', () => {
    const random = new Random(45, 'wav');
    const one = <T>(values: readonly T[]): T => values[Math.floor(random.next() * values.length)]!;
    for (let n = 0; n < shareOf(2_000); n++) {
      const channels = one([1, 2]);
      const frames = 8 + Math.floor(random.next() * 200);
      const samples = Int16Array.from({ length: frames * channels }, () => (random.next() - 0.5) * 60_000);
      const behind = one([
        undefined,
        undefined,
        LIST,
        chunk('note', 'abc'),
        chunk('id3 ', 'abc', 3, false),
        uint(7, 3),
      ]);
      const even = 2 * Math.floor(frames / 4);
      const stale = one([0, 0xffff_ffff, 0x7fff_ffff, 0x7fff_f000, 2_000_000_000, even]);
      const isStale = behind === undefined && random.next() < 0.7;
      const file = wavFile({
        ...{ samples, channels, encoding: one(['pcm16', 'mulaw', 'alaw'] as const), isExtensible: one([true, false]) },
        before: one([[], [LIST], [chunk('JUNK', 'abc')], [chunk('fact', uint(frames)), LIST]]),
        ...(behind && { behind }),
        ...(isStale && { data: stale }),
        ...one([{}, { riff: stale }, { riff: 36 }]),
      });
      const expected = bySox(file, channels, isStale);
      const read = readWav(file);
      const interleaved = Int16Array.from(
        expected,
        (_, at) => read.channels[at % channels]![Math.floor(at / channels)]!,
      );
      expect([n, read.channels[0]!.length * channels, interleaved]).toEqual([n, expected.length, expected]);
    }
  });
});
