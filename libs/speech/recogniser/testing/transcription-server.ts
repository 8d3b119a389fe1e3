import type { IncomingHttpHeaders } from 'node:http';
import { readWav } from '../../../audio/index.js';
import { type DoubleAnswer, HttpDouble } from '../../../outbound-http/testing/http-double.js';

/** What a transcription server received. */
export interface ReceivedAudio {
  readonly fields: Readonly<Record<string, string>>;
  readonly authorization: string | undefined;
  readonly pcm: Int16Array;
  readonly rate: number;
}

export type ServerAnswer =
  | { readonly status?: number; readonly body: unknown; readonly afterMs?: number }
  /** Closes the connection. */
  | 'hang up';

/** A server of `/v1/audio/transcriptions` on this machine that answers as it is given. */
export class TranscriptionServer extends HttpDouble<ReceivedAudio> {
  constructor(answer: (audio: ReceivedAudio) => ServerAnswer) {
    super({ path: '/v1/audio/transcriptions', read: readForm, answer: (audio) => written(answer(audio)) });
  }
}

function written(answer: ServerAnswer): DoubleAnswer {
  if (answer === 'hang up') return { closes: 'before the answer' };
  const { body } = answer;
  return { ...answer, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

async function readForm(body: Buffer, headers: IncomingHttpHeaders): Promise<ReceivedAudio> {
  const type = String(headers['content-type']);
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  const file = form.get('file') as File;
  const { channels, rate } = readWav(new Uint8Array(await file.arrayBuffer()));
  const fields = [...form].filter((field): field is [string, string] => typeof field[1] === 'string');
  return {
    fields: Object.fromEntries(fields),
    authorization: headers.authorization,
    pcm: channels[0]!,
    rate,
  };
}
