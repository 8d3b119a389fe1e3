import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Links to the reports of runs. */
export class ReportLinks1732800300000 implements MigrationInterface {
  name = 'ReportLinks1732800300000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE report_links (
        id uuid NOT NULL,
        run_id uuid NOT NULL,
        created_by_user_id uuid NOT NULL,
        token_hash bytea NOT NULL,
        include_recordings boolean NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT report_links_pkey PRIMARY KEY (id),
        CONSTRAINT report_links_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE,
        CONSTRAINT report_links_created_by_user_id_fkey FOREIGN KEY (created_by_user_id) REFERENCES users (id)
      );
      CREATE UNIQUE INDEX report_links_token_hash_key ON report_links (token_hash);
      CREATE INDEX report_links_list_idx ON report_links (run_id, created_at, id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE report_links');
  }
}
