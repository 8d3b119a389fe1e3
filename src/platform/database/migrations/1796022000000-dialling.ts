import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Limits of calls to telephone numbers. */
export class Dialling1796022000000 implements MigrationInterface {
  readonly name = 'Dialling1796022000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE dial_usage (
        workspace_id uuid NOT NULL CONSTRAINT dial_usage_pkey PRIMARY KEY
          CONSTRAINT dial_usage_workspace_id_fkey REFERENCES workspaces (id),
        day date NOT NULL,
        calls integer NOT NULL,
        seconds integer NOT NULL
      );
      CREATE TABLE trunk_pace (
        trunk text NOT NULL CONSTRAINT trunk_pace_pkey PRIMARY KEY,
        next_at timestamptz(3) NOT NULL
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE dial_usage, trunk_pace');
  }
}
