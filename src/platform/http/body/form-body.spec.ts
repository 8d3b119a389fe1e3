import type { Request, Response } from 'express';
import { PassThrough } from 'node:stream';
import { shareOf } from '../../../../libs/statistics/testing/sample.js';
import { DomainError } from '../../errors/domain-error.js';
import { type FormOptions, readForm } from './form-body.js';

const OPTIONS = {
  file: { name: 'recording', maxBytes: 1_000 },
  fields: { channels: 20, transcript: 100 },
} as unknown as FormOptions;

type Outcome = Readonly<Record<string, string>> | readonly string[];

/** What is read of a body that arrives in these parts: the fields with the file, or the issues. */
async function read(parts: readonly Buffer[], type = 'multipart/form-data; boundary=b'): Promise<Outcome> {
  const stream = new PassThrough();
  const request = Object.assign(stream, { headers: { 'content-type': type }, complete: true }) as unknown as Request;
  let file: string | undefined;
  const reading = readForm(request, {} as Response, OPTIONS, {
    signal: new AbortController().signal,
    receive: async (blocks) => {
      const received: Buffer[] = [];
      for await (const block of blocks) received.push(block);
      file = Buffer.concat(received).toString('latin1');
    },
  });
  for (const part of parts) stream.write(part);
  stream.end();
  try {
    const fields = await reading;
    return { ...fields, ...(file !== undefined && { recording: file }) };
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return error.issues!.map(({ message }) => message);
  }
}

const FILE = '--b\r\nContent-Disposition: form-data; name="recording"; filename="a"\r\n\r\n';
const FIELD = '--b\r\nContent-Disposition: form-data; name="channels"\r\n\r\n';
const of = (text: string) => [Buffer.from(text, 'latin1')];

describe('a form', () => {
  it.each<[string, string, Outcome]>([
    ['a field and a file', `${FIELD}a\r\n${FILE}\r\n-\r\n--\r\n--b--\r\n`, { channels: 'a', recording: '\r\n-\r\n--' }],
    [
      'a preamble and an epilogue',
      `x\r\n--bc\r\n${FILE}x\r\n--b--\r\n--b\r\n`,
      ['body has a malformed boundary before part 1'],
    ],
    ['text before the first and after the last boundary', `x\r\n${FILE}x\r\n--b--\r\n${FIELD}a`, { recording: 'x' }],
    ['a part without content, RFC 2046 5.1.1', `${FIELD.slice(0, -2)}\r\n--b--`, { channels: '' }],
    ['an empty part', `${FIELD}\r\n--b--`, { channels: '' }],
    ['a folded header', `${FIELD.replace('; ', ';\r\n\t')}a\r\n--b--`, { channels: 'a' }],
    [
      'names without quotes, and headers in capitals',
      `${FIELD.replaceAll('"', '').toUpperCase().replaceAll('CHANNELS', 'channels').replaceAll('--B', '--b')}a\r\n--b--`,
      { channels: 'a' },
    ],
    [
      'a file by its media type',
      `${FILE.replace('; filename="a"', '\r\nContent-Type: application/octet-stream')}x\r\n--b--`,
      { recording: 'x' },
    ],
    ['text that is not UTF-8', `${FIELD}\xff\r\n--b--`, ['channels must be encoded in UTF-8']],
    ['too long a text', `${FIELD}${'a'.repeat(21)}\r\n--b--`, ['channels must be at most 20 bytes']],
    ['too large a file', `${FILE}${'a'.repeat(1_001)}\r\n--b--`, ['recording must be at most 1000 bytes']],
    [
      'long headers',
      `${FIELD.replace('\r\n\r\n', `\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`)}`,
      ['body has headers of more than 16 KiB in part 1'],
    ],
    ['headers without end', `${FIELD.slice(0, -4)}\r\n--b--\r\n`, ['body has a malformed header in part 1']],
    ['nothing', '', ['body is not a complete multipart/form-data document']],
    ['no part', '--b--', {}],
  ])('of %s is the same in however many pieces it arrives', async (_name, text, outcome) => {
    const [bytes] = of(text) as [Buffer];
    expect(await read([bytes])).toEqual(outcome);
    for (let cut = 0; cut <= Math.min(bytes.length, 400); cut++) {
      expect(await read([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(outcome);
    }
    if (bytes.length < 400) expect(await read([...bytes].map((byte) => Buffer.from([byte])))).toEqual(outcome);
  });

  it('is the same in every three pieces', async () => {
    const [bytes] = of(`${FIELD}a\r\n${FILE}\r\n--\r\n--b--\r\n`) as [Buffer];
    const cuts = Array.from({ length: bytes.length }, (_, first) => first).flatMap((first) =>
      Array.from({ length: bytes.length - first }, (_, more) => [first, first + more] as const),
    );
    const every = Math.ceil(cuts.length / shareOf(cuts.length));
    for (const [first, second] of cuts.filter((_, index) => index % every === 0)) {
      const parts = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
      expect(await read(parts)).toEqual({ channels: 'a', recording: '\r\n--' });
    }
  });

  it.each([
    ['boundary="b"', { channels: 'a' }],
    ['charset=utf-8; Boundary=b', { channels: 'a' }],
    ['boundary=', ['body must name its boundary in Content-Type']],
    ['boundary=""', ['body must name its boundary in Content-Type']],
    ['boundary', ['body must name its boundary in Content-Type']],
  ])('has the boundary of Content-Type: %s', async (parameter, outcome) => {
    expect(await read(of(`${FIELD}a\r\n--b--`), `multipart/form-data; ${parameter}`)).toEqual(outcome);
  });

  it.each(['', 'application/json', 'multipart/form-data\u00a0; boundary=b', 'multipart/form-data/; boundary=b'])(
    'is refused with another Content-Type: "%s"',
    async (type) => {
      expect(await read(of(`${FIELD}a\r\n--b--`), type)).toEqual(['body must be sent as multipart/form-data']);
    },
  );

  it.each([
    ['spaces', `${FIELD.slice(0, -5)}"${' '.repeat(16_000)}x`],
    ['quotes', `--b\r\nContent-Disposition: form-data${'; a="\\'.repeat(1_600)}`],
    ['parameters', `--b\r\nContent-Disposition: form-data${'; a="b"'.repeat(2_000)}; a=`],
  ])('with many %s in a header is refused without backtracking', async (_name, text) => {
    const issues = await read(of(`${text}\r\n\r\na\r\n--b--`));
    expect(issues).toEqual(['part 1 of body must have a Content-Disposition such as form-data; name="channels"']);
  });
});
