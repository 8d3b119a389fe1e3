import type { MigrationInterface, QueryRunner } from 'typeorm';

const check = (kinds: string): string => `
  ALTER TABLE runs
    DROP CONSTRAINT runs_derived_kind_check,
    ADD CONSTRAINT runs_derived_kind_check CHECK (derived_kind IN (${kinds}))`;

/** Runs that judge the criteria of another run again. */
export class RejudgedRuns1733200700000 implements MigrationInterface {
  name = 'RejudgedRuns1733200700000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(check(`'remeasure', 'rejudge'`));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DELETE FROM runs WHERE derived_kind = 'rejudge'`);
    await runner.query(check(`'remeasure'`));
  }
}
