import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stored responses of idempotent requests, and the processes that run jobs. */
export class Requests1733400000200 implements MigrationInterface {
  name = 'Requests1733400000200';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE idempotency_keys (
        id text NOT NULL CONSTRAINT idempotency_keys_pkey PRIMARY KEY,
        body_hash text NOT NULL,
        status smallint NOT NULL,
        response text NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        api_key_id uuid,
        agent_id uuid
      );
      CREATE INDEX idempotency_keys_expires_at_idx ON idempotency_keys (expires_at);
      CREATE INDEX idempotency_keys_agent_idx ON idempotency_keys (agent_id) WHERE agent_id IS NOT NULL;

      CREATE TABLE queue_workers (
        id uuid NOT NULL CONSTRAINT queue_workers_pkey PRIMARY KEY,
        pools text[] NOT NULL,
        machine text NOT NULL,
        pid integer NOT NULL,
        started_at timestamptz(3) NOT NULL,
        seen_at timestamptz(3) NOT NULL
      );
      CREATE INDEX queue_workers_seen_at_idx ON queue_workers (seen_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE queue_workers, idempotency_keys');
  }
}
