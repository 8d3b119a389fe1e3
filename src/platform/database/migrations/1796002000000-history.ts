import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What was said before a call. */
export class History1796002000000 implements MigrationInterface {
  name = 'History1796002000000';

  up = (runner: QueryRunner): Promise<void> =>
    runner.query(`ALTER TABLE evaluations ADD COLUMN history jsonb NOT NULL DEFAULT '[]'`) as Promise<void>;

  down = (runner: QueryRunner): Promise<void> =>
    runner.query('ALTER TABLE evaluations DROP COLUMN history') as Promise<void>;
}
