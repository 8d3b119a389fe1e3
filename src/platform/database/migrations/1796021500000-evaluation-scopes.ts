import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whose calls an evaluation judges, and which of those of real callers. */
export class EvaluationScopes1796021500000 implements MigrationInterface {
  readonly name = 'EvaluationScopes1796021500000';

  up = (runner: QueryRunner): Promise<void> =>
    runner.query(`
      ALTER TABLE evaluations ADD COLUMN applies_to jsonb, ADD COLUMN scope text NOT NULL DEFAULT 'tests'
        CONSTRAINT evaluations_scope_check CHECK (scope IN ('tests', 'production', 'both'))`) as Promise<void>;

  down = (runner: QueryRunner): Promise<void> =>
    runner.query('ALTER TABLE evaluations DROP COLUMN scope, DROP COLUMN applies_to') as Promise<void>;
}
