import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Links to the page of an agent beside those to the report of a run. */
export class PageLinks1796005800300 implements MigrationInterface {
  readonly name = 'PageLinks1796005800300';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE report_links
        ALTER COLUMN run_id DROP NOT NULL,
        ADD COLUMN agent_id uuid CONSTRAINT report_links_agent_id_fkey REFERENCES agents (id) ON DELETE CASCADE,
        ADD CONSTRAINT report_links_subject_check CHECK ((run_id IS NULL) <> (agent_id IS NULL));
      CREATE INDEX report_links_agent_idx ON report_links (agent_id, created_at, id) WHERE agent_id IS NOT NULL;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DELETE FROM report_links WHERE run_id IS NULL;
      ALTER TABLE report_links DROP COLUMN agent_id, ALTER COLUMN run_id SET NOT NULL;
    `);
  }
}
