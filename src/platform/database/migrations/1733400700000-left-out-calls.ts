import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a derived run leaves out of the run that it is derived from counts in its gate as not tested. */
export class LeftOutCalls1733400700000 implements MigrationInterface {
  name = 'LeftOutCalls1733400700000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE runs
        ADD COLUMN left_out_calls integer NOT NULL DEFAULT 0,
        ADD COLUMN left_out_critical text[] NOT NULL DEFAULT '{}';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE runs DROP COLUMN left_out_critical, DROP COLUMN left_out_calls');
  }
}
