import type { IncomingHttpHeaders } from 'node:http';
import { tone, writeWav } from '../../audio/index.js';
import { type DoubleAnswer, HttpDouble } from '../../outbound-http/testing/http-double.js';

/** What a speech server received. */
export interface ReceivedText {
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>> & { readonly input: string; readonly voice: string };
}

/** What it answers; WAV, if it names no other type. */
export type SpeechAnswer = DoubleAnswer;

/** How speech servers fail, by name. */
export type SpeechFault = keyof typeof SPEECH_FAULTS;

type Answer = (received: ReceivedText, count: number) => SpeechAnswer | Promise<SpeechAnswer>;

/** A server of `/v1/audio/speech` on this machine that answers as it is given. */
export class SpeechDouble extends HttpDouble<ReceivedText> {
  /** @param answer to a request, with its number from 1 */
  constructor(private behaviour: Answer = ({ body }) => spoken(body)) {
    super({
      path: '/v1/audio/speech',
      read: (body, headers) => ({ headers, body: JSON.parse(body.toString('utf8')) as ReceivedText['body'] }),
      answer: async (received, count) => ({ type: 'audio/wav', ...(await this.behaviour(received, count)) }),
    });
  }

  /** Answers differently from now on. */
  become(answer: Answer): void {
    this.behaviour = answer;
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

/** The sound at another rate than its header says. */
export function atWrongRate(body: ReceivedText['body']): Uint8Array {
  const file = Uint8Array.from(soundFor(body, 8_000));
  new DataView(file.buffer).setUint32(24, 192_000, true);
  return file;
}

/** Each with what is said of it. */
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
  'cut connection': [(body) => ({ body: soundFor(body), closes: 'in the body' }), 'was not reached'],
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
