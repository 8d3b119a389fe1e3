import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Calls by outcome of an ended run, so that the list of runs reads no calls; null for runs that ended before. */
export class RunOutcomes1796005800200 implements MigrationInterface {
  readonly name = 'RunOutcomes1796005800200';

  up = (runner: QueryRunner): Promise<void> =>
    runner.query('ALTER TABLE runs ADD COLUMN outcomes jsonb') as Promise<void>;

  down = (runner: QueryRunner): Promise<void> => runner.query('ALTER TABLE runs DROP COLUMN outcomes') as Promise<void>;
}
