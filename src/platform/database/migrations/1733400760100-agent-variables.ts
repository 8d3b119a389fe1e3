import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What runs and evaluations give to the agent's platform: dynamic variables, and a version of the agent. */
export class AgentVariables1733400760100 implements MigrationInterface {
  name = 'AgentVariables1733400760100';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE runs
        ADD COLUMN agent_variables jsonb NOT NULL DEFAULT '{}',
        ADD COLUMN assistant_version text;
      ALTER TABLE evaluations ADD COLUMN agent_variables jsonb NOT NULL DEFAULT '{}';
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE evaluations DROP COLUMN agent_variables;
      ALTER TABLE runs DROP COLUMN assistant_version, DROP COLUMN agent_variables`);
  }
}
