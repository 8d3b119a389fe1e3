import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { json } from 'node:stream/consumers';
import { type WebSocket, WebSocketServer } from 'ws';
import { ScriptedVapi, type VapiScript } from './agent.js';
import { type ChatScript, Chats } from './chats.js';

export interface VapiServerOptions {
  /** Other keys are refused. */
  readonly apiKey?: string;
  /** Other assistants are not known. */
  readonly assistantId?: string;
  readonly script?: VapiScript;
  readonly chat?: ChatScript;
  /** Answers every request of the API with it. */
  readonly refusal?: { readonly status: number; readonly body: string; readonly headers?: Record<string, string> };
  /** In place of the own address. */
  readonly websocketCallUrl?: string;
  /** In the query of the own address. */
  readonly transportSecret?: string;
  /** `none`: controlEnabled of the assistant is false; `broken`: it answers with 500. */
  readonly control?: 'none' | 'broken';
  /** In the path of controlUrl. */
  readonly controlSecret?: string;
  /** How long a call may be awaited, and how long it goes on without a connection. */
  readonly validMs?: number;
  readonly maxDurationMs?: number;
  /** Calls at once; beyond them a call is created that is blocked. */
  readonly maxCalls?: number;
  /** What the lists of assistants and telephone numbers return. */
  readonly assistants?: readonly object[];
  readonly phoneNumbers?: readonly object[];
}

interface Requested {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
}

interface PlacedCall {
  readonly record: Readonly<Record<string, unknown>>;
  readonly control: string;
  /** That of the request that created it. */
  readonly attempt: string;
  status: 'queued' | 'in-progress' | 'ended';
  socket?: WebSocket;
}

const VALID_MS = 20_000;
const MAX_DURATION_MS = 600_000;

/** The API and the calls of the platform on the loopback, with its own account of calls. */
export class VapiServer {
  readonly requests: Requested[] = [];
  readonly upgrades: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = [];
  readonly agents: ScriptedVapi[] = [];
  /** How calls ended, in order. */
  readonly ends: ('control' | 'message' | 'agent' | 'limit')[] = [];
  mostCalls = 0;
  /**
   * Called for a request that creates a call or is a turn of a chat, for a WebSocket, for its first message, and for an
   * end that is asked for, with the id of the attempt. Tests may hold it back, and with false it is lost on its way, except
   * for the first message.
   */
  onEvent: (
    event: 'asked' | 'dialled' | 'begun' | 'ending',
    attempt: string,
  ) => Promise<boolean | void> | boolean | void = () => undefined;
  private readonly calls = new Map<string, PlacedCall>();
  private readonly relayed = new Map<string, PlacedCall>();
  private readonly chats: Chats;
  private readonly http = createServer((request, response) => void this.answer(request, response));
  private readonly webSockets = new WebSocketServer({ noServer: true });
  private readonly timers = new Set<NodeJS.Timeout>();

  private constructor(private readonly options: VapiServerOptions) {
    this.chats = new Chats(options.chat ?? []);
    this.http.on('upgrade', (request, socket, head) => void this.dialled(request, socket, head));
  }

  static async start(options: VapiServerOptions = {}): Promise<VapiServer> {
    const double = new VapiServer(options);
    double.http.listen(0, '127.0.0.1');
    await once(double.http, 'listening');
    return double;
  }

  /** Base of the API. */
  get url(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  /** Calls that were created. */
  get placedCalls(): number {
    return this.calls.size;
  }

  /** Calls that cost money now: a lost connection does not end one. */
  get openCalls(): number {
    return [...this.calls.values()].filter(({ status }) => status !== 'ended').length;
  }

  async stop(): Promise<void> {
    for (const timer of this.timers) clearTimeout(timer);
    for (const socket of this.webSockets.clients) socket.terminate();
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  /** Takes a connection at this path, as of a call that was created. */
  awaitAt(path: string): void {
    this.create({}, '');
    this.relayed.set(path, [...this.calls.values()].at(-1)!);
  }

  private async dialled(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => undefined);
    const { url = '', headers } = request;
    this.upgrades.push({ url, headers });
    const call = this.awaited(url);
    if (!call) return void socket.end('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
    if ((await this.onEvent('dialled', call.attempt)) === false) return void socket.destroy();
    this.webSockets.handleUpgrade(request, socket, head, (webSocket) => this.connected(call, webSocket));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const body = (method === 'POST' ? await json(request).catch(() => ({})) : {}) as Requested['body'];
    const attempt = String(headers['x-call-id'] ?? '');
    if (attempt !== '' && (await this.onEvent('asked', attempt)) === false) return void response.destroy();
    this.requests.push({ method, url, headers, body });
    const send = (status: number, value: unknown, more: Record<string, string> = {}) => {
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      response.writeHead(status, { 'content-type': 'application/json', ...more }).end(text);
    };
    const { pathname } = new URL(url, this.url);
    const controlled = [...this.calls.values()].find(({ control }) => control === pathname);
    // On another host of the platform: it knows no keys.
    if (controlled && method === 'POST') {
      if ((await this.onEvent('ending', controlled.attempt)) === false) return void response.destroy();
      return send(...this.control(controlled, body));
    }
    const { refusal, apiKey } = this.options;
    if (refusal) return send(refusal.status, refusal.body, refusal.headers);
    if (apiKey !== undefined && headers.authorization !== `Bearer ${apiKey}`) {
      const message =
        'Invalid Key. Hot tip, you may be using the private key instead of the public key, or vice versa.';
      return send(401, { message, error: 'Unauthorized', statusCode: 401 });
    }
    return send(...this.api(method, pathname, body, attempt));
  }

  private api(method: string, pathname: string, body: Requested['body'], attempt: string): [number, unknown] {
    const isUnknown = this.options.assistantId !== undefined && body['assistantId'] !== this.options.assistantId;
    const id = pathname.slice('/call/'.length);
    switch (`${method} ${pathname.startsWith('/call/') ? '/call/{id}' : pathname}`) {
      case 'POST /call':
        return isUnknown ? notFound(body['assistantId']) : [201, this.create(body, attempt)];
      case 'POST /chat':
        return isUnknown ? notFound(body['assistantId']) : this.chats.answer(body);
      case 'GET /call':
        return [200, [...this.calls.values()].map((call) => this.recordOf(call))];
      case 'GET /call/{id}': {
        const call = this.calls.get(id);
        return call ? [200, this.recordOf(call)] : notFound(id);
      }
      case 'GET /assistant':
        return [200, this.options.assistants ?? []];
      case 'GET /phone-number':
        return [200, this.options.phoneNumbers ?? []];
      default:
        return [404, { message: `Cannot ${method} ${pathname}`, error: 'Not Found', statusCode: 404 }];
    }
  }

  private create(body: Requested['body'], attempt: string): object {
    const { control, controlSecret = randomUUID(), maxCalls = Infinity } = this.options;
    const { transportSecret, websocketCallUrl } = this.options;
    const id = randomUUID();
    const isBlocked = this.openCalls >= maxCalls;
    const path = `/control-host/${encodeURIComponent(controlSecret)}/${id}`;
    const now = new Date().toISOString();
    const transport = body['transport'] as object;
    const query = transportSecret === undefined ? '' : `?token=${encodeURIComponent(transportSecret)}`;
    const call: PlacedCall = {
      record: {
        ...{ id, orgId: 'org_1', type: 'vapi.websocketCall', cost: 0, createdAt: now, updatedAt: now },
        ...{ assistantId: body['assistantId'], name: body['name'] },
        transport: {
          ...transport,
          websocketCallUrl: websocketCallUrl ?? `${this.url.replace('http', 'ws')}/${id}/transport${query}`,
        },
        monitor: control === 'none' ? {} : { controlUrl: `${this.url}${path}` },
        subscriptionLimits: { concurrencyBlocked: isBlocked, concurrencyLimit: 10, remainingConcurrentCalls: 0 },
      },
      ...{ control: path, attempt, status: 'queued' },
    };
    this.calls.set(id, call);
    this.mostCalls = Math.max(this.mostCalls, this.openCalls);
    this.later(this.options.validMs ?? VALID_MS, () => call.status === 'queued' && this.end(call, 'limit'));
    return this.recordOf(call);
  }

  private recordOf({ record, status }: PlacedCall): object {
    return { ...record, status };
  }

  private control(call: PlacedCall, body: Requested['body']): [number, unknown] {
    if (this.options.control === 'broken') return [500, 'Internal error'];
    if (call.status === 'ended') return [404, { message: 'Call not found' }];
    if (body['type'] === 'end-call') this.end(call, 'control');
    return [201, {}];
  }

  private awaited(url: string): PlacedCall | undefined {
    const { pathname } = new URL(url, this.url);
    const call = this.relayed.get(pathname) ?? this.calls.get(/^\/([^/]+)\/transport$/.exec(pathname)?.[1] ?? '');
    return call?.status === 'queued' ? call : undefined;
  }

  private connected(call: PlacedCall, webSocket: WebSocket): void {
    call.status = 'in-progress';
    call.socket = webSocket;
    const agent = new ScriptedVapi(
      {
        send: (data) => webSocket.send(data),
        close: (code, reason) => {
          this.end(call, 'agent');
          webSocket.close(code, reason);
        },
      },
      this.options.script ?? {},
    );
    this.agents.push(agent);
    const timer = setInterval(() => agent.tick(performance.now()), 10);
    webSocket.once('message', () => void this.onEvent('begun', call.attempt));
    webSocket.on('message', (data: Buffer, isBinary) => {
      agent.onMessage(performance.now(), isBinary ? data : data.toString('utf8'));
      if (!isBinary && agent.received.at(-1)?.type === 'end-call') void this.hungUp(call);
    });
    webSocket.on('error', () => undefined);
    webSocket.on('close', () => clearInterval(timer));
    this.later(this.options.maxDurationMs ?? MAX_DURATION_MS, () => this.end(call, 'limit'));
  }

  private async hungUp(call: PlacedCall): Promise<void> {
    if ((await this.onEvent('ending', call.attempt)) !== false) this.end(call, 'message');
  }

  private end(call: PlacedCall, how: VapiServer['ends'][number]): void {
    if (call.status === 'ended') return;
    call.status = 'ended';
    this.ends.push(how);
    if (how !== 'agent') call.socket?.close(1000);
  }

  private later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      act();
    }, ms);
    this.timers.add(timer.unref());
  }
}

const notFound = (id: unknown): [number, unknown] => [
  404,
  { message: `Couldn't get assistant. ${String(id)} does not exist.`, error: 'Not Found', statusCode: 404 },
];
