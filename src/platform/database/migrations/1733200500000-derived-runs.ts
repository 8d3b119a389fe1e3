import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Runs that judge the calls of another run again. None of the new columns is a foreign key: the run that another one was
 * derived from can be deleted, and its calls after it.
 */
export class DerivedRuns1733200500000 implements MigrationInterface {
  name = 'DerivedRuns1733200500000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE runs
        ADD COLUMN derived_from uuid,
        ADD COLUMN derived_kind text CONSTRAINT runs_derived_kind_check CHECK (derived_kind IN ('remeasure')),
        ADD CONSTRAINT runs_derived_check CHECK ((derived_from IS NULL) = (derived_kind IS NULL));
      ALTER TABLE calls
        ADD COLUMN source_call_id uuid,
        ADD COLUMN recorded_call_id uuid;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE calls DROP COLUMN recorded_call_id, DROP COLUMN source_call_id;
      ALTER TABLE runs DROP COLUMN derived_kind, DROP COLUMN derived_from;
    `);
  }
}
