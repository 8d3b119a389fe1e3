import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';

/**
 * $1: milliseconds since the erasure began. Processes that erase at the same time take different agents. Calls that a platform
 * may carry are ended first: that needs the agent's address and key.
 */
const LOCK_NEXT = `
  SELECT id FROM agents a WHERE erased_at <= now() - $1 * interval '1 millisecond'
     AND NOT EXISTS (SELECT FROM platform_calls p WHERE p.agent_id = a.id AND p.state IN ('reserved', 'dialling', 'placed'))
   ORDER BY erased_at LIMIT 1 FOR UPDATE SKIP LOCKED`;

/** In this order; none of them has more than a few rows of one agent. */
const FORGET = [
  'DELETE FROM connection_tests WHERE agent_id = $1',
  'DELETE FROM agent_connections WHERE agent_id = $1',
  'DELETE FROM agent_capacity WHERE agent_id = $1',
  // With their slots.
  'DELETE FROM schedules WHERE agent_id = $1',
  'DELETE FROM platform_calls WHERE agent_id = $1',
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
