import type { MigrationInterface, QueryRunner } from 'typeorm';
import { readFunction } from './read-function.js';

/** What platforms carry and bill, the capacity that calls of an agent use, and claims of calls, which reserve capacity. */
export class PlatformCalls1733400000900 implements MigrationInterface {
  name = 'PlatformCalls1733400000900';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE platform_calls (
        claim_id uuid CONSTRAINT platform_calls_pkey PRIMARY KEY,
        call_id uuid CONSTRAINT platform_calls_call_id_fkey REFERENCES calls (id) ON DELETE CASCADE,
        run_id uuid,
        workspace_id uuid NOT NULL,
        agent_id uuid NOT NULL,
        medium text NOT NULL,
        protocol text NOT NULL,
        bills boolean NOT NULL,
        attempt integer NOT NULL,
        credential text NOT NULL,
        state text NOT NULL
          CONSTRAINT platform_calls_state_check CHECK (state IN ('reserved', 'dialling', 'placed', 'ended', 'not_ended')),
        handle text,
        platform_id text,
        paid_seconds double precision,
        paid_by text CONSTRAINT platform_calls_paid_by_check CHECK (paid_by IN ('platform', 'tester')),
        placed_at timestamptz(3),
        ended_at timestamptz(3),
        lease_until timestamptz(3) NOT NULL,
        end_failures integer NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX platform_calls_call_idx ON platform_calls (call_id);
      CREATE INDEX platform_calls_run_idx ON platform_calls (run_id);
      CREATE INDEX platform_calls_open_idx ON platform_calls (credential) WHERE state <> 'ended';

      CREATE TABLE agent_capacity (
        agent_id uuid,
        protocol text,
        credential text NOT NULL,
        capacity integer NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT agent_capacity_pkey PRIMARY KEY (agent_id, protocol)
      );
      CREATE INDEX agent_capacity_credential_idx ON agent_capacity (credential);

      ${readFunction('capacity-wait-ms')}
      ${readFunction('claim-calls')}
      ${readFunction('reserve-capacity')}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION reserve_for_test, claim_calls, capacity_wait_ms;
      DROP VIEW used_capacity;
      DROP TABLE agent_capacity, platform_calls;
    `);
  }
}
