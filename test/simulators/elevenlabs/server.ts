import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { decoded, refuse } from '../http.js';
import { type Session, type SessionSocket, SessionSockets } from '../session-sockets.js';
import { descriptionOf, type ElevenLabsAgents, pageOfAgents } from './account.js';
import { type ClientMessage, readClientMessage, server as messages } from './messages.js';
import { type ScriptedAccount, ScriptedAgents, type ScriptedElevenLabs } from './scripted.js';

export interface ElevenLabsPlatformOptions {
  /** The only key that is accepted; without it, every key is. */
  readonly apiKey?: string | undefined;
  /** The answer to every request of the API. */
  readonly refusal?: { readonly status: number; readonly body: string; readonly headers?: Record<string, string> };
  /** Returned instead of the server's own address. */
  readonly signedUrl?: string;
  /** How long an address may be dialled; 15 minutes, as with the platform. */
  readonly validMs?: number;
  /** Dynamic variables without which no conversation begins. */
  readonly required?: readonly string[];
  /** `refused`: an override closes the connection. */
  readonly overrides?: 'taken' | 'refused';
  /** Highest number of conversations at once. */
  readonly maxCalls?: number;
}

interface Requested {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

type Reply = readonly [status: number, body: object];

const PATH = '/v1/convai/conversation';
const SIGNING = `${PATH}/get-signed-url`;
const AGENTS = /^\/v1\/convai\/agents(?:\/(.*))?$/;
const VALID_MS = 15 * 60_000;
const MAX_SIGNED = 10_000;

/** The API and the conversations of the platform; it is served by an HTTP server. */
export class ElevenLabsPlatform {
  /** Number of conversations that cost money now. */
  openCalls = 0;
  /**
   * Called for a request (`asked`, with the id of the attempt), a WebSocket (`dialled`), the first message of a conversation
   * (`begun`) and the end of its connection (`closed`). A test may delay a request or a WebSocket; with false it is lost.
   */
  onEvent: (
    event: 'asked' | 'dialled' | 'begun' | 'closed',
    attempt?: string,
  ) => Promise<boolean | void> | boolean | void = () => undefined;
  private readonly signedAt = new Map<string, number>();
  private readonly sockets = new SessionSockets();

  constructor(
    private readonly account: ElevenLabsAgents,
    private readonly options: ElevenLabsPlatformOptions,
  ) {}

  prepare(): Promise<unknown> {
    return this.account.prepare();
  }

  close(): void {
    this.sockets.close();
  }

  /** Takes an address with this signature. */
  accept(signature: string): void {
    this.signedAt.set(signature, Date.now());
    if (this.signedAt.size > MAX_SIGNED) this.signedAt.delete(this.signedAt.keys().next().value!);
  }

  /** @returns whether the path is one of the platform, so that it was answered */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { method, url = '', headers } = request;
    const { pathname = '', searchParams = new URLSearchParams() } = urlOf(request) ?? {};
    if (method !== 'GET' || !(pathname === SIGNING || AGENTS.test(pathname))) return false;
    const isLost = (await this.onEvent('asked', String(headers['x-call-id']))) === false;
    if (!isLost) this.onRequest({ url, headers });
    const { refusal } = this.options;
    if (isLost) response.destroy();
    else if (refusal) send(response, refusal.status, refusal.body, refusal.headers);
    else {
      const [status, body] = this.answer(pathname, searchParams, headers);
      send(response, status, JSON.stringify(body));
    }
    return true;
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => undefined);
    this.onUpgrade({ url: request.url ?? '', headers: request.headers });
    if ((await this.onEvent('dialled')) === false) return void socket.destroy();
    const url = urlOf(request);
    if (!url) return refuse(socket, '400 Bad Request');
    const agent = url.searchParams.get('agent_id') ?? '';
    if (url.pathname !== PATH || this.account.missing(agent) !== undefined) return refuse(socket, '404 Not Found');
    const at = this.signedAt.get(url.searchParams.get('conversation_signature') ?? '');
    const { validMs = VALID_MS } = this.options;
    if (at === undefined || Date.now() - at > validMs) return refuse(socket, '403 Forbidden');
    const begin = await this.account.begin(agent);
    if (!begin) return refuse(socket, '503 Service Unavailable');
    this.sockets.accept(request, socket, head, (line) => this.connected(line, begin(line)));
  }

  protected onRequest(_requested: Requested): void {}

  protected onUpgrade(_requested: Requested): void {}

  protected closed(_code: number): void {
    void this.onEvent('closed');
    this.openCalls -= 1;
  }

  /** Of the addresses that are signed. */
  protected baseOf({ host = 'localhost' }: IncomingHttpHeaders): string {
    return `http://${host}`;
  }

  private answer(path: string, query: URLSearchParams, headers: IncomingHttpHeaders): Reply {
    const { apiKey } = this.options;
    if (apiKey !== undefined && headers['xi-api-key'] !== apiKey)
      return failure(401, 'invalid_api_key', 'Invalid API key');
    if (path === SIGNING) return this.signedAddress(query.get('agent_id') ?? '', headers);
    const { listed } = this.account;
    const id = decoded(AGENTS.exec(path)?.[1] ?? '');
    if (id === '') {
      const page = pageOfAgents(listed, query);
      return page ? [200, page] : failure(422, 'invalid_query', 'page_size must be from 1 to 100');
    }
    const agent = listed.find((one) => one.id === id);
    return agent ? [200, descriptionOf(agent)] : failure(404, 'document_not_found', `Agent ${id} not found`);
  }

  private signedAddress(agent: string, headers: IncomingHttpHeaders): Reply {
    const { maxCalls = Infinity, signedUrl } = this.options;
    const missing = this.account.missing(agent);
    if (missing !== undefined) return failure(404, 'document_not_found', missing);
    if (this.openCalls >= maxCalls) return failure(429, 'too_many_concurrent_requests', 'Too many concurrent calls');
    return [200, { signed_url: signedUrl ?? this.sign(agent, headers) }];
  }

  private sign(agent: string, headers: IncomingHttpHeaders): string {
    const signature = randomBytes(15).toString('base64url');
    this.accept(signature);
    const query = new URLSearchParams({ agent_id: agent, conversation_signature: signature }).toString();
    return `${this.baseOf(headers).replace('http', 'ws')}${PATH}?${query}`;
  }

  private connected(line: SessionSocket, session: Session): Session {
    this.openCalls += 1;
    let isFirst = true;
    return {
      onMessage: (now, data) => {
        if (isFirst) void this.onEvent('begun');
        const refusal = isFirst ? this.refusalOf(data) : undefined;
        isFirst = false;
        if (refusal === undefined) return session.onMessage(now, data);
        // As it was observed: the metadata come first.
        line.send(JSON.stringify(messages.metadata()));
        line.close(1008, refusal);
      },
      tick: (now) => session.tick(now),
      onClose: (_now, code) => this.closed(code),
    };
  }

  /** Why a conversation does not begin with this first message. */
  private refusalOf(data: string | Uint8Array): string | undefined {
    const { required = [], overrides = 'taken' } = this.options;
    const message: Partial<ClientMessage> = readClientMessage(data) ?? {};
    const given = message['dynamic_variables'] ?? {};
    const missing = required.filter((name) => !Object.hasOwn(given, name));
    if (missing.length > 0) return `Missing required dynamic variables in first message: ${missing.join(', ')}`;
    return overrides === 'refused' && Object.keys(message['conversation_config_override'] ?? {}).length > 0
      ? "Override for field 'text_only' is not allowed by config."
      : undefined;
  }
}

const urlOf = ({ url = '' }: IncomingMessage): URL | undefined =>
  URL.canParse(url, 'http://agent') ? new URL(url, 'http://agent') : undefined;

const failure = (status: number, code: string, message: string): Reply => [
  status,
  { detail: { status: code, message } },
];

function send(response: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
}

export interface ElevenLabsServerOptions extends ElevenLabsPlatformOptions, ScriptedAccount {}

/** The platform on the loopback, with scripted agents; it keeps what it was asked. */
export class ElevenLabsServer extends ElevenLabsPlatform {
  readonly requests: Requested[] = [];
  readonly upgrades: Requested[] = [];
  /** Close codes of the client. */
  readonly closes: number[] = [];
  private readonly http = createServer((request, response) => void this.serve(request, response));

  private constructor(
    options: ElevenLabsServerOptions,
    private readonly scripted = new ScriptedAgents(options),
  ) {
    super(scripted, options);
    this.http.on('upgrade', (request, socket, head) => void this.upgrade(request, socket, head));
  }

  static async start(options: ElevenLabsServerOptions = {}): Promise<ElevenLabsServer> {
    const server = new ElevenLabsServer(options);
    server.http.listen(0, '127.0.0.1');
    await once(server.http, 'listening');
    return server;
  }

  /** Base of the API. */
  get url(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  get agents(): readonly ScriptedElevenLabs[] {
    return this.scripted.conversations;
  }

  async stop(): Promise<void> {
    this.close();
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  protected override onRequest(requested: Requested): void {
    this.requests.push(requested);
  }

  protected override onUpgrade(requested: Requested): void {
    this.upgrades.push(requested);
  }

  protected override closed(code: number): void {
    this.closes.push(code);
    super.closed(code);
  }

  protected override baseOf(): string {
    return this.url;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!(await this.handle(request, response))) {
      const [status, body] = failure(404, 'not_found', 'Not Found');
      send(response, status, JSON.stringify(body));
    }
  }
}
