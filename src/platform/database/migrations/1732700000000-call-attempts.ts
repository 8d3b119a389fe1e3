import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Results of earlier attempts at a call, and the number of its retries. */
export class CallAttempts1732700000000 implements MigrationInterface {
  name = 'CallAttempts1732700000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE call_attempts (
        call_id uuid NOT NULL CONSTRAINT call_attempts_call_id_fkey REFERENCES calls (id) ON DELETE CASCADE,
        number integer NOT NULL,
        result jsonb NOT NULL,
        CONSTRAINT call_attempts_pkey PRIMARY KEY (call_id, number)
      );
      ALTER TABLE calls ADD COLUMN retries integer NOT NULL DEFAULT 0;
      UPDATE calls SET retries = jsonb_array_length(attempts) - 1 WHERE jsonb_array_length(attempts) > 1;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE call_attempts;
      ALTER TABLE calls DROP COLUMN retries;
    `);
  }
}
