import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a platform may still carry is ended although the run was deleted. */
export class PlatformCallsOutliveCalls1795993200000 implements MigrationInterface {
  name = 'PlatformCallsOutliveCalls1795993200000';

  up = (runner: QueryRunner): Promise<void> => refer(runner, 'SET NULL');

  down = (runner: QueryRunner): Promise<void> => refer(runner, 'CASCADE');
}

async function refer(runner: QueryRunner, onDelete: string): Promise<void> {
  await runner.query(`
    ALTER TABLE platform_calls
      DROP CONSTRAINT platform_calls_call_id_fkey,
      ADD CONSTRAINT platform_calls_call_id_fkey FOREIGN KEY (call_id) REFERENCES calls (id) ON DELETE ${onDelete}`);
}
