import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { streamText } from '../servers.js';

/** A call that the platform carries. */
export interface OpenCall {
  readonly id: string;
  readonly attempt: string;
  readonly key: string;
  readonly openedAt: number;
  /** As the request gave them. */
  readonly variables?: object;
  readonly version?: string;
}

type Opening = Pick<OpenCall, 'attempt' | 'variables' | 'version'>;

export interface PaidPlatformOptions {
  /** Milliseconds for each answer of the agent. */
  readonly answerMs?: number;
  /** Faults, which can be changed while it runs. */
  faults?: {
    /** Statuses for the next requests that open a call, instead of a call. */
    readonly refusals?: number[];
    /** Statuses for the next requests that end a call. */
    readonly endings?: number[];
    /** The call is opened, and the connection cut before the answer. */
    readonly isAnswerLost?: boolean;
  };
}

/**
 * The paid platform on a socket of the loopback: one request opens a call, which stays open, whatever becomes of its
 * connections, until a request ends it.
 */
export class PaidPlatform {
  readonly open = new Map<string, OpenCall>();
  /** All calls that were opened, in order. */
  readonly opened: OpenCall[] = [];
  readonly refused: string[] = [];
  readonly endRequests: string[] = [];
  /** Most calls that were open at once, by key. */
  readonly most = new Map<string, number>();
  /** Called when a call was opened (before the answer), when the caller has spoken, and when a request ends a call. */
  onEvent: (event: 'opened' | 'spoken' | 'ending', attempt: string) => Promise<void> | void = () => undefined;
  /** Called when a connection is accepted: whether it is cut before its first request is read. */
  isConnectionCut: () => boolean = () => false;
  /** Asked when the caller has spoken: whether the connection is cut instead of an answer. */
  isCut: (attempt: string) => boolean = () => false;
  faults: NonNullable<PaidPlatformOptions['faults']>;

  private constructor(
    private readonly server: Server,
    private readonly options: PaidPlatformOptions,
  ) {
    this.faults = options.faults ?? {};
    server.on('connection', (socket) => {
      if (this.isConnectionCut()) socket.destroy();
    });
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => void this.answer(request, response, Buffer.concat(chunks).toString() || 'null'));
      response.on('error', () => undefined);
    });
  }

  static async start(options: PaidPlatformOptions = {}): Promise<PaidPlatform> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new PaidPlatform(server, options);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
    const { method, url = '', headers } = request;
    const [, folder, id = ''] = url.split('/');
    if (method === 'POST' && folder === 'calls') {
      return this.openCall(response, headers.authorization ?? '', JSON.parse(body) as Opening);
    }
    if (method === 'GET' && folder === 'attempts') {
      const call = this.opened.find(({ attempt }) => attempt === id);
      return json(response, call ? 200 : 404, { id: call?.id });
    }
    if (method === 'DELETE' && folder === 'calls') {
      this.endRequests.push(id);
      await this.onEvent('ending', this.open.get(id)?.attempt ?? '');
      const status = this.faults.endings?.shift();
      if (status !== undefined) return json(response, status, {});
      this.open.delete(id);
      return json(response, 200, {});
    }
    await this.onEvent('spoken', id);
    if (this.isCut(id)) return void response.destroy();
    setTimeout(() => streamText(response, 'Welcome!'), this.options.answerMs ?? 0);
  }

  private async openCall(response: ServerResponse, key: string, { attempt, ...asked }: Opening): Promise<void> {
    const status = this.faults.refusals?.shift();
    if (status !== undefined) {
      this.refused.push(attempt);
      response.setHeader('retry-after', '1');
      return json(response, status, {});
    }
    const call = { ...asked, id: randomUUID(), attempt, key, openedAt: Date.now() };
    this.open.set(call.id, call);
    this.opened.push(call);
    const count = [...this.open.values()].filter((one) => one.key === key).length;
    this.most.set(key, Math.max(count, this.most.get(key) ?? 0));
    await this.onEvent('opened', attempt);
    if (this.faults.isAnswerLost) response.destroy();
    else json(response, 201, { id: call.id });
  }
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
