import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Variables, tool results and language of evaluations (decision 79). Each row of variables is a case of a run: `calls`
 * have the key of their case and its row, `run_evaluations` the range of their calls.
 */
export class Variables1732800000000 implements MigrationInterface {
  name = 'Variables1732800000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE evaluations
        ADD COLUMN variables jsonb NOT NULL DEFAULT '[]',
        ADD COLUMN tool_results jsonb NOT NULL DEFAULT '[]',
        ADD COLUMN language text;
      ALTER TABLE run_evaluations ADD COLUMN first_call integer, ADD COLUMN cases integer;
      UPDATE run_evaluations e SET cases = 1,
             first_call = e.position * coalesce((SELECT r.repeat FROM runs r WHERE r.id = e.run_id), 1);
      ALTER TABLE run_evaluations ALTER COLUMN first_call SET NOT NULL, ALTER COLUMN cases SET NOT NULL;
      ALTER TABLE calls ADD COLUMN case_key text, ADD COLUMN variables jsonb;
      UPDATE calls SET case_key = evaluation_id;
      ALTER TABLE calls ALTER COLUMN case_key SET NOT NULL;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE calls DROP COLUMN variables, DROP COLUMN case_key;
      ALTER TABLE run_evaluations DROP COLUMN cases, DROP COLUMN first_call;
      ALTER TABLE evaluations DROP COLUMN language, DROP COLUMN tool_results, DROP COLUMN variables;
    `);
  }
}
