import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Conditions of a run's gate besides the minimum score, and its exit code. Earlier runs keep their result. */
export class RunGates1732700100000 implements MigrationInterface {
  name = 'RunGates1732700100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE runs
        ADD COLUMN minimum_pass_rate double precision,
        ADD COLUMN allowed_uncounted integer NOT NULL DEFAULT 0,
        ADD COLUMN exit_code smallint,
        ADD CONSTRAINT runs_minimum_pass_rate_check CHECK (minimum_pass_rate BETWEEN 0 AND 1),
        ADD CONSTRAINT runs_allowed_uncounted_check CHECK (allowed_uncounted BETWEEN 0 AND 10000),
        ADD CONSTRAINT runs_exit_code_check CHECK (exit_code BETWEEN 0 AND 2);
      UPDATE runs r SET exit_code = CASE
          WHEN r.status = 'COMPLETED' THEN 0
          WHEN r.status = 'FAILED'
            AND EXISTS (SELECT 1 FROM calls c WHERE c.run_id = r.id AND c.outcome IN ('passed', 'failed')) THEN 1
          ELSE 2 END
        WHERE r.status NOT IN ('QUEUED', 'RUNNING');
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE runs DROP COLUMN exit_code, DROP COLUMN allowed_uncounted, DROP COLUMN minimum_pass_rate',
    );
  }
}
