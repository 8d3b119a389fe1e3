import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether callers without a script interrupt the agent. */
export class PersonalityInterrupts1733400100000 implements MigrationInterface {
  name = 'PersonalityInterrupts1733400100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE personalities ADD COLUMN interrupts text NOT NULL DEFAULT 'never',
        ADD CONSTRAINT personalities_interrupts_check CHECK (interrupts IN ('never', 'sometimes'))`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE personalities DROP COLUMN interrupts');
  }
}
