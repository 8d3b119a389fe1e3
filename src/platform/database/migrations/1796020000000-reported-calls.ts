import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What is known of an imported call beside its sound and its words, and calls of which there is only a transcript. */
export class ReportedCalls1796020000000 implements MigrationInterface {
  readonly name = 'ReportedCalls1796020000000';

  up = (runner: QueryRunner): Promise<void> =>
    runner.query(`
      ALTER TABLE call_imports ALTER COLUMN channels DROP NOT NULL,
        ADD COLUMN tool_calls jsonb, ADD COLUMN ended_reason text, ADD COLUMN reported jsonb,
        ADD COLUMN origin text NOT NULL DEFAULT 'import'
          CONSTRAINT call_imports_origin_check CHECK (origin IN ('import', 'production'));
      DROP INDEX call_imports_pending_idx;
      CREATE INDEX call_imports_pending_idx ON call_imports (workspace_id) WHERE bytes > 0 OR transcript IS NOT NULL`) as Promise<void>;

  down = (runner: QueryRunner): Promise<void> =>
    runner.query(`
      DROP INDEX call_imports_pending_idx;
      CREATE INDEX call_imports_pending_idx ON call_imports (workspace_id) WHERE bytes > 0;
      UPDATE call_imports SET channels = 'caller-agent' WHERE channels IS NULL;
      ALTER TABLE call_imports ALTER COLUMN channels SET NOT NULL,
        DROP COLUMN tool_calls, DROP COLUMN ended_reason, DROP COLUMN reported, DROP COLUMN origin`) as Promise<void>;
}
