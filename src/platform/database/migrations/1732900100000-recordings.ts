import type { MigrationInterface, QueryRunner } from 'typeorm';

/** References to the recordings of calls, which are files. */
export class Recordings1732900100000 implements MigrationInterface {
  name = 'Recordings1732900100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE recordings (
        id uuid NOT NULL,
        call_id uuid NOT NULL,
        run_id uuid NOT NULL,
        workspace_id uuid NOT NULL,
        seconds double precision NOT NULL,
        sample_rate integer NOT NULL,
        bytes bigint NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT recordings_pkey PRIMARY KEY (id),
        CONSTRAINT recordings_call_id_fkey FOREIGN KEY (call_id) REFERENCES calls (id) ON DELETE CASCADE,
        CONSTRAINT recordings_workspace_id_fkey FOREIGN KEY (workspace_id) REFERENCES workspaces (id)
      );
      CREATE INDEX recordings_call_idx ON recordings (call_id);
      CREATE INDEX recordings_created_at_idx ON recordings (created_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE recordings');
  }
}
