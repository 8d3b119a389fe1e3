import type { MigrationInterface, QueryRunner } from 'typeorm';

/** In which time zone the dates of an evaluation are counted. */
export class EvaluationTimezones1795995027001 implements MigrationInterface {
  name = 'EvaluationTimezones1795995027001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE evaluations ADD COLUMN timezone text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE evaluations DROP COLUMN timezone');
  }
}
