import { Inject, Injectable } from '@nestjs/common';
import { PrioritySemaphore } from '../../../../libs/concurrency/index.js';
import type { Caller } from '../../../platform/access/caller.js';
import { SETTINGS } from '../../../platform/config/settings.module.js';
import type { Settings } from '../../../platform/config/settings.js';
import { DomainError, invalidInput } from '../../../platform/errors/domain-error.js';
import type { BodyGate, GatedRequest } from '../../../platform/http/body/body-gate.js';
import { stillInProgress } from '../../../platform/idempotency/idempotency.interceptor.js';
import { KeyedQueue, QueueFull } from '../../../platform/queue/keyed-queue.js';
import { AgentsService } from '../../agents/agents.service.js';
import { ImportThreads } from './import-threads.js';

/** Imports of a workspace that wait while another one runs. */
const MAX_WAITING = 4;
/** Imports of all workspaces whose files are in memory. */
const MAX_FILES = 4;
/** How long a file may take to arrive, in milliseconds: its place is then another workspace's. */
const ARRIVAL_MS = 30_000;

/**
 * Admits imports. Each workspace has one at a time, so the first-come order among the workspaces is fair, and a waiting
 * file is not read. Memory, threads and database connections of all imports together are bounded (decision 70).
 */
@Injectable()
export class ImportGate implements BodyGate {
  private readonly workspaces = new KeyedQueue({ maxWaiting: MAX_WAITING });
  private readonly files = new PrioritySemaphore(MAX_FILES);
  private readonly writers: PrioritySemaphore;
  /** Idempotency keys of admitted imports: a second request with one must not wait for the first. */
  private readonly idempotencyKeys = new Set<string>();

  constructor(
    private readonly agents: AgentsService,
    private readonly threads: ImportThreads,
    @Inject(SETTINGS) { databasePoolSize }: Settings,
  ) {
    this.writers = new PrioritySemaphore(Math.max(1, Math.floor(databasePoolSize / 4)));
  }

  /** @throws DomainError NOT_FOUND or FORBIDDEN for the agent, CONFLICT, TOO_MANY_REQUESTS */
  async pass<T>(gated: GatedRequest<T>): Promise<T> {
    const { request } = gated;
    if (request.identity?.kind !== 'caller') throw new Error('Imports need a key');
    const { caller } = request.identity;
    const key = request.headers['idempotency-key'];
    if (key === undefined) return this.admit(caller, gated);
    const id = JSON.stringify([caller.workspaceId, request.path, key]);
    if (this.idempotencyKeys.has(id)) throw stillInProgress();
    this.idempotencyKeys.add(id);
    return this.admit(caller, gated).finally(() => this.idempotencyKeys.delete(id));
  }

  private async admit<T>(caller: Caller, { request, read, handle, closed }: GatedRequest<T>): Promise<T> {
    await this.agents.describe(caller, String(request.params['agentId']));
    const importFile = async (): Promise<T> => {
      // A file that cannot be imported is reported by the handler, after the check of the Idempotency-Key.
      const file = await this.threads.read(await read(AbortSignal.timeout(ARRIVAL_MS)));
      return this.writers.run(() => handle(file));
    };
    try {
      return await this.workspaces.run(caller.workspaceId, () => this.files.run(importFile), closed);
    } catch (error) {
      if (error instanceof QueueFull) throw tooMany();
      throw closed.aborted && error === closed.reason ? invalidInput('body did not arrive in full') : error;
    }
  }
}

const tooMany = () =>
  new DomainError('TOO_MANY_REQUESTS', undefined, [
    `at most ${MAX_WAITING} imports of a workspace may wait for another one to end`,
  ]);
