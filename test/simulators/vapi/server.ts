import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { readBody, readObject, refuse, RequestError } from '../http.js';
import { KeptCalls } from '../records/kept-calls.js';
import { type Session, type SessionSocket, SessionSockets } from '../session-sockets.js';
import { ChatFailure, type Reply, type VapiAssistants } from './assistants.js';
import { Chats } from './chats.js';
import { isEndCall } from './messages.js';
import { answerOfRecords, CallRecorder, type End } from './records.js';
import { INVALID_KEY, notFound, send } from './replies.js';
import { type ScriptedAccount, ScriptedAssistants, type ScriptedVapi } from './scripted.js';

export interface VapiPlatformOptions {
  /** The only key that is accepted; without it, every key is. */
  readonly apiKey?: string | undefined;
  /** The answer to every request of the API. */
  readonly refusal?: { readonly status: number; readonly body: string; readonly headers?: Record<string, string> };
  /** Instead of the call's own address. */
  readonly websocketCallUrl?: string;
  /** In the query of the call's own address. */
  readonly transportSecret?: string;
  /** `none`: controlEnabled of the assistant is false; `broken`: it answers with 500. */
  readonly control?: 'none' | 'broken';
  /** In the path of controlUrl. */
  readonly controlSecret?: string;
  /** How long a new call waits for its WebSocket. */
  readonly validMs?: number;
  /** How long a call lasts at most after its WebSocket was opened. */
  readonly maxDurationMs?: number;
  /** Highest number of calls at once: a call beyond it is created, but blocked. */
  readonly maxCalls?: number;
  /** What the list of telephone numbers returns. */
  readonly phoneNumbers?: readonly object[];
}

type Body = Readonly<Record<string, unknown>>;

interface Requested {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Body;
}

interface PlacedCall {
  readonly record: Body;
  readonly control: string;
  /** Id of the attempt whose request created the call. */
  readonly attempt: string;
  status: 'queued' | 'in-progress' | 'ended';
  close: () => void;
  onEnd: (how: End) => void;
}

type Event = 'asked' | 'dialled' | 'begun' | 'ending';

const VALID_MS = 20_000;
const MAX_DURATION_MS = 600_000;
const MAX_CALLS = 10_000;
const ROUTE = /^\/(call|chat|assistant|phone-number)(?:\/([^/]+)(\/stereo-recording)?)?$/;

/** The API and the calls of the platform, with its own account of calls; it is served by an HTTP server. */
export class VapiPlatform {
  /**
   * Called with the id of the attempt for a request that creates a call or is a turn of a chat (`asked`), a WebSocket
   * (`dialled`), its first message (`begun`) and a request to end the call (`ending`). A test may delay all but the first
   * message; with false they are lost.
   */
  onEvent: (event: Event, attempt: string) => Promise<boolean | void> | boolean | void = () => undefined;
  /** Calls that have ended, and what they have in the records. */
  readonly kept = new KeptCalls();
  protected readonly calls = new Map<string, PlacedCall>();
  protected readonly relayed = new Map<string, PlacedCall>();
  private readonly controls = new Map<string, PlacedCall>();
  private readonly chats = new Chats();
  private readonly sockets = new SessionSockets();
  private readonly timers = new Set<NodeJS.Timeout>();

  constructor(
    private readonly assistants: VapiAssistants,
    private readonly options: VapiPlatformOptions,
  ) {}

  prepare(): Promise<unknown> {
    return this.assistants.prepare();
  }

  close(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.sockets.close();
  }

  /** Calls that cost money now: a lost connection does not end one. */
  get openCalls(): number {
    return [...this.calls.values()].filter(({ status }) => status !== 'ended').length;
  }

  /** Answers a request to a path of the platform. @returns false for other paths */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { method = '', url = '', headers } = request;
    const path = url.split('?')[0]!;
    if (this.kept.serve(path, headers, response)) return true;
    const controlled = this.controls.get(path);
    const [, route, id, sound = ''] = ROUTE.exec(path) ?? [];
    if (!controlled && route === undefined) return false;
    try {
      const body = method === 'POST' ? readObject(await readBody(request)) : {};
      const attempt = String(headers['x-call-id'] ?? '');
      const isTaken = attempt === '' || (await this.onEvent('asked', attempt)) !== false;
      if (isTaken) this.onRequest({ method, url, headers, body });
      if (!isTaken) response.destroy();
      // The control address is on another host of the platform, which checks no keys.
      else if (controlled) await this.controlled(controlled, body, response);
      else
        await this.answer(`${method} ${route}${id === undefined ? '' : '/{id}'}${sound}`, id, body, request, response);
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      send(response, [error.status, { message: error.message, error: 'Bad Request', statusCode: error.status }]);
    }
    return true;
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => undefined);
    const { url = '', headers } = request;
    this.onUpgrade({ url, headers });
    const call = this.awaited(url);
    if (!call) return refuse(socket, '404 Not Found');
    if ((await this.onEvent('dialled', call.attempt)) === false) return void socket.destroy();
    const begin = await this.assistants.begin(call.record['assistantId'], formatOf(call.record['transport']));
    if (!begin) return refuse(socket, '503 Service Unavailable');
    if (call.status !== 'queued') return refuse(socket, '404 Not Found');
    this.sockets.accept(request, socket, head, (line) => this.connected(call, line, begin));
  }

  /** Records of calls from their creation on. */
  private get carried(): Map<string, object> {
    return new Map([...this.calls].map(([id, call]) => [id, { ...call.record, status: call.status }]));
  }

  protected onRequest(_requested: Requested): void {}

  protected onUpgrade(_requested: { readonly url: string; readonly headers: IncomingHttpHeaders }): void {}

  protected onEnd(_how: End): void {}

  protected onCreate(): void {}

  /** Base of the addresses of a call. */
  protected baseOf({ host = 'localhost' }: IncomingHttpHeaders): string {
    return `http://${host}`;
  }

  private async answer(
    route: string,
    id: string | undefined,
    body: Body,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { refusal, apiKey } = this.options;
    if (refusal) return send(response, [refusal.status, refusal.body], refusal.headers);
    if (apiKey !== undefined && request.headers.authorization !== `Bearer ${apiKey}`)
      return send(response, INVALID_KEY);
    if (route.startsWith('GET call') && this.kept.misbehaves(response)) return;
    const reply = await this.api(route, id, body, request);
    if (reply[0] === 302) response.writeHead(302, { location: String(reply[1]) }).end();
    else if (reply[0] === 0) request.socket.destroy();
    else send(response, reply);
  }

  private api(route: string, id: string | undefined, body: Body, request: IncomingMessage): Reply | Promise<Reply> {
    switch (route) {
      case 'POST call': {
        const missing = this.assistants.missing(body['assistantId'], 'call');
        return missing === undefined ? [201, recordOf(this.create(body, request.headers))] : notFound(missing);
      }
      case 'POST chat':
        return this.chat(body);
      case 'GET call':
      case 'GET call/{id}':
      case 'GET call/{id}/stereo-recording':
        return answerOfRecords(this.kept, { route, id, request, base: this.baseOf(request.headers) }, this.carried);
      case 'GET assistant':
        return [200, this.assistants.listed];
      case 'GET phone-number':
        return [200, this.options.phoneNumbers ?? []];
      default:
        return notFound(`Cannot ${request.method} ${request.url}`);
    }
  }

  private async chat(body: Body): Promise<Reply> {
    const { assistantId } = body;
    const missing = this.assistants.missing(assistantId, 'chat');
    if (missing !== undefined) return notFound(missing);
    try {
      return await this.chats.answer(body, (history, turns) => this.assistants.reply(assistantId, history, turns));
    } catch (error) {
      if (error instanceof ChatFailure) return error.reply;
      throw error;
    }
  }

  protected create(body: Body, headers: IncomingHttpHeaders): PlacedCall {
    const { control, controlSecret = randomUUID(), maxCalls = Infinity } = this.options;
    const { transportSecret, websocketCallUrl } = this.options;
    const id = randomUUID();
    const base = this.baseOf(headers);
    const isBlocked = this.openCalls >= maxCalls;
    const path = `/control-host/${encodeURIComponent(controlSecret)}/${id}`;
    const now = new Date().toISOString();
    const query = transportSecret === undefined ? '' : `?token=${encodeURIComponent(transportSecret)}`;
    const call: PlacedCall = {
      record: {
        id,
        orgId: 'org_1',
        type: 'vapi.websocketCall',
        cost: 0,
        createdAt: now,
        updatedAt: now,
        assistantId: body['assistantId'],
        name: body['name'],
        transport: {
          ...(body['transport'] as object),
          websocketCallUrl: websocketCallUrl ?? `${base.replace('http', 'ws')}/${id}/transport${query}`,
        },
        monitor: control === 'none' ? {} : { controlUrl: `${base}${path}` },
        subscriptionLimits: { concurrencyBlocked: isBlocked, concurrencyLimit: 10, remainingConcurrentCalls: 0 },
      },
      control: path,
      attempt: String(headers['x-call-id'] ?? ''),
      status: 'queued',
      close: () => undefined,
      onEnd: () => undefined,
    };
    this.calls.set(id, call);
    this.controls.set(path, call);
    if (this.calls.size > MAX_CALLS) this.forget(this.calls.keys().next().value!);
    this.later(this.options.validMs ?? VALID_MS, () => call.status === 'queued' && this.end(call, 'limit'));
    this.onCreate();
    return call;
  }

  private forget(id: string): void {
    this.controls.delete(this.calls.get(id)!.control);
    this.calls.delete(id);
    this.kept.all.delete(id);
  }

  private async controlled(call: PlacedCall, { type }: Body, response: ServerResponse): Promise<void> {
    if ((await this.onEvent('ending', call.attempt)) === false) return void response.destroy();
    if (this.options.control === 'broken') return send(response, [500, 'Internal error']);
    if (call.status === 'ended') return send(response, [404, { message: 'Call not found' }]);
    if (type === 'end-call') this.end(call, 'control');
    send(response, [201, {}]);
  }

  private awaited(url: string): PlacedCall | undefined {
    const path = url.split('?')[0]!;
    const call = this.relayed.get(path) ?? this.calls.get(/^\/([^/]+)\/transport$/.exec(path)?.[1] ?? '');
    return call?.status === 'queued' ? call : undefined;
  }

  private connected(call: PlacedCall, line: SessionSocket, begin: (socket: SessionSocket) => Session): Session {
    call.status = 'in-progress';
    call.close = () => line.close();
    const agent = String(call.record['assistantId']);
    const recorder = new CallRecorder({ id: String(call.record['id']), agent, attempt: call.attempt });
    call.onEnd = (how) => this.kept.keep(recorder.ended(how));
    const session = begin({
      send: (data) => {
        recorder.hear(data);
        line.send(data);
      },
      close: (code, reason) => {
        this.end(call, 'agent');
        line.close(code, reason);
      },
    });
    this.later(this.options.maxDurationMs ?? MAX_DURATION_MS, () => this.end(call, 'limit'));
    let hasBegun = false;
    return {
      onMessage: (now, data) => {
        if (!hasBegun) void this.onEvent('begun', call.attempt);
        hasBegun = true;
        session.onMessage(now, data);
        if (typeof data === 'string' && isEndCall(data)) void this.hungUp(call);
      },
      tick: (now) => session.tick(now),
    };
  }

  private async hungUp(call: PlacedCall): Promise<void> {
    if ((await this.onEvent('ending', call.attempt)) !== false) this.end(call, 'message');
  }

  private end(call: PlacedCall, how: End): void {
    if (call.status === 'ended') return;
    call.status = 'ended';
    call.onEnd(how);
    this.onEnd(how);
    if (how !== 'agent') call.close();
  }

  private later(ms: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      act();
    }, ms);
    this.timers.add(timer.unref());
  }
}

const recordOf = ({ record, status }: PlacedCall): object => ({ ...record, status });

function formatOf(transport: unknown): 'mulaw' | 'pcm_s16le' {
  const { audioFormat } = (transport ?? {}) as { readonly audioFormat?: { readonly format?: unknown } };
  return audioFormat?.format === 'mulaw' ? 'mulaw' : 'pcm_s16le';
}

export interface VapiServerOptions extends VapiPlatformOptions, ScriptedAccount {}

/** The platform on the loopback, with scripted assistants; it records the requests. */
export class VapiServer extends VapiPlatform {
  readonly requests: Requested[] = [];
  readonly upgrades: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = [];
  /** How calls ended, in order. */
  readonly ends: End[] = [];
  mostCalls = 0;
  private readonly http = createServer((request, response) => void this.serve(request, response));

  private constructor(
    options: VapiServerOptions,
    private readonly scripted = new ScriptedAssistants(options),
  ) {
    super(scripted, options);
    this.http.on('upgrade', (request, socket, head) => void this.upgrade(request, socket, head));
  }

  static async start(options: VapiServerOptions = {}): Promise<VapiServer> {
    const server = new VapiServer(options);
    server.http.listen(0, '127.0.0.1');
    await once(server.http, 'listening');
    return server;
  }

  /** Base of the API. */
  get url(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  get agents(): readonly ScriptedVapi[] {
    return this.scripted.calls;
  }

  /** Calls that were created. */
  get placedCalls(): number {
    return this.calls.size;
  }

  async stop(): Promise<void> {
    this.close();
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  /** Accepts a WebSocket at this path as that of a new call. */
  awaitAt(path: string): void {
    this.relayed.set(path, this.create({}, {}));
  }

  protected override onRequest(requested: Requested): void {
    this.requests.push(requested);
  }

  protected override onUpgrade(requested: VapiServer['upgrades'][number]): void {
    this.upgrades.push(requested);
  }

  protected override onCreate(): void {
    this.mostCalls = Math.max(this.mostCalls, this.openCalls);
  }

  protected override onEnd(how: End): void {
    this.ends.push(how);
  }

  protected override baseOf(): string {
    return this.url;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!(await this.handle(request, response))) send(response, notFound(`Cannot ${request.method} ${request.url}`));
  }
}
