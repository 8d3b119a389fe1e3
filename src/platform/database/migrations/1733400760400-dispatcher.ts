import { readFileSync } from 'node:fs';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { BEFORE_DISPATCHER } from './1733400760200-capacity.js';

const RESERVE_FOR_TEST = readFileSync(new URL('../functions/reserve-capacity.sql', import.meta.url), 'utf8');

/** Calls are claimed by one dispatcher per process: no jobs for slots, and no list of agents that wait for capacity. */
export class Dispatcher1733400760400 implements MigrationInterface {
  name = 'Dispatcher1733400760400';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION claim_calls(uuid, uuid[], interval, uuid[]);
      DROP FUNCTION claim_calls(uuid, text, uuid[], interval, uuid[]);
      DROP FUNCTION claim_calls(uuid, text, uuid[], interval, uuid[], text, text, integer);
      DROP FUNCTION reserve_for_test;
      DROP FUNCTION release_line;
      DROP FUNCTION granted_lines;
      DROP FUNCTION has_open_platform_call;
      DROP VIEW line_queue;
      DROP VIEW used_lines;
      DROP TABLE line_waits;
      DROP INDEX calls_queued_agent_idx;
      DROP INDEX calls_running_agent_idx;
      ${RESERVE_FOR_TEST}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE line_waits (
        credential text,
        agent_id uuid,
        medium text,
        workspace_id uuid NOT NULL,
        since timestamptz(3) NOT NULL,
        seen_at timestamptz(3) NOT NULL,
        CONSTRAINT line_waits_pkey PRIMARY KEY (credential, agent_id, medium)
      );
      CREATE INDEX calls_queued_agent_idx ON calls (agent_id, created_at, run_id, position) WHERE status = 'QUEUED';
      CREATE INDEX calls_running_agent_idx ON calls (agent_id) WHERE status = 'RUNNING';
      DROP FUNCTION reserve_for_test;
      ${BEFORE_DISPATCHER}
    `);
  }
}
