import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import createClient, { type Client } from 'openapi-fetch';
import { type Answered, errorBody, isAnswer, isInProgress } from './answers.js';
import type { paths } from './api.js';
import type { EnvironmentProxy } from '../environment-proxy/index.js';
import type {
  RunDetails,
  ImportedCallFields,
  RunPlan,
  StartRunRequest,
  RunComparison,
  RunMatrix,
  Call,
  ConnectionTest,
  Agent,
  Assistant,
  CreateAgentRequest,
  Evaluation,
  ImportResult,
} from './api-types.js';
import { type CommandError, EXIT, isTemporary, misuse, RefusedError, UnreachableError } from './errors.js';
import { foreignAnswer } from './foreign-answer.js';
import { everyPage } from './pages.js';
import { type Patience, retryingFetch } from './retrying-fetch.js';
import { agent, missingRun, run, type Subject } from './subjects.js';

export type * from './api-types.js';

/** Retry time in milliseconds: short before the first response, then long enough for a restart of the service. */
const PATIENCE_AT_FIRST = 5_000;
const PATIENCE_LATER = 120_000;
/** The most that the service returns. */
const PAGE_SIZE = 100;

/** What `delete` deletes, and the path of each. */
const PATHS = {
  agent: '/agents/{id}',
  evaluation: '/evaluations/{id}',
  personality: '/personalities/{id}',
  run: '/runs/{id}',
} as const;
export type Deletable = keyof typeof PATHS;
export const DELETABLE = Object.keys(PATHS) as readonly Deletable[];

/** Media type of each format of a suite. */
export const MEDIA_TYPES = { json: 'application/json', yaml: 'application/yaml', csv: 'text/csv' } as const;
export type SuiteFormat = keyof typeof MEDIA_TYPES;

export interface ImportOptions {
  /** Writes nothing, and plans a run. */
  readonly dryRun?: boolean;
  /** Of the run that a dry run plans; absent: that of the agent's protocol. */
  readonly medium?: 'text' | 'voice';
}

export interface ServiceOptions {
  /** URL of the service, without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  /** Between this machine and the service. */
  readonly proxy?: EnvironmentProxy | undefined;
  /** Receives messages about waiting, such as for a rate limit. */
  readonly announce?: (text: string) => void;
}

/**
 * Client for runs, typed by the OpenAPI document. Requests are retried if the connection fails; writes have an
 * Idempotency-Key, so that they are executed once.
 * Every method throws RefusedError for error responses, and UnreachableError.
 */
export class Service {
  readonly url: string;
  /** May be replaced, for example while a progress bar is displayed. */
  announce: (text: string) => void;
  private readonly client: Client<paths>;
  private readonly proxy: EnvironmentProxy | undefined;
  private readonly patience: Patience = { ms: PATIENCE_AT_FIRST };

  constructor({ url, apiKey, proxy, announce = () => undefined }: ServiceOptions) {
    this.url = url;
    this.proxy = proxy;
    this.announce = announce;
    this.client = createClient<paths>({
      baseUrl: url,
      headers: { Authorization: `Bearer ${apiKey}` },
      fetch: retryingFetch(this.patience, { proxy, announce: (text) => this.announce(text) }),
    });
  }

  /** @param deleted only deleted agents, in place of the others */
  agents({ deleted = false } = {}): Promise<Agent[]> {
    return everyPage(async (page) => {
      const query = { page, limit: PAGE_SIZE, ...(deleted && { deleted: 'true' as const }) };
      return await this.read(() => this.client.GET('/agents', { params: { query } }), 'Path /agents');
    });
  }

  async createAgent(body: CreateAgentRequest): Promise<Agent> {
    const { data } = await this.write(
      (header) => this.client.POST('/agents', { params: { header }, body }),
      'Path /agents',
    );
    return data;
  }

  /** The assistants of an account. @param apiKey of the account; absent: the default key of the workspace */
  assistants(provider: string, apiKey: string | undefined): Promise<Assistant[]> {
    const body = apiKey === undefined ? {} : { apiKey };
    return everyPage((page) =>
      // Nothing is written, so that a failed attempt is repeated as that of a read.
      this.read(
        () =>
          this.client.POST('/providers/{provider}/assistants', {
            params: { path: { provider }, query: { page, limit: PAGE_SIZE } },
            body,
          }),
        `The provider ${provider}`,
      ),
    );
  }

  evaluations(agentId: string): Promise<Evaluation[]> {
    return everyPage((page) =>
      this.read(
        () =>
          this.client.GET('/agents/{agentId}/evaluations', {
            params: { path: { agentId }, query: { page, limit: PAGE_SIZE } },
          }),
        agent(agentId),
      ),
    );
  }

  /** Creates and updates evaluations and personalities from a file, all or none. */
  async importSuite(
    agentId: string,
    file: Uint8Array,
    format: SuiteFormat,
    { dryRun = false, medium }: ImportOptions = {},
  ): Promise<ImportResult> {
    const query = { dryRun: dryRun ? ('true' as const) : ('false' as const), ...(medium && { medium }) };
    const { data } = await this.write(
      (header) =>
        this.client.POST('/agents/{agentId}/evaluations/import', {
          params: { path: { agentId }, query, header },
          headers: { 'Content-Type': MEDIA_TYPES[format] },
          // The file is sent as it is.
          body: file as never,
          bodySerializer: (bytes) => bytes as never,
        }),
      agent(agentId),
    );
    return data;
  }

  /** Imports a call that was recorded elsewhere; the one that was imported before with its external id. */
  async importCall(
    agentId: string,
    { file, name }: { readonly file: Blob; readonly name: string },
    fields: ImportedCallFields,
  ): Promise<{ readonly runId: string }> {
    const form = new FormData();
    for (const [field, value] of Object.entries(fields)) form.append(field, value);
    form.append('recording', file, name);
    const { data } = await this.write(
      (header) =>
        this.client.POST('/agents/{id}/calls/import', {
          params: { path: { id: agentId }, header },
          body: form as never,
          bodySerializer: (body) => body as never,
        }),
      agent(agentId),
    );
    return data;
  }

  /** The evaluations of an agent as a file that can be imported. */
  exportSuite(agentId: string, format: SuiteFormat): Promise<string> {
    return this.read<{ data?: string; error?: unknown; response: Response }>(
      () =>
        this.client.GET('/agents/{agentId}/evaluations/export', {
          params: { path: { agentId }, query: { format } },
          parseAs: 'text',
        }),
      agent(agentId),
    );
  }

  async plan(agentId: string, request: StartRunRequest): Promise<RunPlan> {
    const { data } = await this.start(agentId, { ...request, dryRun: true });
    return data as RunPlan;
  }

  async startRun(agentId: string, request: StartRunRequest): Promise<RunDetails> {
    const { data } = await this.start(agentId, request);
    return data as RunDetails;
  }

  private start(agentId: string, body: StartRunRequest) {
    return this.write(
      (header) => this.client.POST('/agents/{agentId}/runs', { params: { path: { agentId }, header }, body }),
      agent(agentId),
    );
  }

  async rerun(id: string, only?: 'failed'): Promise<RunDetails> {
    const query = only === undefined ? {} : { only };
    const { data } = await this.write(
      (header) => this.client.POST('/runs/{id}/rerun', { params: { path: { id }, query, header } }),
      run(id),
    );
    return data;
  }

  /** Starts a run that judges the calls of another one again. */
  async derive(id: string, kind: 'remeasure' | 'rejudge'): Promise<RunDetails> {
    const { data } = await this.write(
      (header) => this.client.POST(`/runs/{id}/${kind}`, { params: { path: { id }, header } }),
      run(id),
    );
    return data;
  }

  async cancel(id: string): Promise<RunDetails> {
    const { data } = await this.write(
      (header) => this.client.POST('/runs/{id}/cancel', { params: { path: { id }, header } }),
      run(id),
    );
    return data;
  }

  /** @param wait seconds, 1 to 60, to wait for the run's end */
  async run(id: string, wait?: number, signal?: AbortSignal): Promise<RunDetails> {
    const query = wait === undefined ? {} : { wait };
    const { data } = await this.read(
      () => this.client.GET('/runs/{id}', { params: { path: { id }, query }, signal }),
      run(id),
    );
    return data;
  }

  /** @param baseline the earlier run: an id or `previous` */
  async compare(id: string, baseline: string): Promise<RunComparison> {
    const { data } = await this.read(
      () => this.client.GET('/runs/{id}/comparison', { params: { path: { id }, query: { with: baseline } } }),
      missingRun(id, baseline),
    );
    return data;
  }

  /** @param others the runs beside the first one: ids or `previous` */
  async matrix(id: string, others: readonly string[]): Promise<RunMatrix> {
    const { data } = await this.read(
      () => this.client.GET('/runs/{id}/matrix', { params: { path: { id }, query: { with: others.join(',') } } }),
      missingRun(id, others.join(',')),
    );
    return data;
  }

  /** Display name; null without one. */
  async nameOf(kind: Deletable, id: string): Promise<string | null> {
    const { data } = await this.read(
      () => this.client.GET(PATHS[kind], { params: { path: { id } } }),
      `The ${kind} ${id}`,
    );
    return data.name;
  }

  async delete(kind: Deletable, id: string): Promise<void> {
    await this.read(() => this.client.DELETE(PATHS[kind], { params: { path: { id } } }), `The ${kind} ${id}`);
  }

  /** Erases an agent, deleted or not, with everything that is stored of it. */
  async eraseAgent(id: string): Promise<void> {
    const query = { permanently: 'true' } as const;
    await this.read(() => this.client.DELETE('/agents/{id}', { params: { path: { id }, query } }), agent(id));
  }

  /** Undoes the deletion of an agent. */
  async restoreAgent(id: string): Promise<Agent> {
    const { data } = await this.write(
      (header) => this.client.POST('/agents/{id}/restore', { params: { path: { id }, header } }),
      `Deleted agent ${id}`,
    );
    return data;
  }

  /** Calls the agent once. */
  async testConnection(id: string): Promise<ConnectionTest> {
    const { data } = await this.write(
      (header) => this.client.POST('/agents/{id}/connection/test', { params: { path: { id }, header } }),
      agent(id),
    );
    return data;
  }

  /** Every call of a run, in the order of its plan. */
  calls(id: string): Promise<Call[]> {
    return everyPage((page) =>
      this.read(
        () => this.client.GET('/runs/{id}/calls', { params: { path: { id }, query: { page, limit: PAGE_SIZE } } }),
        run(id),
      ),
    );
  }

  junit(id: string): Promise<string> {
    return this.read(() => this.client.GET('/runs/{id}/junit', { params: { path: { id } }, parseAs: 'text' }), run(id));
  }

  /** @param baseline the run to compare with, an id or `previous`, or several separated by commas; by default as the service decides */
  report(id: string, baseline?: string): Promise<string> {
    const query = baseline === undefined ? {} : { with: baseline };
    return this.read<{ data?: string; error?: unknown; response: Response }>(
      () => this.client.GET('/runs/{id}/report', { params: { path: { id }, query }, parseAs: 'text' }),
      missingRun(id, baseline),
    );
  }

  /** The raw stream of a run's events. */
  async events(id: string, lastEventId: string | undefined, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const header = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
    const answer = await this.attempt(() =>
      this.client.GET('/runs/{id}/events', {
        params: { path: { id }, header },
        headers: { Accept: 'text/event-stream' },
        parseAs: 'stream',
        signal,
      }),
    );
    const stream = this.dataOf(answer, run(id)) as unknown as ReadableStream<Uint8Array>;
    const type = answer.response.headers.get('content-type') ?? '';
    if (type.startsWith('text/event-stream')) return stream;
    await stream.cancel();
    throw new RefusedError(answer.response.status, 'NO_EVENTS', 'A proxy does not forward events', []);
  }

  /** @param subject what the request names, for the message of a 404 */
  private async read<A extends Answered>(
    request: () => Promise<A>,
    subject?: Subject,
  ): Promise<NonNullable<A['data']>> {
    return this.dataOf(await this.attempt(request), subject);
  }

  /** All attempts use the same key, so that the service repeats the first response. */
  private async write<A extends Answered>(
    request: (header: { 'Idempotency-Key': string }) => Promise<A>,
    subject: string,
  ): Promise<NonNullable<A['data']>> {
    const header = { 'Idempotency-Key': randomUUID() };
    const until = performance.now() + this.patience.ms;
    for (;;) {
      const answer = await this.attempt(() => request(header));
      // The connection failed while the service was processing the request: it still is.
      if (!isInProgress(answer) || performance.now() > until) return this.dataOf(answer, subject);
      await sleep(500);
    }
  }

  private async attempt<A extends Answered>(request: () => Promise<A>): Promise<A> {
    try {
      return await request();
    } catch (error) {
      if (error instanceof SyntaxError) throw this.strange('its response is not JSON');
      if (error instanceof Error && error.name === 'AbortError') throw error;
      throw new UnreachableError(this.url, error, this.patience.ms === PATIENCE_LATER, this.proxy);
    }
  }

  private dataOf<A extends Answered>({ data, error, response }: A, subject?: Subject): NonNullable<A['data']> {
    const { status, statusText, headers } = response;
    const isService = headers.has('X-API-Version');
    if (isService && response.ok && isAnswer(data)) {
      this.patience.ms = PATIENCE_LATER;
      return data as NonNullable<A['data']>;
    }
    if (status >= 300 && status < 400) {
      throw this.strange(`it redirects to ${headers.get('location') ?? 'another URL'}`);
    }
    const body = isService ? errorBody(error) : undefined;
    if (body) {
      const what = typeof subject === 'function' ? subject(body.issues) : subject;
      const missing = what === undefined ? undefined : `${what} not found at ${this.url}`;
      throw new RefusedError(status, body.code, body.message, body.issues, missing);
    }
    if (!isService) throw foreignAnswer(this.url, response, this.proxy);
    if (isTemporary(status)) throw new RefusedError(status, statusText, 'no reason given', []);
    throw this.strange(`its response (${status} ${statusText}) is not one of the service`);
  }

  private strange(what: string): CommandError {
    return misuse(`${this.url} is not the URL of the service: ${what}`, 'Set VAT_URL (or --url) to its URL.');
  }
}

/** Whether repeating the request cannot succeed. */
export const isFinalRefusal = (error: unknown): boolean =>
  error instanceof RefusedError && error.exitCode === EXIT.misused;
