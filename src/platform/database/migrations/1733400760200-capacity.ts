import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CLAIM_CALLS_WITH_LINES, LINE_FUNCTIONS } from './claim-calls-with-lines.sql.js';

const RENAMED: readonly (readonly [string, string])[] = [
  ["'line'", "'reserved'"],
  ["'unended'", "'not_ended'"],
  ['line_wait_since', 'capacity_wait_since'],
  ['line_wait_ms', 'capacity_wait_ms'],
  ['take_line_for_test', 'reserve_for_test'],
];
const renamed = (text: string) => RENAMED.reduce((before, [from, to]) => before.replaceAll(from, to), text);
const replacing = (text: string) => text.replaceAll(/CREATE (?=FUNCTION|VIEW)/g, 'CREATE OR REPLACE ');

const STATES = `
  ALTER TABLE platform_calls DROP CONSTRAINT platform_calls_state_check;
  UPDATE platform_calls SET state = CASE state WHEN 'line' THEN 'reserved' WHEN 'unended' THEN 'not_ended' ELSE state END;
  ALTER TABLE platform_calls ADD CONSTRAINT platform_calls_state_check
    CHECK (state IN ('reserved', 'dialling', 'placed', 'ended', 'not_ended'));`;

const STATES_BEFORE = `
  ALTER TABLE platform_calls DROP CONSTRAINT platform_calls_state_check;
  UPDATE platform_calls SET state = CASE state WHEN 'reserved' THEN 'line' WHEN 'not_ended' THEN 'unended' ELSE state END;
  ALTER TABLE platform_calls ADD CONSTRAINT platform_calls_state_check
    CHECK (state IN ('line', 'dialling', 'placed', 'ended', 'unended'));`;

/** The functions between this migration and that of the dispatcher. */
export const BEFORE_DISPATCHER = replacing(renamed(LINE_FUNCTIONS) + renamed(CLAIM_CALLS_WITH_LINES));

/** The capacity that calls of an agent use, and plainer names for the states of calls on platforms. */
export class Capacity1733400760200 implements MigrationInterface {
  name = 'Capacity1733400760200';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
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
      ALTER TABLE calls RENAME COLUMN line_wait_since TO capacity_wait_since;
      ALTER FUNCTION line_wait_ms RENAME TO capacity_wait_ms;
      ALTER FUNCTION take_line_for_test RENAME TO reserve_for_test;
      ${STATES}
      ${BEFORE_DISPATCHER}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE agent_capacity;
      ALTER TABLE calls RENAME COLUMN capacity_wait_since TO line_wait_since;
      ALTER FUNCTION capacity_wait_ms RENAME TO line_wait_ms;
      ALTER FUNCTION reserve_for_test RENAME TO take_line_for_test;
      ${STATES_BEFORE}
      ${replacing(LINE_FUNCTIONS)}
      ${replacing(CLAIM_CALLS_WITH_LINES)}
    `);
  }
}
