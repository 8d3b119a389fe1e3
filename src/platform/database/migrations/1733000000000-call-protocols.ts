import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CLAIM_CALLS_OF_MEDIUM } from './claim-calls-of-medium.sql.js';

/**
 * Calls are written with their protocol and medium, and claimed by medium. Processes of the version before do neither, and go on
 * beside new ones: the columns can be null, and `claim_calls` with four arguments stays. Drop that in the next release.
 */
export class CallProtocols1733000000000 implements MigrationInterface {
  name = 'CallProtocols1733000000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE calls
        ADD COLUMN protocol text,
        ADD COLUMN medium text CONSTRAINT calls_medium_check CHECK (medium IN ('text', 'voice'));
      ALTER TABLE runs
        ADD COLUMN medium text CONSTRAINT runs_medium_check CHECK (medium IN ('text', 'voice'));
      ${CLAIM_CALLS_OF_MEDIUM}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION claim_calls(uuid, text, uuid[], interval, uuid[]);
      ALTER TABLE runs DROP COLUMN medium;
      ALTER TABLE calls DROP COLUMN medium, DROP COLUMN protocol;
    `);
  }
}
