import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Evaluations that were made from calls, and the calls that do not count until such an evaluation has failed once. */
export class ProvisionalEvaluations1796033000000 implements MigrationInterface {
  readonly name = 'ProvisionalEvaluations1796033000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE evaluations ADD COLUMN origin_call_id uuid, ADD COLUMN proven_at timestamptz(3)');
    await runner.query('ALTER TABLE calls ADD COLUMN provisional boolean NOT NULL DEFAULT false');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE calls DROP COLUMN provisional');
    await runner.query('ALTER TABLE evaluations DROP COLUMN proven_at, DROP COLUMN origin_call_id');
  }
}
