import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a run asks of the agent's platform: dynamic variables, and a version of the agent. */
export class AgentVariables1733400760100 implements MigrationInterface {
  name = 'AgentVariables1733400760100';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE runs
        ADD COLUMN agent_variables jsonb NOT NULL DEFAULT '{}',
        ADD COLUMN assistant_version text;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE runs DROP COLUMN assistant_version, DROP COLUMN agent_variables');
  }
}
