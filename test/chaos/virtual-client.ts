import { setTimeout as sleep } from 'node:timers/promises';
import { type Outcome, type Request, send } from './caller.js';
import type { Workspace } from './installation.js';
import { type Entry, type Kind, type Ledger, shownValue } from './ledger.js';
import type { Random } from './random.js';

/** One request, and what its answer means. */
export interface Call extends Request {
  /** Answers that are right, besides 503. */
  readonly expect: readonly number[];
  /** What the answer is put down as; only of the first status of `expect`. */
  readonly done?: (body: any) => void;
  /** Called when nobody knows whether it had its effect. */
  readonly unsure?: () => void;
  /** Text that is unique to what this request makes. */
  readonly marker?: string;
}

export interface Operation {
  /** How often it is called, compared with the others. */
  readonly weight: number;
  /** Undefined when the client has nothing now that it could be called for. */
  readonly plan: (client: VirtualClient) => Call | undefined;
}

/** What a client works with and never deletes. */
export interface Base {
  readonly agentId: string;
  readonly personalityId: string;
  readonly evaluationId: string;
  /** Of the workspace: gets the events of all its runs. */
  readonly webhookId: string;
}

/** What all clients have in common. */
export interface Scene {
  /** How to call every operation, by its `operationId`. */
  readonly operations: Readonly<Record<string, Operation>>;
  readonly ledger: Ledger;
  /** Addresses of the API processes. */
  readonly urls: readonly string[];
  readonly receiverUrl: string;
  readonly print: (line: string) => void;
  /** What is being done to the service at this moment. */
  during: string;
  /** No new request is begun once it is over. */
  isOver: boolean;
  /** From here on nothing is tried again, either. */
  isClosed: boolean;
}

const IN_PROGRESS = /still in progress/;
/** Between two requests of a client. */
const PAUSE_MS = 100;

/**
 * A client with things of its own, so that it knows what it must find. It does one thing after the other, retries a
 * POST under its Idempotency-Key until it is answered, and puts a change that was not answered down as unsure.
 */
export class VirtualClient {
  base!: Base;
  readonly calls: string[] = [];
  readonly deliveries: string[] = [];
  private readonly entries: Entry[] = [];
  private counter = 0;
  /** Every operation once before it goes by weight. */
  private readonly first: string[];
  private readonly wheel: readonly string[];

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

  /** What stands before the marker in a value of this kind. */
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

  /** Anything of the kind, deleted or not. */
  any(kind: Kind): Entry | undefined {
    return this.random.pick(this.entries.filter((entry) => entry.kind === kind));
  }

  latest(kind: Kind): Entry | undefined {
    return this.entries.findLast((entry) => entry.kind === kind);
  }

  /** Something of the kind of which everything is known. */
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

  /** Holds what a GET shows against what was acknowledged. */
  compare(entry: Entry, data: any): void {
    const shown = shownValue(entry.kind, data);
    if (!entry.values.includes(shown)) {
      this.fault(`GET ${entry.kind}`, 200, `${entry.id} shows ${shown}, not ${entry.values.join(' or ')}`, '');
    }
  }

  /** Makes what it works with. */
  async settleIn(webhookId: string): Promise<void> {
    const make = async (path: string, body: object): Promise<string> => {
      const answer = await this.send({ method: 'POST', path, body, expect: [201] });
      if (answer.kind !== 'answer' || answer.status !== 201) throw new Error(`POST ${path}: ${JSON.stringify(answer)}`);
      return answer.body.data.id;
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

  /** Goes on until the scene is over. */
  async work(): Promise<void> {
    while (!this.scene.isOver) {
      await this.step();
      await sleep(this.random.between(0.5, 1.5) * PAUSE_MS);
    }
  }

  private async step(): Promise<void> {
    const id = this.first.shift() ?? this.random.pick(this.wheel)!;
    const call = this.scene.operations[id]!.plan(this);
    const isDone = call !== undefined && (await this.perform(id, call));
    // Tried again later, when there is something to call it for, or somebody who answers.
    if (!isDone && !this.scene.ledger.succeeded.has(id)) this.first.push(id);
  }

  /** Carries out one operation to its end. */
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
        if (outcome.kind === 'answer' && outcome.headers.has('idempotent-replayed')) ledger.replayed++;
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

  /** Whether an answer is right, wrong, or none that says anything. */
  private judge(id: string, call: Call, outcome: Outcome): 'right' | 'wrong' | 'open' {
    const { ledger } = this.scene;
    if (outcome.kind !== 'answer') {
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
    if (isNew) print(`  ${operation} answered ${status}: ${text}`);
  }
}
