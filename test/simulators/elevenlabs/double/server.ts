import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { KeptCalls } from '../../records/kept-calls.js';
import { elevenlabsList, elevenlabsRecord } from '../records.js';
import { descriptionOf, type ListedAgent, pageOfAgents } from './account.js';
import { type ElevenLabsScript, ScriptedElevenLabs } from './agent.js';
import { server as messages } from './messages.js';

export interface ElevenLabsServerOptions {
  /** The only key that is accepted; without it, every key is. */
  readonly apiKey?: string;
  /** The only agent that is known; without it, every agent is. */
  readonly agentId?: string;
  readonly script?: ElevenLabsScript;
  /** The answer to every request for a signed address. */
  readonly refusal?: { readonly status: number; readonly body: string; readonly headers?: Record<string, string> };
  /** Returned instead of the server's own address. */
  readonly signedUrl?: string;
  /** How long an address may be dialled; 15 minutes, as with the platform. */
  readonly validMs?: number;
  /** Answers each WebSocket upgrade with it, such as `500 Internal Server Error`. */
  readonly refusesUpgrade?: string;
  /** Dynamic variables without which no conversation begins. */
  readonly required?: readonly string[];
  /** `refused`: an override closes the connection; `ignored`: it has no effect, and the agent speaks. */
  readonly overrides?: 'taken' | 'refused' | 'ignored';
  /** Highest number of conversations at once. */
  readonly maxCalls?: number;
  /** Agents of the account, as its list has them. */
  readonly agents?: readonly ListedAgent[];
  /** Whether a call goes on when its connection is lost, until the end of the server. */
  readonly keepsLostCalls?: boolean;
}

type Send = (status: number, body: string, headers?: Record<string, string>) => unknown;
type Refuse = (status: number, code: string, message: string) => unknown;

interface Requested {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
}

const RECORDS_PATH = '/v1/convai/conversations';
const AGENTS_PATH = '/v1/convai/agents';
const SIGNED_PATH = '/v1/convai/conversation/get-signed-url';
const PATH = '/v1/convai/conversation';
const VALID_MS = 15 * 60_000;

/** The API and the conversations of the platform on the loopback, with its own account of calls. */
export class ElevenLabsServer {
  readonly requests: Requested[] = [];
  readonly kept = new KeptCalls();
  readonly upgrades: Requested[] = [];
  readonly agents: ScriptedElevenLabs[] = [];
  /** Close codes of the client. */
  readonly closes: number[] = [];
  /** Number of conversations that cost money now, and the highest number so far. */
  openCalls = 0;
  mostCalls = 0;
  /**
   * Called for a request (`asked`, with the id of the attempt), a WebSocket (`dialled`), the first message of a conversation
   * (`begun`) and the end of its connection (`closed`). A test may delay a request or a WebSocket; with false it is lost.
   */
  onEvent: (
    event: 'asked' | 'dialled' | 'begun' | 'closed',
    attempt?: string,
  ) => Promise<boolean | void> | boolean | void = () => undefined;
  private readonly signedAt = new Map<string, number>();
  private readonly http = createServer((request, response) => void this.asked(request, response));
  private readonly webSockets = new WebSocketServer({ noServer: true });

  private constructor(private readonly options: ElevenLabsServerOptions) {
    this.http.on('upgrade', (request, socket, head) => void this.dialled(request, socket, head));
  }

  static async start(options: ElevenLabsServerOptions = {}): Promise<ElevenLabsServer> {
    const double = new ElevenLabsServer(options);
    double.http.listen(0, '127.0.0.1');
    await once(double.http, 'listening');
    return double;
  }

  /** Base of the API. */
  get url(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.webSockets.clients) socket.terminate();
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  /** Takes an address with this signature. */
  accept(signature: string): void {
    this.signedAt.set(signature, Date.now());
  }

  private async dialled(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => undefined);
    this.upgrades.push({ url: request.url ?? '', headers: request.headers });
    if ((await this.onEvent('dialled')) === false) return void socket.destroy();
    const status = this.upgradeRefusal(request);
    if (status !== undefined) return void socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`);
    this.webSockets.handleUpgrade(request, socket, head, (webSocket) => this.connected(webSocket));
  }

  private async asked(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isLost = (await this.onEvent('asked', String(request.headers['x-call-id']))) === false;
    if (isLost) return void response.destroy();
    this.answer(request, response);
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    this.requests.push({ url: request.url ?? '', headers: request.headers });
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    const send: Send = (status, body, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
    const refuse: Refuse = (status, code, message) =>
      send(status, JSON.stringify({ detail: { status: code, message } }));
    const { apiKey, refusal } = this.options;
    const isOfRecords = pathname === RECORDS_PATH || pathname.startsWith(`${RECORDS_PATH}/`);
    const isOfAgents = pathname === AGENTS_PATH || pathname.startsWith(`${AGENTS_PATH}/`);
    const isAbout = pathname === SIGNED_PATH || isOfAgents || isOfRecords;
    if (!isAbout || request.method !== 'GET') return void refuse(404, 'not_found', 'Not Found');
    if (refusal) return void send(refusal.status, refusal.body, refusal.headers);
    if (apiKey !== undefined && request.headers['xi-api-key'] !== apiKey) {
      return void refuse(401, 'invalid_api_key', 'Invalid API key');
    }
    if (isOfRecords)
      this.records(decodeURIComponent(pathname.slice(RECORDS_PATH.length + 1)), searchParams, response, send, refuse);
    else if (pathname === SIGNED_PATH) this.signedAddress(searchParams.get('agent_id') ?? '', send, refuse);
    else this.account(decodeURIComponent(pathname.slice(AGENTS_PATH.length + 1)), searchParams, send, refuse);
  }

  private signedAddress(agent: string, send: Send, refuse: Refuse): void {
    const { agentId, maxCalls = Infinity, signedUrl } = this.options;
    if (agentId !== undefined && agent !== agentId) {
      refuse(404, 'document_not_found', 'The AI agent you are trying to reach does not exist.');
    } else if (this.openCalls >= maxCalls) {
      refuse(429, 'too_many_concurrent_requests', 'Too many concurrent calls');
    } else send(200, JSON.stringify({ signed_url: signedUrl ?? this.sign(agent) }));
  }

  /** The list of agents, or the description of one. */
  private account(id: string, query: URLSearchParams, send: Send, refuse: Refuse): void {
    const { agents = [] } = this.options;
    const agent = agents.find((one) => one.id === id);
    const found = id === '' ? pageOfAgents(agents, query) : agent && descriptionOf(agent);
    if (found) send(200, JSON.stringify(found));
    else if (id === '') refuse(422, 'invalid_query', 'page_size must be from 1 to 100');
    else refuse(404, 'document_not_found', `Agent ${id} not found`);
  }

  private records(id: string, query: URLSearchParams, response: ServerResponse, send: Send, refuse: Refuse): void {
    if (this.kept.misbehaves(response)) return;
    const call = this.kept.read(id);
    const found = id === '' ? elevenlabsList(this.kept, query) : call && elevenlabsRecord(call);
    if (found) send(200, JSON.stringify(found));
    else if (id === '') refuse(422, 'invalid_query', 'page_size must be from 1 to 100');
    else refuse(404, 'conversation_not_found', `Conversation ${id} not found`);
  }

  private sign(agent: string): string {
    const signature = randomBytes(15).toString('base64url');
    this.accept(signature);
    const query = new URLSearchParams({ agent_id: agent, conversation_signature: signature }).toString();
    return `${this.url.replace('http', 'ws')}${PATH}?${query}`;
  }

  private upgradeRefusal(request: IncomingMessage): string | undefined {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url);
    if (pathname !== PATH) return '404 Not Found';
    if (this.options.refusesUpgrade !== undefined) return this.options.refusesUpgrade;
    const at = this.signedAt.get(searchParams.get('conversation_signature') ?? '');
    return at === undefined || Date.now() - at > (this.options.validMs ?? VALID_MS) ? '403 Forbidden' : undefined;
  }

  private connected(webSocket: WebSocket): void {
    this.openCalls += 1;
    this.mostCalls = Math.max(this.mostCalls, this.openCalls);
    const agent = new ScriptedElevenLabs(
      { send: (data) => webSocket.send(data), close: (code, reason) => webSocket.close(code, reason) },
      this.options.script ?? {},
    );
    this.agents.push(agent);
    const timer = setInterval(() => agent.tick(performance.now()), 10);
    let isFirst = true;
    webSocket.on('message', (data: Buffer) => {
      const text = data.toString('utf8');
      if (isFirst) void this.onEvent('begun');
      const refusal = isFirst ? this.refusalOf(text) : undefined;
      isFirst = false;
      if (refusal === undefined) return agent.onMessage(performance.now(), text);
      // As it was observed: the metadata come first.
      webSocket.send(JSON.stringify(messages.metadata()));
      webSocket.close(1008, refusal);
    });
    webSocket.on('error', () => undefined);
    webSocket.on('close', (code) => {
      clearInterval(timer);
      this.closes.push(code);
      void this.onEvent('closed');
      if (code !== 1006 || !this.options.keepsLostCalls) this.openCalls -= 1;
    });
  }

  /** Why a conversation does not begin with this first message. */
  private refusalOf(text: string): string | undefined {
    const { required = [], overrides = 'taken' } = this.options;
    const { dynamic_variables: given = {}, conversation_config_override: override } = JSON.parse(text) as {
      dynamic_variables?: object;
      conversation_config_override?: object;
    };
    const missing = required.filter((name) => !Object.hasOwn(given, name));
    if (missing.length > 0) return `Missing required dynamic variables in first message: ${missing.join(', ')}`;
    const isOverridden = override !== undefined && Object.keys(override).length > 0;
    if (isOverridden && overrides === 'refused') return "Override for field 'text_only' is not allowed by config.";
    return undefined;
  }
}
