import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Whether a caller without a script fills the pauses in which it thinks. */
export class Fillers1733300000000 implements MigrationInterface {
  name = 'Fillers1733300000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE evaluations ADD COLUMN fillers boolean NOT NULL DEFAULT false');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE evaluations DROP COLUMN fillers');
  }
}
