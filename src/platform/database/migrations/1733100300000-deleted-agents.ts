import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The list of deleted agents; the indexes of the ordinary list leave them out. */
export class DeletedAgents1733100300000 implements MigrationInterface {
  name = 'DeletedAgents1733100300000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE INDEX agents_deleted_list_idx ON agents (workspace_id, created_at, id) WHERE deleted_at IS NOT NULL
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP INDEX agents_deleted_list_idx');
  }
}
