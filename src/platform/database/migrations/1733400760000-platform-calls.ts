import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CLAIM_CALLS_OF_MEDIUM } from './claim-calls-of-medium.sql.js';
import { CLAIM_CALLS_WITH_LINES, LINE_FUNCTIONS } from './claim-calls-with-lines.sql.js';

const REPLACE_CLAIM = CLAIM_CALLS_OF_MEDIUM.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION');

/**
 * Lines of platforms, and the ledger of calls that are billed. Processes of the version before claim with the function of
 * five arguments, which skips calls that are billed: those processes take no lines.
 */
export class PlatformCalls1733400760000 implements MigrationInterface {
  name = 'PlatformCalls1733400760000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE runs ADD COLUMN max_paid_attempts smallint NOT NULL DEFAULT 2
        CONSTRAINT runs_max_paid_attempts_check CHECK (max_paid_attempts BETWEEN 1 AND 3);
      ALTER TABLE calls
        ADD COLUMN bills boolean NOT NULL DEFAULT false,
        ADD COLUMN line_wait_since timestamptz(3),
        ADD COLUMN waited_for_line_ms integer NOT NULL DEFAULT 0;
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
          CONSTRAINT platform_calls_state_check CHECK (state IN ('line', 'dialling', 'placed', 'ended', 'unended')),
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
      CREATE TABLE line_waits (
        credential text,
        agent_id uuid,
        medium text,
        workspace_id uuid NOT NULL,
        since timestamptz(3) NOT NULL,
        seen_at timestamptz(3) NOT NULL,
        CONSTRAINT line_waits_pkey PRIMARY KEY (credential, agent_id, medium)
      );
      ${LINE_FUNCTIONS}
      ${CLAIM_CALLS_WITH_LINES}
      ${REPLACE_CLAIM.replace("c.status = 'QUEUED' AND", "c.status = 'QUEUED' AND NOT c.bills AND")}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ${REPLACE_CLAIM}
      DROP FUNCTION claim_calls(uuid, text, uuid[], interval, uuid[], text, text, integer);
      DROP FUNCTION take_line_for_test(uuid, uuid, uuid, text, text, boolean, text, integer, interval);
      DROP FUNCTION release_line(uuid);
      DROP FUNCTION granted_lines(uuid, text, text, integer, integer);
      DROP FUNCTION line_wait_ms(timestamptz);
      DROP FUNCTION has_open_platform_call(uuid);
      DROP VIEW line_queue;
      DROP VIEW used_lines;
      DROP TABLE line_waits;
      DROP TABLE platform_calls;
      ALTER TABLE calls DROP COLUMN waited_for_line_ms, DROP COLUMN line_wait_since, DROP COLUMN bills;
      ALTER TABLE runs DROP COLUMN max_paid_attempts;
    `);
  }
}
