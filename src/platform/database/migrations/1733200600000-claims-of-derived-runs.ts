import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CLAIM_CALLS } from './claim-calls.sql.js';

const REPLACE_CLAIM_CALLS = CLAIM_CALLS.replace('CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION');

/**
 * Processes of the version before claim without a medium, and would call the agent for a call that judges a recorded one
 * again: they no longer get such calls. The function is dropped in the next release, like their other traces.
 */
export class ClaimsOfDerivedRuns1733200600000 implements MigrationInterface {
  name = 'ClaimsOfDerivedRuns1733200600000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      REPLACE_CLAIM_CALLS.replace("c.status = 'QUEUED'", "c.status = 'QUEUED' AND c.source_call_id IS NULL"),
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(REPLACE_CLAIM_CALLS);
  }
}
