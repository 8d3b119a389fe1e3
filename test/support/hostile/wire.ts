import { Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';

/** A response as received on the wire. */
export interface WireResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export interface WireRequest {
  readonly method: string;
  /** The request target; each character is sent as one byte (latin1). */
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: Buffer | undefined;
}

/** Sends requests that `fetch` rejects, over persistent connections. */
export class WireClient {
  private readonly agent: Agent;

  constructor(
    private readonly url: URL,
    private readonly timeoutMs: number,
    connections = 16,
  ) {
    this.agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  close(): void {
    this.agent.destroy();
  }

  /** @throws Error if no response arrives in time, or the connection ends without one */
  send({ method, target, headers, body }: WireRequest): Promise<WireResponse> {
    return new Promise((resolve, reject) => {
      const request = httpRequest({
        host: this.url.hostname,
        port: this.url.port,
        agent: this.agent,
        method,
        path: target,
        // A flat list allows duplicate names. Content-Length is sent even for methods that rarely have a body.
        headers: ['Host', this.url.host, ...(body ? ['Content-Length', String(body.length)] : []), ...headers.flat()],
        setHost: false,
      } as unknown as Parameters<typeof httpRequest>[0]);
      const timer = setTimeout(
        () => request.destroy(new Error(`no response within ${this.timeoutMs} ms`)),
        this.timeoutMs,
      );
      request.once('close', () => clearTimeout(timer));
      request.once('error', reject);
      request.once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode ?? 0, headers: toHeaders(response.rawHeaders), text });
        });
      });
      request.end(body);
    });
  }
}

function toHeaders(raw: readonly string[]): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < raw.length; i += 2) headers.append(raw[i] ?? '', raw[i + 1] ?? '');
  return headers;
}

/** A connection on which arbitrary bytes can be sent. */
export class RawConnection {
  private received = Buffer.alloc(0);
  private ended = false;
  private wake: () => void = () => undefined;

  private constructor(readonly socket: Socket) {
    socket.on('data', (chunk) => {
      this.received = Buffer.concat([this.received, chunk]);
      this.wake();
    });
    const end = () => {
      this.ended = true;
      this.wake();
    };
    socket.once('end', end).once('close', end).on('error', end);
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    const connection = new RawConnection(socket);
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return connection;
  }

  /** @param data text is sent as latin1 */
  send(data: string | Buffer): this {
    this.socket.write(typeof data === 'string' ? Buffer.from(data, 'latin1') : data);
    return this;
  }

  /** The next response, including `100 Continue`; undefined if the connection ended without one. */
  async nextResponse({ toHead: isHead = false, timeoutMs = 10_000 } = {}): Promise<WireResponse | undefined> {
    const deadline = Date.now() + timeoutMs;
    for (;;) {
      const parsed = parseResponse(this.received, isHead, this.ended);
      if (parsed) {
        this.received = this.received.subarray(parsed.length);
        return parsed.response;
      }
      if (this.ended) return undefined;
      await this.waitForData(deadline);
    }
  }

  /** All responses until the server closes the connection. */
  async allResponses(options: { timeoutMs?: number } = {}): Promise<WireResponse[]> {
    const all: WireResponse[] = [];
    for (let next = await this.nextResponse(options); next; next = await this.nextResponse(options)) all.push(next);
    return all;
  }

  close(): void {
    this.socket.destroy();
  }

  private async waitForData(deadline: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve, reject) => {
      this.wake = resolve;
      timer = setTimeout(
        () =>
          reject(
            new Error(
              `The server neither responded nor closed the connection; received so far: ${this.received.toString('latin1').slice(0, 500)}`,
            ),
          ),
        deadline - Date.now(),
      );
    }).finally(() => clearTimeout(timer));
  }
}

/** Parses the first response if it is complete; without Content-Length it extends to the end of the connection. */
function parseResponse(
  received: Buffer,
  isHead: boolean,
  ended: boolean,
): { response: WireResponse; length: number } | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = received.subarray(0, headEnd).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(statusLine)?.[1] ?? Number.NaN);
  const headers = new Headers(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trim()];
    }),
  );
  const start = headEnd + 4;
  const hasBody = !isHead && status >= 200 && status !== 204 && status !== 304;
  const length = hasBody ? Number(headers.get('content-length') ?? Number.NaN) : 0;
  if (Number.isNaN(length) && !ended) return undefined;
  const end = Number.isNaN(length) ? received.length : start + length;
  if (received.length < end) return undefined;
  return { response: { status, headers, text: received.subarray(start, end).toString() }, length: end };
}
