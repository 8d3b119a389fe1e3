import type {
  CaseResult,
  ListedRun,
  RunDetails,
  ImportedCallFields,
  RunPlan,
  StartRunRequest,
  RunComparison,
  RunMatrix,
  AgentCall,
  Call,
  CallDetails,
  ConnectionTest,
  Agent,
  Assistant,
  Connection,
  CreateAgentRequest,
  ListAssistantsRequest,
  PromotedEvaluation,
  PutConnectionRequest,
  UpdateAgentRequest,
  Evaluation,
  ImportResult,
} from './api-types.js';
import { AutomaticRequests, PAGE_SIZE } from './automatic-requests.js';
import { type Deletable, PATHS } from './deletable.js';
import { RefusedError } from './errors.js';
import { everyPage } from './pages.js';
import { agent, missingRun, run } from './subjects.js';

export type * from './api-types.js';

/** Media type of each format of a suite. */
export const MEDIA_TYPES = { json: 'application/json', yaml: 'application/yaml', csv: 'text/csv' } as const;
export type SuiteFormat = keyof typeof MEDIA_TYPES;

export interface ImportOptions {
  /** Writes nothing, and plans a run. */
  readonly dryRun?: boolean;
  /** Of the run that a dry run plans; absent: that of the agent's protocol. */
  readonly medium?: 'text' | 'voice';
}

/** Client of the service. Every method throws RefusedError for error responses, and UnreachableError. */
export class Service extends AutomaticRequests {
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

  /** How an agent is reached; undefined if it has no address. */
  async connection(id: string): Promise<Connection | undefined> {
    const answer = this.read(() => this.client.GET('/agents/{id}/connection', { params: { path: { id } } }));
    return answer.then(
      ({ data }) => data,
      (error: unknown) => {
        if (error instanceof RefusedError && error.status === 404) return undefined;
        throw error;
      },
    );
  }

  /** Replaces the connection of an agent. */
  async putConnection(id: string, body: PutConnectionRequest): Promise<Connection> {
    const { data } = await this.read(
      () => this.client.PUT('/agents/{id}/connection', { params: { path: { id } }, body }),
      agent(id),
    );
    return data;
  }

  async updateAgent(id: string, body: UpdateAgentRequest): Promise<Agent> {
    const { data } = await this.read(
      () => this.client.PATCH('/agents/{id}', { params: { path: { id } }, body }),
      agent(id),
    );
    return data;
  }

  /** The assistants of an account. @param account without a key: the default key of the workspace */
  assistants(provider: string, account: ListAssistantsRequest): Promise<Assistant[]> {
    return everyPage((page) =>
      // Nothing is written, so that a failed attempt is repeated as that of a read.
      this.read(
        () =>
          this.client.POST('/providers/{provider}/assistants', {
            params: { path: { provider }, query: { page, limit: PAGE_SIZE } },
            body: account,
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
    recording: { readonly file: Blob; readonly name: string } | undefined,
    fields: ImportedCallFields,
  ): Promise<{ readonly runId: string }> {
    const form = new FormData();
    for (const [field, value] of Object.entries(fields)) form.append(field, value);
    if (recording) form.append('recording', recording.file, recording.name);
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
    return (await this.start(agentId, { ...request, dryRun: true })).data as RunPlan;
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

  async planRerun(id: string, only?: 'failed'): Promise<RunPlan> {
    return (await this.startRerun(id, { dryRun: 'true', ...(only && { only }) })).data as RunPlan;
  }

  async rerun(id: string, only?: 'failed'): Promise<RunDetails> {
    return (await this.startRerun(id, { ...(only && { only }) })).data as RunDetails;
  }

  private startRerun(id: string, query: { readonly only?: 'failed'; readonly dryRun?: 'true' }) {
    const params = { path: { id }, query };
    return this.write((header) => this.client.POST('/runs/{id}/rerun', { params: { ...params, header } }), run(id));
  }

  /** Starts a run that judges the calls of another one again. */
  async derive(id: string, kind: 'remeasure' | 'rejudge'): Promise<RunDetails> {
    const { data } = await this.write(
      (header) => this.client.POST(`/runs/{id}/${kind}`, { params: { path: { id }, header } }),
      run(id),
    );
    return data;
  }

  /** Makes a provisional evaluation of a call that went wrong. */
  async promote(id: string): Promise<PromotedEvaluation> {
    const send = (header: { 'Idempotency-Key'?: string }) =>
      this.client.POST('/calls/{id}/evaluation', { params: { path: { id }, header } });
    return (await this.write(send, `Call ${id}`)).data;
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

  /** The newest runs of an agent, newest first. @param limit at most 100 */
  async runs(agentId: string, limit: number): Promise<ListedRun[]> {
    const params = { path: { agentId }, query: { limit } };
    return (await this.read(() => this.client.GET('/agents/{agentId}/runs', { params }), agent(agentId))).data;
  }

  /** How a case ended in each run, newest first. @param key `caseKey` of the case, or key of an evaluation */
  history(id: string, key: string): Promise<CaseResult[]> {
    return everyPage((page) => {
      const params = { path: { id, key }, query: { page, limit: PAGE_SIZE } };
      const what = `Agent ${id}, or a case ${key} in one of its ended runs`;
      return this.read(() => this.client.GET('/agents/{id}/cases/{key}/history', { params }), what);
    });
  }

  /** The page of an agent. */
  agentPage(id: string, days?: '7' | '30' | '90'): Promise<string> {
    const query = days === undefined ? {} : { days };
    return this.read<{ data?: string; error?: unknown; response: Response }>(
      () => this.client.GET('/agents/{id}/page', { params: { path: { id }, query }, parseAs: 'text' }),
      agent(id),
    );
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

  /** The newest fetched calls that failed. */
  async failedCalls(agentId: string, limit: number): Promise<AgentCall[]> {
    const query = { origin: 'production', fetched: 'true', outcome: 'failed', limit } as const;
    const params = { path: { id: agentId }, query };
    return (await this.read(() => this.client.GET('/agents/{id}/calls', { params }), agent(agentId))).data;
  }

  async call(id: string): Promise<CallDetails> {
    const params = { path: { id } };
    return (await this.read(() => this.client.GET('/calls/{id}', { params }), `Call ${id}`)).data;
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
}
