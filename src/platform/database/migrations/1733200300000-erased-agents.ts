import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Agents can be erased (decision 129): the agent is marked first, and everything of it is deleted in batches. So that it
 * can be found, events and stored responses have the id of their agent; responses that were stored before are forgotten
 * within a day. Calls no longer reference the agent: those of deleted runs are deleted later (decision 74).
 */
export class ErasedAgents1733200300000 implements MigrationInterface {
  name = 'ErasedAgents1733200300000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE agents ADD COLUMN erased_at timestamptz(3);
      CREATE INDEX agents_erased_idx ON agents (erased_at) WHERE erased_at IS NOT NULL;
      ALTER TABLE calls DROP CONSTRAINT calls_agent_id_fkey;
      CREATE INDEX evaluations_agent_idx ON evaluations (agent_id);
      CREATE INDEX webhook_deliveries_agent_idx ON webhook_deliveries (agent_id) WHERE agent_id IS NOT NULL;
      ALTER TABLE idempotency_keys ADD COLUMN agent_id uuid;
      CREATE INDEX idempotency_keys_agent_idx ON idempotency_keys (agent_id) WHERE agent_id IS NOT NULL;
      ALTER TABLE webhook_events ADD COLUMN agent_id uuid;
      CREATE INDEX webhook_events_agent_idx ON webhook_events (agent_id) WHERE agent_id IS NOT NULL;
    `);
    // Searched as text: texts in the JSON cannot contain an unescaped quotation mark, but escapes that jsonb refuses.
    await runner.query(`
      UPDATE webhook_events SET agent_id = coalesce(
        substring(body FROM '"agentId":"([0-9a-f-]{36})"')::uuid,
        (SELECT agent_id FROM runs WHERE id = substring(body FROM '"runId":"([0-9a-f-]{36})"')::uuid))
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX webhook_events_agent_idx;
      ALTER TABLE webhook_events DROP COLUMN agent_id;
      DROP INDEX idempotency_keys_agent_idx;
      ALTER TABLE idempotency_keys DROP COLUMN agent_id;
      DROP INDEX webhook_deliveries_agent_idx;
      DROP INDEX evaluations_agent_idx;
      DELETE FROM calls WHERE NOT EXISTS (SELECT FROM agents WHERE id = agent_id);
      ALTER TABLE calls ADD CONSTRAINT calls_agent_id_fkey FOREIGN KEY (agent_id) REFERENCES agents (id);
      DROP INDEX agents_erased_idx;
      ALTER TABLE agents DROP COLUMN erased_at;
    `);
  }
}
