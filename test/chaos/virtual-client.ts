import { setTimeout as sleep } from 'node:timers/promises';
import { type Outcome, type Request, send } from './caller.js';
import type { Workspace } from './installation.js';
import { type Entry, type Kind, type Ledger, shownValue } from './ledger.js';
import type { Random } from './random.js';

/** One request, and the meaning of its response. */
export interface Call extends Request {
  /** Expected statuses, besides 503. */
  readonly expect: readonly number[];
  /** Records the response; called for the first status of `expect` only. */
  readonly done?: (body: any) => void;
  /** Called when it is unknown whether the request had its effect. */
  readonly unsure?: () => void;
  /** Text that is unique to the resource created by this request. */
  readonly marker?: string;
}

export interface Operation {
  /** Relative frequency. */
  readonly weight: number;
  /** Undefined if the client has no resource for it at the moment. */
  readonly plan: (client: VirtualClient) => Call | undefined;
}

/** Resources that a client never deletes. */
export interface Base {
  readonly agentId: string;
  readonly personalityId: string;
  readonly evaluationId: string;
  /** Receives the events of all runs of the workspace. */
  readonly webhookId: string;
}

/** State shared by all clients. */
export interface Scene {
  /** How to call every operation, by `operationId`. */
  readonly operations: Readonly<Record<string, Operation>>;
  readonly ledger: Ledger;
  /** URLs of the API processes. */
  readonly urls: readonly string[];
  readonly receiverUrl: string;
  readonly print: (line: string) => void;
  /** The current fault. */
  during: string;
  /** No new requests are sent once this is true. */
  isOver: boolean;
  /** Requests are no longer retried once this is true. */
  isClosed: boolean;
}

const IN_PROGRESS = /still in progress/;
/** Pause between two requests of a client. */
const PAUSE_MS = 100;

/** A link: `path` to delete it, `shared` to open the report or page. */
export interface SharedLink {
  readonly path: string;
  readonly shared: string;
}

/**
 * A client with its own resources, so that it knows their expected state. It sends one request at a time, retries a POST
 * with its Idempotency-Key until there is a response, and marks a change without a response as uncertain.
 */
export class VirtualClient {
  base!: Base;
  /** Listed calls, each with its run. */
  readonly calls: { readonly id: string; readonly run: Entry }[] = [];
  readonly deliveries: string[] = [];
  readonly reportLinks: SharedLink[] = [];
  readonly pageLinks: SharedLink[] = [];
  private readonly entries: Entry[] = [];
  private counter = 0;
  /** Every operation is called once before the weights apply. */
  private readonly first: string[];
  private readonly wheel: readonly string[];
  /** There was no resource for the operation chosen last. */
  private lacksResource = false;

  constructor(
    readonly name: string,
    private readonly workspace: Workspace,
    private readonly scene: Scene,
    readonly random: Random,
  ) {
    this.first = random.shuffled(Object.keys(scene.operations));
    this.wheel = Object.entries(scene.operations).flatMap(([id, { weight }]) =>
      Array.from({ length: weight }, () => id),
    );
  }

  marker(): string {
    return `${this.name}-${++this.counter}`;
  }

  /** Prefix of the marker in a value of this kind. */
  url(kind: Kind): string {
    return kind === 'webhooks' ? `${this.scene.receiverUrl}/` : '';
  }

  path({ kind, id }: Entry): string {
    if (kind === 'workspace') return '/workspace';
    return `${kind.includes('-') || kind === 'webhooks' ? '/workspace' : ''}/${kind}/${id}`;
  }

  count(kind: Kind): number {
    return this.entries.filter((entry) => entry.kind === kind && entry.state !== 'gone').length;
  }

  /** Any resource of the kind, deleted or not. */
  any(kind: Kind): Entry | undefined {
    return this.random.pick(this.entries.filter((entry) => entry.kind === kind));
  }

  latest(kind: Kind): Entry | undefined {
    return this.entries.findLast((entry) => entry.kind === kind);
  }

  /** A resource of the kind whose state is known. */
  own(kind: Kind): Entry | undefined {
    return this.random.pick(
      this.entries.filter((entry) => entry.kind === kind && entry.state === 'there' && entry.values.length === 1),
    );
  }

  made(made: Omit<Entry, 'values' | 'state' | 'workspace'> & { value?: string }): Entry {
    const value = made.value ?? `${this.url(made.kind)}${made.marker}`;
    const entry = this.scene.ledger.add({ ...made, value, workspace: this.workspace.index });
    this.entries.push(entry);
    return entry;
  }

  /** Compares the response of a GET with the acknowledged value. */
  compare(entry: Entry, data: any): void {
    const shown = shownValue(entry.kind, data);
    if (!entry.values.includes(shown)) {
      this.fault(`GET ${entry.kind}`, 200, `${entry.id} shows ${shown}, not ${entry.values.join(' or ')}`, '');
    }
  }

  /** Creates the base resources. */
  async settleIn(webhookId: string): Promise<void> {
    const make = async (path: string, body: object): Promise<string> => {
      const response = await this.send({ method: 'POST', path, body, expect: [201] });
      if (response.kind !== 'response' || response.status !== 201)
        throw new Error(`POST ${path}: ${JSON.stringify(response)}`);
      return response.body.data.id;
    };
    const agent = { name: this.marker(), provider: 'AGENT_PROVIDER_1', assistantId: 'booking', apiKey: 'none' };
    const agentId = await make('/agents', agent);
    const personalityId = await make('/personalities', { name: this.marker() });
    const evaluationId = await make(`/agents/${agentId}/evaluations`, {
      name: this.marker(),
      personalityId,
      scenarioText: 'You call and want to be greeted.',
      script: [{ say: 'Hello' }, { end: 'Greeted' }],
      checks: [{ name: 'Greets', type: 'says', text: 'welcome' }],
    });
    this.base = { agentId, personalityId, evaluationId, webhookId };
  }

  /** Calls operations until the scene is over. */
  async work(): Promise<void> {
    while (!this.scene.isOver) {
      await this.step();
      await sleep(this.random.between(0.5, 1.5) * PAUSE_MS);
    }
  }

  private async step(): Promise<void> {
    // What is left in `first` may need a resource that only another operation creates.
    const id = (this.lacksResource ? undefined : this.first.shift()) ?? this.random.pick(this.wheel)!;
    const call = this.scene.operations[id]!.plan(this);
    this.lacksResource = call === undefined;
    const isDone = call !== undefined && (await this.perform(id, call));
    // Called again later, when there is a resource for it or the service responds.
    if (!isDone && !this.scene.ledger.succeeded.has(id)) this.first.push(id);
  }

  /** Executes one operation, with retries. */
  async perform(id: string, call: Call): Promise<boolean> {
    const { ledger } = this.scene;
    const isPost = call.method === 'POST';
    const headers: Record<string, string> = isPost ? { 'Idempotency-Key': `${this.name}-${this.marker()}` } : {};
    if (call.marker !== undefined) ledger.unanswered.add(call.marker);
    for (;;) {
      const outcome = await this.send({ ...call, headers });
      const verdict = this.judge(id, call, outcome);
      if (verdict === 'right') {
        ledger.succeeded.add(id);
        if (call.method !== 'GET') ledger.acknowledged++;
        if (outcome.kind === 'response' && outcome.headers.has('idempotent-replayed')) ledger.replayed++;
        if (call.marker !== undefined) ledger.unanswered.delete(call.marker);
        return true;
      }
      if (verdict === 'wrong' || this.scene.isClosed) return false;
      const isRepeatable = isPost || outcome.kind === 'refused';
      if (!isRepeatable) {
        call.unsure?.();
        return false;
      }
      await sleep(this.random.between(50, 250));
    }
  }

  /** Classifies a response as expected, wrong or inconclusive. */
  private judge(id: string, call: Call, outcome: Outcome): 'right' | 'wrong' | 'open' {
    const { ledger } = this.scene;
    if (outcome.kind !== 'response') {
      ledger.count(outcome.kind);
      return 'open';
    }
    const { status, body, headers } = outcome;
    ledger.count(String(status));
    if (status === 503 || (status === 409 && IN_PROGRESS.test(body.message))) return 'open';
    if (!call.expect.includes(status)) {
      this.fault(id, status, JSON.stringify(body).slice(0, 200), headers.get('x-request-id') ?? '');
      return 'wrong';
    }
    if (status === call.expect[0]) call.done?.(body);
    return 'right';
  }

  private send(call: Call): Promise<Outcome> {
    return send(this.random.pick(this.scene.urls)!, this.workspace.key, call);
  }

  private fault(operation: string, status: number, text: string, requestId: string): void {
    const { ledger, during, print } = this.scene;
    const isNew = !ledger.faults.some((fault) => fault.status === status && fault.during === during);
    ledger.faults.push({ operation, status, text, requestId, during });
    if (isNew) print(`  ${operation}: status ${status}: ${text}`);
  }
}
