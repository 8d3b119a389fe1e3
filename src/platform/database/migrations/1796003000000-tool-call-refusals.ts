import type { MigrationInterface, QueryRunner } from 'typeorm';

/** That a report of a tool call was refused. */
export class ToolCallRefusals1796003000000 implements MigrationInterface {
  name = 'ToolCallRefusals1796003000000';

  up = (runner: QueryRunner): Promise<void> =>
    runner.query('ALTER TABLE reporting_attempts ADD COLUMN refusal text') as Promise<void>;

  down = (runner: QueryRunner): Promise<void> =>
    runner.query('ALTER TABLE reporting_attempts DROP COLUMN refusal') as Promise<void>;
}
