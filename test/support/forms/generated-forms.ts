import { Random } from '../../chaos/random.js';
import { channelOf, wavOf } from '../wav-call.js';
import type { SentForm } from './sent-form.js';

const MIB = 1024 * 1024;
const WAV = wavOf({ channels: [channelOf(300, [[50, 100]]), channelOf(300, [[160, 100]])] });

/** Fields of a form that the service takes. */
export interface ValidFields {
  readonly evaluationId: string;
}

type Part = { readonly head: string; readonly content: readonly Buffer[] };

const HEADERS = [
  '',
  '(\r\n',
  ': x\r\n',
  ' Content-Disposition: form-data; name="channels"\r\n',
  'Content-Disposition\r\n',
  'Content-Disposition: \r\n',
  'Content-Disposition: form-data\r\n',
  'Content-Disposition: attachment; name="channels"\r\n',
  'Content-Disposition: form-data; name=channels"\r\n',
  'Content-Disposition: form-data; name="chan"nels"\r\n',
  'Content-Disposition: form-data; name="channels\r\n',
  "Content-Disposition: form-data; name*=UTF-8''%ff%00\r\n",
  "Content-Disposition: form-data; name*=latin9''%ff; filename*=x-none''%zz\r\n",
  'Content-Disposition: form-data;\r\n name="channels"\r\n',
  'Content-Disposition: form-data; name="recording"; filename="a"\n\n',
  'Content-Disposition: form-data; name="recording"; filename="../../a\u0000"\r\n',
  `X: ${'x'.repeat(20_000)}\r\n`,
  'X: x\r\n'.repeat(3_000),
  'Content-Type: \r\n',
  'Content-Type: text/plain; charset=x-none\r\n',
  'Content-Transfer-Encoding: base64\r\n',
];
const NAMES = [
  ...['recording', 'channels', 'evaluationId', 'startedAt', 'transcript', 'externalId'],
  ...[
    '',
    'record',
    'Recording',
    'a',
    '__proto__',
    'constructor',
    'x'.repeat(300),
    'a\u0000b',
    '\u00ff\u00fe',
    '%00',
    ' ',
  ],
];
const CONTENTS = ['', 'x', '-', '--', '\r\n', '\r\n--', 'caller-agent', '[]', '\u0000', '\u00ff'];
/** Sizes about the buffers of streams, and one above the largest field. */
const SIZES = [1, 100, 16_383, 65_300, 65_536, 66_000, 324_000, 4 * MIB + 1];
const PREAMBLES = ['', '\r\n', 'x', 'x'.repeat(70_000), '--'];
const EPILOGUES = ['', '\r\n', 'x', '\r\n--b\r\n', 'x'.repeat(200_000)];
const LARGE_EACH = 1_000;

/**
 * A form from the grammar of multipart, most of which the service must refuse.
 * @param index every thousandth has a file of up to 201 MiB
 */
export function generatedForm(seed: number, index: number, valid: ValidFields): SentForm {
  const random = new Random(seed * 1_000_003 + index);
  const one = <T>(values: readonly T[]): T => random.pick(values)!;
  const boundary = one(['b', 'x'.repeat(70), '----WebKitFormBoundary7MA4YWxkTrZu0gW', '-']);
  const isLarge = index % LARGE_EACH === LARGE_EACH - 1;
  const isValid = !isLarge && random.next() < 0.04;
  const parts = isValid ? validParts(valid) : Array.from({ length: random.integer(5) }, () => partOf(random));
  if (isLarge) parts.push(large(one([1, 199, 200, 201])));
  if (random.next() < 0.3) parts.splice(random.integer(parts.length + 1), 0, ...validParts(valid));
  if (parts.length > 0 && random.next() < 0.15) parts.push(one(parts));

  const flaw = isValid
    ? 'none'
    : one(['none', 'none', 'none', 'missing', 'wrong', 'unended', 'cut', 'LF', 'space', 'double']);
  const delimiter = {
    wrong: `--${boundary}x`,
    LF: `--${boundary}\n`,
    space: `--${boundary} `,
    double: `--${boundary}--${boundary}`,
  };
  const at = random.integer(parts.length + 1);
  const bytes: Buffer[] = [text(isValid ? '' : one(PREAMBLES))];
  for (const [number, { head, content }] of parts.entries()) {
    const flawed = number === at && (flaw === 'missing' ? '' : delimiter[flaw as keyof typeof delimiter]);
    bytes.push(
      text(number > 0 ? '\r\n' : ''),
      text(`${flawed || (flawed === '' ? '' : `--${boundary}`)}\r\n${head}\r\n`),
      ...content,
    );
  }
  const closing = one([`\r\n--${boundary}--`, `\r\n--${boundary}--\r\n`]);
  if (flaw === 'cut') bytes.push(text(closing.slice(0, random.integer(closing.length))));
  else if (flaw !== 'unended') bytes.push(text(closing), text(one(EPILOGUES)));
  return { name: `form ${index} of seed ${seed}`, boundary, ...sending(random, bytes, isValid || isLarge) };
}

function sending(random: Random, bytes: readonly Buffer[], isWhole: boolean): Omit<SentForm, 'boundary' | 'name'> {
  const length = bytes.reduce((sum, { length: each }) => sum + each, 0);
  const stated = random.next();
  const less = random.integer(length + 1);
  const writes = length > MIB * 6 ? bytes : cut(random, Buffer.concat(bytes));
  if (isWhole) return { writes, length: stated < 0.5 ? length : 'chunked' };
  // An aborted form loses its end.
  if (random.next() < 0.08)
    return { writes: writes.slice(0, -1), length: stated < 0.5 ? length : 'chunked', isAborted: true };
  const ways = [
    length,
    length,
    'chunked',
    'chunked',
    less,
    length + 1 + random.integer(100_000),
    0,
    300 * MIB,
    'absent',
  ] as const;
  return { writes, length: ways[Math.floor(stated * ways.length)]! };
}

/** One to three writes. */
function cut(random: Random, bytes: Buffer): Buffer[] {
  const cuts = Array.from({ length: random.integer(3) }, () => random.integer(bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...cuts].map((from, index) => bytes.subarray(from, [...cuts, bytes.length][index]));
}

function partOf(random: Random): Part {
  const name = random.pick(NAMES)!;
  const file = random.pick([
    '',
    '; filename="a.wav"',
    '; filename=""',
    '; filename="a"; name="channels"',
    "; filename*=UTF-8''%e2%82%ac",
  ]);
  const head =
    random.next() < 0.35
      ? random.pick(HEADERS)!
      : `Content-Disposition: form-data; name="${name}"${file}\r\n${random.next() < 0.2 ? random.pick(HEADERS)! : ''}`;
  const content =
    random.next() < 0.6
      ? text(random.pick(CONTENTS)!)
      : Buffer.alloc(random.pick(SIZES)!, random.pick(['a', '\r\n', '-', '\r\n--']));
  return { head, content: [content] };
}

const validParts = ({ evaluationId }: ValidFields): Part[] => [
  field('channels', 'caller-agent'),
  field('startedAt', '2026-11-20T09:30:00.000Z'),
  field('evaluationId', evaluationId),
  { head: 'Content-Disposition: form-data; name="recording"; filename="a.wav"\r\n', content: [WAV] },
];
const field = (name: string, value: string): Part => ({
  head: `Content-Disposition: form-data; name="${name}"\r\n`,
  content: [text(value)],
});

const BLOCK = Buffer.alloc(MIB);
const large = (mib: number): Part => ({
  head: 'Content-Disposition: form-data; name="recording"; filename="a.wav"\r\n',
  content: [...Array.from({ length: mib }, () => BLOCK), text('x')],
});

const text = (latin1: string): Buffer => Buffer.from(latin1, 'latin1');
