import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Runs are deleted at once and their calls in batches later (decision 74): `calls` and `run_evaluations` no longer
 * reference `runs`, and `deleted_runs` has the runs whose calls are still stored.
 */
export class RunRetention1732700400000 implements MigrationInterface {
  name = 'RunRetention1732700400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE deleted_runs (
        id uuid NOT NULL CONSTRAINT deleted_runs_pkey PRIMARY KEY,
        deleted_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX runs_ended_at_idx ON runs (ended_at) WHERE ended_at IS NOT NULL;
      ALTER TABLE calls DROP CONSTRAINT calls_run_id_fkey;
      ALTER TABLE run_evaluations DROP CONSTRAINT run_evaluations_run_id_fkey;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DELETE FROM calls WHERE run_id IN (SELECT id FROM deleted_runs);
      DELETE FROM run_evaluations WHERE run_id IN (SELECT id FROM deleted_runs);
      ALTER TABLE calls ADD CONSTRAINT calls_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE;
      ALTER TABLE run_evaluations ADD CONSTRAINT run_evaluations_run_id_fkey
        FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE;
      DROP INDEX runs_ended_at_idx;
      DROP TABLE deleted_runs;
    `);
  }
}
