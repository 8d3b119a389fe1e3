import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

/** $1: milliseconds since the erasure began. Processes that erase at the same time take different agents. */
const LOCK_NEXT = `
  SELECT id FROM agents WHERE erased_at <= now() - $1 * interval '1 millisecond'
   ORDER BY erased_at LIMIT 1 FOR UPDATE SKIP LOCKED`;

/** In this order; none of them has more than a few rows of one agent. */
const FORGET = [
  'DELETE FROM connection_tests WHERE agent_id = $1',
  'DELETE FROM agent_connections WHERE agent_id = $1',
  'DELETE FROM agent_capacity WHERE agent_id = $1',
  `DELETE FROM list_deltas WHERE list IN ('evaluations', 'runs') AND owner_id = $1`,
  `DELETE FROM list_totals WHERE list IN ('evaluations', 'runs') AND owner_id = $1`,
  'DELETE FROM agents WHERE id = $1',
];

/** SQL for agents that are being erased. */
@Injectable()
export class ErasedAgentsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Locks the next agent until the transaction ends.
   * @param delayMs milliseconds that have passed since it was marked
   * @returns its id; undefined if there is none
   */
  async lockNext(delayMs: number): Promise<string | undefined> {
    const [agent] = await this.database.query<{ id: string }>(LOCK_NEXT, [delayMs]);
    return agent?.id;
  }

  /** Deletes the agent with its connection and the totals of its lists. */
  async forget(agentId: string): Promise<void> {
    for (const statement of FORGET) await this.database.query(statement, [agentId]);
  }
}
