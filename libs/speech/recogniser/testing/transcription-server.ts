import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readWav } from '../../../audio/index.js';

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
export class TranscriptionServer {
  readonly received: ReceivedAudio[] = [];
  /** Most requests that were in progress at a time. */
  most = 0;
  private present = 0;
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void (async () => {
        this.most = Math.max(this.most, ++this.present);
        const audio = await readForm(Buffer.concat(chunks), request.headers);
        this.received.push(audio);
        const answer = request.url === '/v1/audio/transcriptions' ? this.answer(audio) : { status: 404, body: {} };
        const { status = 200, body, afterMs = 0 } = answer === 'hang up' ? { body: '' } : answer;
        await new Promise((resolve) => setTimeout(resolve, afterMs).unref());
        this.present--;
        if (answer === 'hang up') request.socket.destroy();
        else response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));
      })();
    });
  });

  constructor(private readonly answer: (audio: ReceivedAudio) => ServerAnswer) {}

  /** @returns its address */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

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
