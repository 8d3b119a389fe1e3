import { readFileSync } from 'node:fs';
import type { MigrationInterface, QueryRunner } from 'typeorm';

const CLAIM_CALLS = readFileSync(new URL('../functions/claim-calls.sql', import.meta.url), 'utf8');

/** Claims over all agents in one statement, with partial indexes in which ended calls and runs cost nothing. */
export class ClaimCalls1733400760300 implements MigrationInterface {
  name = 'ClaimCalls1733400760300';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER INDEX calls_queued_idx RENAME TO calls_queued_agent_idx;
      CREATE INDEX calls_queued_idx ON calls (run_id, medium, position) WHERE status = 'QUEUED';
      ALTER INDEX calls_running_idx RENAME TO calls_running_agent_idx;
      CREATE INDEX calls_running_idx ON calls (workspace_id, agent_id, medium) WHERE status = 'RUNNING';
      DROP INDEX runs_open_idx;
      CREATE INDEX runs_open_idx ON runs (workspace_id, agent_id, created_at, id) WHERE status IN ('QUEUED', 'RUNNING');
      ${CLAIM_CALLS}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION claim_calls(jsonb, interval);
      DROP VIEW used_capacity;
      DROP INDEX runs_open_idx;
      CREATE INDEX runs_open_idx ON runs (id) WHERE status IN ('QUEUED', 'RUNNING');
      DROP INDEX calls_running_idx;
      ALTER INDEX calls_running_agent_idx RENAME TO calls_running_idx;
      DROP INDEX calls_queued_idx;
      ALTER INDEX calls_queued_agent_idx RENAME TO calls_queued_idx;
    `);
  }
}
