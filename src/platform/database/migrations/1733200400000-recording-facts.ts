import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What was observed on a call is stored beside its recording. Earlier recordings have no such file. */
export class RecordingFacts1733200400000 implements MigrationInterface {
  name = 'RecordingFacts1733200400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE recordings ADD COLUMN facts_bytes bigint NOT NULL DEFAULT 0');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE recordings DROP COLUMN facts_bytes');
  }
}
