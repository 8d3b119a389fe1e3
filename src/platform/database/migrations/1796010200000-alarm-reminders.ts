import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When an alarm was sent for the second time. */
export class AlarmReminders1796010200000 implements MigrationInterface {
  readonly name = 'AlarmReminders1796010200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE alarms ADD COLUMN reminded_at timestamptz(3)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE alarms DROP COLUMN reminded_at');
  }
}
