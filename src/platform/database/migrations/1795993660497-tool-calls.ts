import type { MigrationInterface, QueryRunner } from 'typeorm';

export class ToolCalls1795993660497 implements MigrationInterface {
  readonly name = 'ToolCalls1795993660497';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE reporting_attempts (
        id uuid NOT NULL CONSTRAINT reporting_attempts_pkey PRIMARY KEY,
        call_id uuid NOT NULL CONSTRAINT reporting_attempts_call_id_fkey REFERENCES calls (id) ON DELETE CASCADE,
        workspace_id uuid NOT NULL CONSTRAINT reporting_attempts_workspace_id_fkey REFERENCES workspaces (id),
        started_at timestamptz(3) NOT NULL,
        reports jsonb
      );
      CREATE INDEX reporting_attempts_call_id_idx ON reporting_attempts (call_id);
      CREATE INDEX reporting_attempts_open_idx ON reporting_attempts (id) WHERE reports IS NOT NULL;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE reporting_attempts');
  }
}
