import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Numbers at which agents that call out reach the tester: each has one call at a time. */
export class AnsweringNumbers1796021000000 implements MigrationInterface {
  name = 'AnsweringNumbers1796021000000';

  up = (runner: QueryRunner): Promise<void> =>
    runner.query(`
      ALTER TABLE platform_calls ADD COLUMN number text, ADD COLUMN number_until timestamptz(3);
      CREATE UNIQUE INDEX platform_calls_number_key ON platform_calls (number) WHERE state IN ('reserved', 'dialling', 'placed');
      CREATE INDEX platform_calls_number_until_idx ON platform_calls (number, number_until) WHERE number IS NOT NULL;
    `) as Promise<void>;

  down = (runner: QueryRunner): Promise<void> =>
    runner.query('ALTER TABLE platform_calls DROP COLUMN number, DROP COLUMN number_until') as Promise<void>;
}
