import { setTimeout as sleep } from 'node:timers/promises';
import { send } from './caller.js';
import type { Installation, Workspace } from './installation.js';
import type { Base, Scene } from './virtual-client.js';

/** Recovery times in milliseconds; Infinity if there was no recovery. */
export interface Recovery {
  readonly name: string;
  /** The slowest API process. */
  readonly readMs: number;
  readonly writeMs: number;
  /** Until a run started after the fault had ended. */
  readonly runMs: number;
}

const READ_WRITE_LIMIT_MS = 10_000;
/** On slow machines the limit follows from the start time of a process. */
const STARTS = 3;
/** A call of a dead process is released after its lease. */
export const RUN_LIMIT_MS = 30_000;
const POLL_MS = 50;
const TIMEOUT_MS = 3_000;

/** Measures recovery from the time of the call. */
export class RecoveryMeter {
  readonly measured: Recovery[] = [];
  /** Limit for reads and writes, in milliseconds. */
  readonly limitMs: number;
  private counter = 0;

  constructor(
    private readonly installation: Installation,
    private readonly workspace: Workspace,
    private readonly scene: Scene,
    private readonly base: Base,
  ) {
    this.limitMs = Math.max(READ_WRITE_LIMIT_MS, STARTS * installation.startMs);
  }

  async measure(name: string): Promise<Recovery> {
    const startedAt = performance.now();
    const each = this.installation.apis.map(async ({ url }) => ({
      readMs: await this.first(startedAt, this.limitMs, () => this.reads(url)),
      writeMs: await this.first(startedAt, this.limitMs, () => this.writes(url)),
    }));
    const times = await Promise.all(each);
    const url = this.installation.apis[0]!.url;
    const runMs = await this.run(startedAt, url);
    const recovery = {
      name,
      readMs: Math.max(...times.map(({ readMs }) => readMs)),
      writeMs: Math.max(...times.map(({ writeMs }) => writeMs)),
      runMs,
    };
    this.measured.push(recovery);
    return recovery;
  }

  private async first(startedAt: number, limitMs: number, tryIt: () => Promise<boolean>): Promise<number> {
    for (;;) {
      if (await tryIt()) return Math.round(performance.now() - startedAt);
      // Twice the limit, to distinguish slow recovery from none.
      if (this.scene.isClosed || performance.now() - startedAt > 2 * limitMs) return Infinity;
      await sleep(POLL_MS);
    }
  }

  private async reads(url: string): Promise<boolean> {
    const { key } = this.workspace;
    const outcome = await send(url, key, { method: 'GET', path: `/agents/${this.base.agentId}` }, TIMEOUT_MS);
    return outcome.kind === 'response' && outcome.status === 200;
  }

  private async writes(url: string): Promise<boolean> {
    const marker = `recovery-${++this.counter}`;
    const request = { method: 'POST', path: '/personalities', body: { name: marker } };
    const outcome = await send(url, this.workspace.key, request, TIMEOUT_MS);
    if (outcome.kind !== 'response' || outcome.status !== 201) return false;
    const { id } = outcome.body.data;
    this.scene.ledger.add({ kind: 'personalities', id, marker, workspace: this.workspace.index });
    return true;
  }

  private async run(startedAt: number, url: string): Promise<number> {
    const marker = `recovery-run-${++this.counter}`;
    const path = `/agents/${this.base.agentId}/runs`;
    const headers = { 'Idempotency-Key': marker };
    const request = { method: 'POST', path, body: { name: marker }, headers };
    let id: string | undefined;
    await this.first(startedAt, RUN_LIMIT_MS, async () => {
      const outcome = await send(url, this.workspace.key, request, TIMEOUT_MS);
      if (outcome.kind === 'response' && outcome.status === 201) id = outcome.body.data.id as string;
      return id !== undefined;
    });
    if (id === undefined) return Infinity;
    this.scene.ledger.add({ kind: 'runs', id, marker, workspace: this.workspace.index });
    return this.first(startedAt, RUN_LIMIT_MS, async () => {
      const outcome = await send(url, this.workspace.key, { method: 'GET', path: `/runs/${id}` }, TIMEOUT_MS);
      return outcome.kind === 'response' && outcome.status === 200 && outcome.body.data.endedAt !== null;
    });
  }
}
