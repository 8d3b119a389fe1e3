import type { MigrationInterface, QueryRunner } from 'typeorm';

/** References to the recordings of calls, which are files, and their sizes. */
export class Recordings1733400001000 implements MigrationInterface {
  name = 'Recordings1733400001000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE recordings (
        id uuid NOT NULL CONSTRAINT recordings_pkey PRIMARY KEY,
        call_id uuid NOT NULL CONSTRAINT recordings_call_id_fkey REFERENCES calls (id) ON DELETE CASCADE,
        run_id uuid NOT NULL,
        workspace_id uuid NOT NULL CONSTRAINT recordings_workspace_id_fkey REFERENCES workspaces (id),
        seconds double precision NOT NULL,
        sample_rate integer NOT NULL,
        bytes bigint NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        peaks_bytes bigint NOT NULL DEFAULT 0,
        wire_bytes bigint NOT NULL DEFAULT 0,
        facts_bytes bigint NOT NULL DEFAULT 0
      );
      CREATE INDEX recordings_call_idx ON recordings (call_id);
      CREATE INDEX recordings_created_at_idx ON recordings (created_at);
      CREATE INDEX recordings_workspace_idx ON recordings (workspace_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE recordings');
  }
}
