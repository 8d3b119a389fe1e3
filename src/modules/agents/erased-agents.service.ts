import { Injectable } from '@nestjs/common';
import { IdempotencyRepository } from '../../platform/idempotency/idempotency.repository.js';
import { defineJob } from '../../platform/queue/job.js';
import { Queue } from '../../platform/queue/queue.js';
import { ErasedAgentsRepository } from './erased-agents.repository.js';

/** Deletes everything of agents that are being erased. Queued by every erasure, and hourly. */
export const ERASE_AGENTS = defineJob<object>({
  name: 'agents.erase',
  kind: 'maintenance',
  cron: '26 * * * *',
});

/** Agents whose data is being deleted: nothing of them can be read, and their row goes last (decision 129). */
@Injectable()
export class ErasedAgentsService {
  /** How long everything stays for requests that began to read it before, in milliseconds. */
  delayMs = 60_000;

  constructor(
    private readonly queue: Queue,
    private readonly repository: ErasedAgentsRepository,
    private readonly responses: IdempotencyRepository,
  ) {}

  /** Deletes stored responses, which would still be repeated, and queues the job. Call it in the transaction of the mark. */
  async begin(agentId: string): Promise<void> {
    await this.responses.erase(agentId);
    // Without a key: the erasure of another agent must not postpone this job.
    await this.queue.enqueue(ERASE_AGENTS, {}, { runAt: new Date(Date.now() + this.delayMs) });
  }

  /** Locks the next agent until the transaction ends. @returns its id; undefined if there is none */
  lockNext(): Promise<string | undefined> {
    return this.repository.lockNext(this.delayMs);
  }

  /** Deletes the agent itself, after everything that refers to it. */
  async forget(agentId: string): Promise<void> {
    // Requests that were in progress may have stored some since.
    await this.responses.erase(agentId);
    await this.repository.forget(agentId);
  }
}
