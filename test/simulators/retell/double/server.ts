import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RetellMessage {
  readonly role: string;
  readonly content?: string;
  readonly [field: string]: unknown;
}

/** What a client asks for, by the typings of `retell-sdk` 5.66.1 (`PlaygroundCompletionParams`). */
export interface CompletionBody {
  readonly messages: readonly RetellMessage[];
  readonly dynamic_variables?: Readonly<Record<string, string>>;
  readonly tool_mocks?: readonly ToolMock[];
  readonly current_state?: string;
  readonly current_node_id?: string;
  readonly component_id?: string;
}

export interface ToolMock {
  readonly tool_name: string;
  readonly input_match_rule: { readonly type: 'any' | 'partial_match'; readonly args?: object };
  readonly output: string;
  readonly result?: boolean;
}

/** `PlaygroundCompletionResponse`. */
export interface CompletionAnswer {
  readonly messages: readonly RetellMessage[];
  readonly call_ended?: boolean;
  readonly current_state?: string;
  readonly current_node_id?: string;
  readonly component_id?: string;
  readonly dynamic_variables?: Readonly<Record<string, string>>;
}

export interface ListedAgent {
  readonly id: string;
  readonly name?: string;
  readonly language?: string;
  readonly prompt?: string;
}

/** What the platform does wrong, or in another way. */
export type RetellFault = 'no-json' | 'no-list' | 'too-large' | 'cut' | 'slow' | 'unknown-role' | 'echo-key';

export interface RetellServerOptions {
  /** Other keys are refused. */
  readonly apiKey?: string;
  /** Other agents are not known. */
  readonly agentId?: string;
  readonly answer?: (body: CompletionBody, turn: number) => CompletionAnswer;
  /** Answers every completion with it. */
  readonly refusal?: { readonly status: number; readonly message: string; readonly headers?: Record<string, string> };
  /** Calls at once of the account, and how many of them are in use; `missing`: no such path. */
  readonly concurrency?: { readonly current: number; readonly limit: number } | 'missing';
  readonly agents?: readonly ListedAgent[];
  readonly fault?: RetellFault;
}

interface Requested {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const PAGE_SIZE = 50;

/** The API of the platform on the loopback. It keeps nothing of a conversation, as the platform. */
export class RetellServer {
  readonly requests: Requested[] = [];
  readonly completions: CompletionBody[] = [];
  /** Called for a turn, with the id of the attempt; tests may hold it back. With false it is lost on its way. */
  onEvent: (event: 'asked', attempt: string) => Promise<boolean | void> | boolean | void = () => undefined;
  private readonly http = createServer((request, response) => void this.asked(request, response));

  private constructor(private readonly options: RetellServerOptions) {}

  static async start(options: RetellServerOptions = {}): Promise<RetellServer> {
    const double = new RetellServer(options);
    double.http.listen(0, '127.0.0.1');
    await once(double.http, 'listening');
    return double;
  }

  /** Base of the API. */
  get url(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  private async asked(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += String(part);
    const { method = '', url = '', headers } = request;
    const attempt = String(headers['x-call-id'] ?? '');
    if (attempt !== '' && (await this.onEvent('asked', attempt)) === false) return void response.destroy();
    this.requests.push({ method, url, headers, body });
    const send = (status: number, value: object, more: Record<string, string> = {}) =>
      void response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(value));
    const refuse = (status: number, message: string, more?: Record<string, string>) =>
      send(status, { status: 'error', message }, more);
    const { apiKey, concurrency = { current: 0, limit: 20 } } = this.options;
    if (apiKey !== undefined && headers.authorization !== `Bearer ${apiKey}`) return refuse(401, 'Invalid API Key');
    const { pathname, searchParams } = new URL(url, this.url);
    const [, kind = '', id = ''] =
      /^\/(get-agent|get-retell-llm|agent-playground-completion)\/([^/]+)$/.exec(pathname) ?? [];
    if (method === 'GET' && pathname === '/get-concurrency' && concurrency !== 'missing') {
      return send(200, { current_concurrency: concurrency.current, concurrency_limit: concurrency.limit });
    }
    if (method === 'POST' && pathname === '/v2/list-agents') return send(200, this.page(searchParams));
    if (method === 'GET' && kind === 'get-agent') return this.described(decodeURIComponent(id), send, refuse);
    if (method === 'GET' && kind === 'get-retell-llm') {
      const agent = this.listed.find((one) => `llm_${one.id}` === decodeURIComponent(id));
      return send(200, { llm_id: id, general_prompt: agent?.prompt ?? null });
    }
    if (method === 'POST' && kind === 'agent-playground-completion') {
      return this.complete(decodeURIComponent(id), body, response, send, refuse);
    }
    refuse(404, 'Cannot find the requested path');
  }

  private get listed(): readonly ListedAgent[] {
    return this.options.agents ?? [];
  }

  private page(query: URLSearchParams): object {
    const from = Number(query.get('pagination_key') ?? 0);
    const until = from + Math.min(PAGE_SIZE, Number(query.get('limit') ?? PAGE_SIZE));
    const items = this.listed.slice(from, until).map(({ id, name = '' }) => ({ agent_id: id, agent_name: name }));
    const has_more = until < this.listed.length;
    return { items, has_more, ...(has_more && { pagination_key: String(until) }) };
  }

  private described(id: string, send: Send, refuse: Refuse): void {
    const agent = this.listed.find((one) => one.id === id);
    if (!agent) return refuse(422, 'Cannot find requested asset under given api key.');
    const engine =
      agent.prompt === undefined ? { type: 'conversation-flow' } : { type: 'retell-llm', llm_id: `llm_${id}` };
    send(200, { agent_id: id, agent_name: agent.name, language: agent.language, response_engine: engine });
  }

  private complete(id: string, body: string, response: ServerResponse, send: Send, refuse: Refuse): void {
    const { agentId, refusal, fault, answer = () => ({ messages: [] }) } = this.options;
    if (refusal) return refuse(refusal.status, refusal.message, refusal.headers);
    if (agentId !== undefined && id !== agentId) {
      return refuse(422, 'Cannot find requested asset under given api key.');
    }
    const asked = JSON.parse(body) as CompletionBody;
    this.completions.push(asked);
    const given = answer(asked, this.completions.length);
    if (fault === 'no-json') return void response.writeHead(200).end('<html>Hello</html>');
    if (fault === 'no-list') return send(200, { messages: 'none' });
    if (fault === 'too-large')
      return send(200, { messages: [{ role: 'agent', content: 'a'.repeat(2 * 1024 * 1024) }] });
    if (fault === 'cut')
      return void response
        .writeHead(200, { 'content-length': '1000' })
        .write('{"messages":[', () => response.destroy());
    if (fault === 'echo-key') return refuse(400, `Bad request: ${JSON.stringify(this.requests.at(-1)?.headers)}`);
    const more = fault === 'unknown-role' ? [{ role: 'telepathy', content: 'Secret thought' }, null, 7] : [];
    setTimeout(() => send(200, { ...given, messages: [...more, ...given.messages] }), fault === 'slow' ? 300 : 0);
  }
}

type Send = (status: number, value: object) => void;
type Refuse = (status: number, message: string, headers?: Record<string, string>) => void;
