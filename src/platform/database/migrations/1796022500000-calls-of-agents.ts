import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The list of the calls of an agent. */
export class CallsOfAgents1796022500000 implements MigrationInterface {
  readonly name = 'CallsOfAgents1796022500000';

  up = (runner: QueryRunner): Promise<void> =>
    runner.query('CREATE INDEX calls_agent_idx ON calls (agent_id, created_at, id)') as Promise<void>;

  down = (runner: QueryRunner): Promise<void> => runner.query('DROP INDEX calls_agent_idx') as Promise<void>;
}
