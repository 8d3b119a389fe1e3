import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Conditions of the line and the silence that ends a turn, for evaluations on voice calls. */
export class VoiceDefinition1732900000000 implements MigrationInterface {
  name = 'VoiceDefinition1732900000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE evaluations
        ADD COLUMN conditions jsonb NOT NULL DEFAULT '{}',
        ADD COLUMN turn_end_ms integer NOT NULL DEFAULT 700,
        ADD CONSTRAINT evaluations_turn_end_ms_check CHECK (turn_end_ms BETWEEN 200 AND 3000)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE evaluations DROP COLUMN turn_end_ms, DROP COLUMN conditions');
  }
}
