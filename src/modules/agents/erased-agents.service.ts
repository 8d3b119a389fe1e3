import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { IdempotencyRepository } from '../../platform/idempotency/idempotency.repository.js';
import { defineJob } from '../../platform/queue/job.js';
import { Queue } from '../../platform/queue/queue.js';

/** Deletes everything of agents that are being erased. Queued by every erasure, and hourly. */
export const ERASE_AGENTS = defineJob<object>({
  name: 'agents.erase',
  kind: 'maintenance',
  cron: '26 * * * *',
});

/** $1: milliseconds since the erasure began. Processes that erase at the same time take different agents. */
const LOCK_NEXT = `
  SELECT id FROM agents WHERE erased_at <= now() - $1 * interval '1 millisecond'
   ORDER BY erased_at LIMIT 1 FOR UPDATE SKIP LOCKED`;

/** In this order; none of them has more than a few rows of one agent. */
const FORGET = [
  'DELETE FROM connection_tests WHERE agent_id = $1',
  'DELETE FROM agent_connections WHERE agent_id = $1',
  `DELETE FROM list_deltas WHERE list IN ('evaluations', 'runs') AND owner_id = $1`,
  `DELETE FROM list_totals WHERE list IN ('evaluations', 'runs') AND owner_id = $1`,
  'DELETE FROM agents WHERE id = $1',
];

/** Agents whose data is being deleted: nothing of them can be read, and their row goes last (decision 129). */
@Injectable()
export class ErasedAgentsService {
  /** How long everything stays for requests that began to read it before, in milliseconds. */
  delayMs = 60_000;

  constructor(
    private readonly database: Database,
    private readonly queue: Queue,
    private readonly responses: IdempotencyRepository,
  ) {}

  /** Deletes stored responses, which would still be repeated, and queues the job. Call it in the transaction of the mark. */
  async begin(agentId: string): Promise<void> {
    await this.responses.erase(agentId);
    // Without a key: the erasure of another agent must not postpone this job.
    await this.queue.enqueue(ERASE_AGENTS, {}, { runAt: new Date(Date.now() + this.delayMs) });
  }

  /** Locks the next agent until the transaction ends. @returns its id; undefined if there is none */
  async lockNext(): Promise<string | undefined> {
    const [agent] = await this.database.query<{ id: string }>(LOCK_NEXT, [this.delayMs]);
    return agent?.id;
  }

  /** Deletes the agent itself, after everything that refers to it. */
  async forget(agentId: string): Promise<void> {
    // Requests that were in progress may have stored some since.
    await this.responses.erase(agentId);
    for (const statement of FORGET) await this.database.query(statement, [agentId]);
  }
}
