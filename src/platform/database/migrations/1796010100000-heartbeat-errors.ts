import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Why the last heartbeat of a schedule failed. */
export class HeartbeatErrors1796010100000 implements MigrationInterface {
  readonly name = 'HeartbeatErrors1796010100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE schedules ADD COLUMN heartbeat_error text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE schedules DROP COLUMN heartbeat_error');
  }
}
