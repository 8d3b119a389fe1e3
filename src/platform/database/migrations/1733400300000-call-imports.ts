import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CLAIM_CALLS } from './claim-calls.sql.js';

const claimCalls = (condition: string): string =>
  CLAIM_CALLS.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION').replace(
    "c.status = 'QUEUED'",
    `c.status = 'QUEUED' AND c.source_call_id IS NULL${condition}`,
  );

/**
 * Calls that were recorded elsewhere, and runs that hold them. Processes of the version before, which claim without a medium,
 * do not get them.
 */
export class CallImports1733400300000 implements MigrationInterface {
  name = 'CallImports1733400300000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE runs ADD COLUMN is_imported boolean NOT NULL DEFAULT false;
      CREATE TABLE call_imports (
        call_id uuid CONSTRAINT call_imports_pkey PRIMARY KEY
          CONSTRAINT call_imports_call_id_fkey REFERENCES calls (id) ON DELETE CASCADE,
        run_id uuid NOT NULL,
        workspace_id uuid NOT NULL CONSTRAINT call_imports_workspace_id_fkey REFERENCES workspaces (id),
        agent_id uuid NOT NULL,
        external_id text,
        content_hash text NOT NULL,
        channels text NOT NULL
          CONSTRAINT call_imports_channels_check CHECK (channels IN ('caller-agent', 'agent-caller')),
        transcript jsonb,
        bytes bigint NOT NULL
      );
      CREATE UNIQUE INDEX call_imports_external_id_key ON call_imports (agent_id, external_id)
        WHERE external_id IS NOT NULL;
      CREATE INDEX call_imports_run_idx ON call_imports (run_id);
      CREATE INDEX call_imports_pending_idx ON call_imports (workspace_id) WHERE bytes > 0;
    `);
    await runner.query(claimCalls(" AND c.protocol IS DISTINCT FROM 'recording'"));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(claimCalls(''));
    await runner.query('DROP TABLE call_imports; ALTER TABLE runs DROP COLUMN is_imported');
  }
}
