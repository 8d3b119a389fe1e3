import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which key sent an idempotent request, and the rates of the plans that the service uses. */
export class Security1732700300000 implements MigrationInterface {
  name = 'Security1732700300000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE idempotency_keys ADD COLUMN api_key_id uuid;
      CREATE TABLE plan_rates (
        plan text NOT NULL CONSTRAINT plan_rates_pkey PRIMARY KEY,
        requests_per_minute integer NOT NULL,
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE plan_rates;
      ALTER TABLE idempotency_keys DROP COLUMN api_key_id;
    `);
  }
}
