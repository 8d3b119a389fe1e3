import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a workspace keeps on disk (RECORDINGS_BYTES_PER_WORKSPACE). The sizes of earlier files are not known. */
export class RecordingSizes1733100000000 implements MigrationInterface {
  name = 'RecordingSizes1733100000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE recordings
        ADD COLUMN peaks_bytes bigint NOT NULL DEFAULT 0,
        ADD COLUMN wire_bytes bigint NOT NULL DEFAULT 0
    `);
    await runner.query('CREATE INDEX recordings_workspace_idx ON recordings (workspace_id)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX recordings_workspace_idx');
    await runner.query('ALTER TABLE recordings DROP COLUMN peaks_bytes, DROP COLUMN wire_bytes');
  }
}
