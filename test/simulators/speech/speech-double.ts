import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { tone, writeWav } from '../../../libs/audio/index.js';

/** What a speech server received. */
export interface ReceivedText {
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>> & { readonly input: string; readonly voice: string };
}

/** What it answers. */
export interface SpeechAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly body?: Uint8Array | string;
  /** Closes the connection in the middle of the body. */
  readonly isCut?: true;
  readonly afterMs?: number;
}

/** How speech servers fail, by name. */
export type SpeechFault = keyof typeof SPEECH_FAULTS;

type Answer = (received: ReceivedText, count: number) => SpeechAnswer | Promise<SpeechAnswer>;

/** A server of `/v1/audio/speech` on this machine whose answers a function decides. */
export class SpeechDouble {
  readonly received: ReceivedText[] = [];
  /** Highest number of requests at once so far. */
  most = 0;
  private present = 0;
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => void this.serve(request, Buffer.concat(chunks), response));
  });

  /** @param answer decides the answer to a request, by its number from 1 */
  constructor(private answer: Answer = ({ body }) => spoken(body)) {}

  /** Answers differently from now on. */
  become(answer: Answer): void {
    this.answer = answer;
  }

  /** @returns its address */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve({ headers, url }: IncomingMessage, bytes: Buffer, response: ServerResponse): Promise<void> {
    this.most = Math.max(this.most, ++this.present);
    const received = { headers, body: JSON.parse(bytes.toString('utf8')) as ReceivedText['body'] };
    this.received.push(received);
    const isKnown = url === '/v1/audio/speech';
    const answer = isKnown ? await this.answer(received, this.received.length) : { status: 404 };
    await sleep(answer.afterMs ?? 0, undefined, { ref: false });
    this.present--;
    const body = Buffer.from(answer.body ?? '');
    const type = { 'content-type': answer.type ?? 'audio/wav' };
    if (!answer.isCut) return void response.writeHead(answer.status ?? 200, type).end(body);
    response.writeHead(200, { ...type, 'content-length': body.length });
    response.write(body.subarray(0, body.length / 2), () => response.destroy());
  }
}

const MS_PER_LETTER = 70;

/** A sound as long as a person needs for the text, with the pitch of the voice: 440 Hz if its name begins with "f". */
export function soundFor({ input, voice }: ReceivedText['body'], rate = 24_000): Uint8Array {
  return wav({ rate, ms: Math.max(300, input.length * MS_PER_LETTER), hz: voice.startsWith('f') ? 440 : 220 });
}

export const spoken = (body: ReceivedText['body'], rate?: number): SpeechAnswer => ({ body: soundFor(body, rate) });

/** A WAV file with a tone. */
export function wav({ rate = 24_000, ms = 2_000, dbfs = -20, hz = 440 } = {}): Uint8Array {
  return writeWav({ channels: [tone([hz], { rate, ms, dbfs })], rate, encoding: 'pcm16' });
}

/** The file with other sizes in its header, as servers write them before they know the length. */
export function withSizes(file: Uint8Array, size: number): Uint8Array {
  const copy = Uint8Array.from(file);
  const view = new DataView(copy.buffer);
  view.setUint32(4, size, true);
  view.setUint32(40, size, true);
  return copy;
}

/** A file whose header has another rate than its sound. */
export function atWrongRate(body: ReceivedText['body']): Uint8Array {
  const file = Uint8Array.from(soundFor(body, 8_000));
  new DataView(file.buffer).setUint32(24, 192_000, true);
  return file;
}

/** What such a server answers, and what the error of the service must say of it. */
export const SPEECH_FAULTS = {
  'empty body': [() => ({ body: '' }), 'an empty body'],
  'header alone': [() => ({ body: wav({ ms: 0 }) }), 'a silent sound'],
  silence: [() => ({ body: wav({ dbfs: -90 }) }), 'a silent sound'],
  'wrong rate': [(body) => ({ body: atWrongRate(body) }), 'too short'],
  'too short': [() => ({ body: wav({ ms: 30 }) }), 'too short'],
  'too long': [() => ({ body: wav({ rate: 8_000, ms: 60_000 }) }), 'too long'],
  'several headers': [(body) => ({ body: twice(body) }), 'several RIFF headers in one body'],
  json: [() => ({ type: 'application/json', body: '{"b64_json":"UklGRg=="}' }), 'text in place of sound'],
  'json that is called WAV': [() => ({ body: '{"error":"overloaded"}' }), 'text in place of sound'],
  'an HTML page': [() => ({ type: 'text/html', body: '<!doctype html>' }), 'text in place of sound'],
  'cut connection': [(body) => ({ body: soundFor(body), isCut: true }), 'was not reached'],
  'cut file': [(body) => ({ body: soundFor(body).slice(0, 4_000) }), 'a sound that was cut after 3956 of'],
  opus: [() => ({ type: 'audio/ogg', body: 'OggS\0\x02aaaaaaaa' }), 'Ogg (Opus or Vorbis), although WAV was asked for'],
  'opus in WebM': [() => ({ body: Buffer.from('1a45dfa3010203', 'hex') }), 'WebM (Opus), although WAV was asked for'],
  mp3: [
    () => ({ type: 'audio/mpeg', body: Buffer.from('fff3e4c400000000', 'hex') }),
    'MP3, although WAV was asked for',
  ],
  'mp3 with tags': [() => ({ type: 'audio/mpeg', body: 'ID3\x04aaaaaaaaaa' }), 'MP3, although WAV was asked for'],
  'samples alone': [(body) => ({ body: soundFor(body).slice(44) }), 'a body that is not a WAV file'],
  'status 401': [() => ({ status: 401, body: 'no key top-secret-key' }), 'answered with status 401'],
  'status 404': [() => ({ status: 404, body: '{"detail":"Model is not installed"}' }), 'Model is not installed'],
  'status 500': [() => ({ status: 500 }), 'answered with status 500'],
} as const satisfies Record<string, readonly [(body: ReceivedText['body']) => SpeechAnswer, string]>;

const twice = (body: ReceivedText['body']) => Buffer.concat([soundFor(body), soundFor(body)]);

/** Answers every request with the fault. */
export const failing =
  (fault: SpeechFault) =>
  ({ body }: ReceivedText): SpeechAnswer =>
    SPEECH_FAULTS[fault][0](body);
