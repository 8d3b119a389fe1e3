import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readWav } from '../../../libs/audio/index.js';

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

const PATH = '/v1/audio/transcriptions';
/** The limit of public servers: several minutes of audio. */
const MAX_BODY = 25 * 1024 * 1024;

const failure = (status: number, message: string): ServerAnswer => ({ status, body: { error: { message } } });

/** A server of `/v1/audio/transcriptions` whose answers a function decides. */
export class TranscriptionServer {
  protected readonly server = createServer((request, response) => void this.serve(request, response));

  constructor(private readonly answer: (audio: ReceivedAudio) => ServerAnswer) {}

  /** @param port 0 for any free one @returns its address */
  async start(port = 0, host = '127.0.0.1'): Promise<string> {
    this.server.listen(port, host);
    await once(this.server, 'listening');
    const { address, family, port: used } = this.server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${used}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Resolves when the answer is to be sent. */
  protected async take(audio: ReceivedAudio): Promise<ServerAnswer> {
    const answer = this.answer(audio);
    const afterMs = answer === 'hang up' ? 0 : (answer.afterMs ?? 0);
    if (afterMs > 0) await sleep(afterMs, undefined, { ref: false });
    return answer;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await this.answerTo(request);
    if (answer === 'hang up') return void request.socket.destroy();
    const { status = 200, body } = answer;
    // The rest of a body that was not read would be taken for the next request.
    if (!request.complete) response.setHeader('Connection', 'close');
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
  }

  private async answerTo(request: IncomingMessage): Promise<ServerAnswer> {
    const path = request.url?.split('?')[0];
    if (path !== PATH || request.method !== 'POST') return failure(404, `Only POST ${PATH} exists here`);
    const body = await readBody(request).catch(() => undefined);
    if (!body) return failure(413, `The body must have at most ${MAX_BODY} bytes`);
    const audio = await readForm(body, request.headers).catch(() => undefined);
    if (!audio) return failure(400, 'The body must be multipart/form-data with a WAV file in the field file');
    return this.take(audio);
  }
}

/** @returns undefined when the body is too large @throws when it was cut */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** @throws for anything but a form with a WAV file */
async function readForm(
  body: Buffer,
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Promise<ReceivedAudio> {
  const type = String(headers['content-type']);
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  const file = form.get('file') as File;
  const { channels, rate } = readWav(new Uint8Array(await file.arrayBuffer()));
  const fields = [...form].filter((field): field is [string, string] => typeof field[1] === 'string');
  return {
    fields: Object.fromEntries(fields),
    authorization: headers['authorization'] as string | undefined,
    pcm: channels[0]!,
    rate,
  };
}
