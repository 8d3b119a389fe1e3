import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which calls in the records of platforms are of this service. */
export class OwnCalls1796030000000 implements MigrationInterface {
  readonly name = 'OwnCalls1796030000000';

  up = (runner: QueryRunner): Promise<void> =>
    runner.query(`
      CREATE TABLE own_calls (
        key text NOT NULL CONSTRAINT own_calls_pkey PRIMARY KEY,
        number text,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        ended_at timestamptz(3)
      );
      CREATE INDEX own_calls_created_at_idx ON own_calls (created_at);
      CREATE INDEX own_calls_number_idx ON own_calls (number, created_at) WHERE number IS NOT NULL`) as Promise<void>;

  down = (runner: QueryRunner): Promise<void> => runner.query('DROP TABLE own_calls') as Promise<void>;
}
