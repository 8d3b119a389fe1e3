import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { type KeptCall, KeptCalls } from '../records/kept-calls.js';
import { decoded, readBody, readObject, refuse, RequestError } from '../http.js';
import {
  type CompletionBody,
  type ListedAgent,
  NOT_FOUND,
  refusal,
  type Reply,
  type RetellAgents,
} from './messages.js';
import { retellList, retellRecord } from './records.js';
import { type RetellScript, ScriptedRetell } from './scripted.js';
import { type RegisterBody, RetellTelephone, type RetellVoice } from './telephone.js';

interface Requested {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface RetellPlatformOptions {
  /** The only key that is accepted; without it, every key is. */
  readonly apiKey?: string | undefined;
  /** Calls that the account may have at once, and how many it has; `missing`: the platform has no such path. */
  readonly concurrency?: { readonly current: number; readonly limit: number } | 'missing';
  /** How the agents speak; without it, calls cannot be registered. */
  readonly voice?: RetellVoice;
  /** Calls of real callers, which it keeps one after the other. */
  readonly realCalls?: { readonly everyMs: number; readonly next: () => Promise<KeptCall> };
  /** Versions of the agents; without it, each one exists. */
  readonly versions?: readonly (string | number)[];
  /** Called for each request; with false the request is lost. */
  readonly onRequest?: (requested: Requested) => Promise<boolean>;
}

const PAGE_SIZE = 50;
const PATHS =
  /^\/(get-concurrency|v2\/list-agents|v2\/register-phone-call|v3\/list-calls|(get-agent|get-retell-llm|agent-playground-completion|v2\/get-call)\/([^/]{1,200}))$/;

/** The API of the platform. It stores no conversation in text, since each request has the whole one; calls are planted or made. */
export class RetellPlatform {
  readonly kept = new KeptCalls();
  readonly telephone: RetellTelephone | undefined;
  private readonly timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly agents: RetellAgents,
    private readonly options: RetellPlatformOptions,
  ) {
    const { realCalls } = options;
    if (realCalls) this.timer = setInterval(() => void this.keepNext(realCalls.next), realCalls.everyMs);
    if (options.voice) this.telephone = new RetellTelephone(this.kept, options.voice);
  }

  async prepare(): Promise<void> {}

  /** Begins to take calls over SIP, if the agents have a voice. */
  async listen(port = 0): Promise<void> {
    await this.telephone?.listen(port);
  }

  private async keepNext(next: () => Promise<KeptCall>): Promise<void> {
    this.kept.keep(await next());
  }

  get sipServer(): string | undefined {
    return this.telephone?.url;
  }

  upgrade(_request: IncomingMessage, socket: Duplex): Promise<void> {
    return Promise.resolve(refuse(socket, '404 Not Found'));
  }

  close(): void {
    clearInterval(this.timer);
    this.telephone?.close();
  }

  /** Answers a request to a path of the platform. @returns false for other paths */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const { method = '', url = '', headers } = request;
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    // A path with an id has its route in a group of its own.
    if (this.kept.serve(pathname, headers, response)) return true;
    const [, path, routeOfId, id = ''] = PATHS.exec(pathname) ?? [];
    const route = routeOfId ?? path;
    if (route === undefined) return false;
    let reply: Reply;
    try {
      const body = await readBody(request);
      if ((await this.options.onRequest?.({ method, url, headers, body })) === false) {
        response.destroy();
        return true;
      }
      const isAuthorised =
        this.options.apiKey === undefined || headers.authorization === `Bearer ${this.options.apiKey}`;
      const isOfRecords = route.endsWith('-calls') || route.endsWith('get-call');
      if (isAuthorised && isOfRecords && this.kept.misbehaves(response)) return true;
      reply = isAuthorised
        ? await this.answer(`${method} ${route}`, decoded(id), searchParams, body, headers)
        : refusal(401, 'Invalid API Key');
    } catch (error) {
      if (!(error instanceof RequestError)) throw error;
      reply = refusal(error.status, error.message);
    }
    send(response, reply);
    return true;
  }

  private async answer(
    route: string,
    id: string,
    query: URLSearchParams,
    body: string,
    headers: IncomingHttpHeaders,
  ): Promise<Reply> {
    const { concurrency = { current: 0, limit: 20 } } = this.options;
    switch (route) {
      case 'GET get-concurrency':
        if (concurrency === 'missing') break;
        return ok({ current_concurrency: concurrency.current, concurrency_limit: concurrency.limit });
      case 'POST v2/list-agents':
        return ok(this.page(query));
      case 'GET get-agent': {
        const agent = this.agents.listed.find((one) => one.id === id);
        return agent ? ok(descriptionOf(agent)) : refusal(422, NOT_FOUND);
      }
      case 'GET get-retell-llm': {
        const agent = this.agents.listed.find((one) => `llm_${one.id}` === id);
        return ok({ llm_id: id, general_prompt: agent?.prompt ?? null });
      }
      case 'POST v3/list-calls':
        return retellList(this.kept, readObject(body));
      case 'GET v2/get-call': {
        const call = this.kept.read(id);
        const waiting = this.telephone?.waitingFor(id);
        if (waiting) return ok(registeredCall(id, waiting));
        if (!call) return refusal(404, NOT_FOUND);
        return ok(retellRecord(call, this.kept.address(call, `http://${headers.host}`)));
      }
      case 'POST v2/register-phone-call':
        return this.register(readObject(body) as unknown as RegisterBody);
      case 'POST agent-playground-completion':
        return this.agents.complete(id, readObject(body) as unknown as CompletionBody, headers);
    }
    return refusal(404, 'Cannot find the requested path');
  }

  private register(body: RegisterBody): Reply {
    const { agent_id: agent, agent_version: version, retell_llm_dynamic_variables: variables = {} } = body;
    if (!this.telephone) return refusal(404, 'Cannot find the requested path');
    if (typeof agent !== 'string' || agent === '') return refusal(400, 'agent_id must be a non-empty string');
    if (Object.values(variables).some((value) => typeof value !== 'string')) {
      return refusal(400, 'retell_llm_dynamic_variables must have strings as values');
    }
    if (!this.agents.knows(agent)) return refusal(422, NOT_FOUND);
    if (version !== undefined && this.options.versions?.includes(version) === false) {
      return refusal(400, `Agent version ${version} not found`);
    }
    return { status: 201, body: registeredCall(this.telephone.register(body), body) };
  }

  private page(query: URLSearchParams): object {
    const { listed } = this.agents;
    const from = Number(query.get('pagination_key') ?? 0);
    const until = from + Math.min(PAGE_SIZE, Number(query.get('limit') ?? PAGE_SIZE));
    const items = listed.slice(from, until).map(({ id, name = '' }) => ({ agent_id: id, agent_name: name }));
    const has_more = until < listed.length;
    return { items, has_more, ...(has_more && { pagination_key: String(until) }) };
  }
}

/** `PhoneCallResponse` of a call that was not yet made. */
const registeredCall = (id: string, body: RegisterBody): object => {
  const { agent_version = 0, direction = 'inbound', from_number = '', to_number = '' } = body;
  return {
    ...body,
    agent_version,
    direction,
    from_number,
    to_number,
    call_id: id,
    call_type: 'phone_call',
    call_status: 'registered',
  };
};

const ok = (body: object): Reply => ({ status: 200, body });

function descriptionOf({ id, name, language, prompt }: ListedAgent): object {
  const engine = prompt === undefined ? { type: 'conversation-flow' } : { type: 'retell-llm', llm_id: `llm_${id}` };
  return { agent_id: id, agent_name: name, language, response_engine: engine };
}

function send(response: ServerResponse, { status, body, headers, isCut }: Reply): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    ...headers,
    ...(isCut && { 'content-length': '1000' }),
  });
  if (isCut) response.write(text, () => response.destroy());
  else response.end(text);
}

export interface RetellServerOptions
  extends RetellScript, Pick<RetellPlatformOptions, 'apiKey' | 'concurrency' | 'voice' | 'versions'> {}

/** The platform on the loopback, with scripted agents; it records the requests. */
export class RetellServer {
  readonly requests: Requested[] = [];
  readonly kept: KeptCalls;
  private readonly platform: RetellPlatform;
  /** Called for a turn, with the id of the attempt. A test may delay the turn; with false it is lost. */
  onEvent: (event: 'asked', attempt: string) => Promise<boolean | void> | boolean | void = () => undefined;
  private readonly scripted: ScriptedRetell;
  private readonly http;

  private constructor(options: RetellServerOptions) {
    this.scripted = new ScriptedRetell(options);
    const platform = new RetellPlatform(this.scripted, { ...options, onRequest: (requested) => this.asked(requested) });
    this.platform = platform;
    this.kept = platform.kept;
    this.http = createServer((request, response) => {
      void platform.handle(request, response).then((isKnown) => {
        if (!isKnown) send(response, refusal(404, 'Cannot find the requested path'));
      });
    });
  }

  static async start(options: RetellServerOptions = {}): Promise<RetellServer> {
    const server = new RetellServer(options);
    server.http.listen(0, '127.0.0.1');
    await once(server.http, 'listening');
    await server.platform.listen();
    return server;
  }

  /** Base of the API. */
  get url(): string {
    return `http://127.0.0.1:${(this.http.address() as AddressInfo).port}`;
  }

  /** @throws without `voice` */
  get telephone(): RetellTelephone {
    return this.platform.telephone!;
  }

  /** Bodies of the turns that reached an agent. */
  get completions(): readonly CompletionBody[] {
    return this.scripted.completions;
  }

  async stop(): Promise<void> {
    this.platform.close();
    this.http.closeAllConnections();
    await new Promise((resolve) => this.http.close(resolve));
  }

  private async asked(requested: Requested): Promise<boolean> {
    const attempt = String(requested.headers['x-call-id'] ?? '');
    if (attempt !== '' && (await this.onEvent('asked', attempt)) === false) return false;
    this.requests.push(requested);
    return true;
  }
}
