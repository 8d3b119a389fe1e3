import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface DoubleAnswer {
  readonly status?: number;
  readonly type?: string;
  readonly body?: Uint8Array | string;
  /** Closes the connection there. */
  readonly closes?: 'before the answer' | 'in the body';
  readonly afterMs?: number;
}

export interface DoubleOptions<Received> {
  /** The only one that it has. */
  readonly path: string;
  readonly read: (body: Buffer, headers: IncomingHttpHeaders) => Received | Promise<Received>;
  /** @param count number of the request, from 1 */
  readonly answer: (received: Received, count: number) => DoubleAnswer | Promise<DoubleAnswer>;
}

/** A server on this machine that keeps what it receives and answers as it is given. */
export class HttpDouble<Received> {
  readonly received: Received[] = [];
  /** Most requests that were in progress at a time. */
  most = 0;
  private present = 0;
  private readonly sockets: Socket[] = [];
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      void (async () => {
        this.most = Math.max(this.most, ++this.present);
        const { path, read, answer } = this.options;
        const received = await read(Buffer.concat(chunks), request.headers);
        this.received.push(received);
        const given = request.url === path ? await answer(received, this.received.length) : { status: 404 };
        const { status = 200, type, body = '', closes, afterMs = 0 } = given;
        await new Promise((resolve) => setTimeout(resolve, afterMs).unref());
        this.present--;
        const bytes = Buffer.from(body);
        const headers = type === undefined ? {} : { 'content-type': type };
        if (closes === 'before the answer') request.socket.destroy();
        else if (closes === undefined) response.writeHead(status, headers).end(bytes);
        else {
          response.writeHead(status, { ...headers, 'content-length': bytes.length });
          response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
        }
      })();
    });
  }).on('connection', (socket) => this.sockets.push(socket));

  constructor(private readonly options: DoubleOptions<Received>) {}

  /** Bytes that reached it, of all connections. */
  get bytes(): number {
    return this.sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
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
}
