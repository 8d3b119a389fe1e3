import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The medium of calls that ended before it was written with the call. A migration of its own, so that the table is not locked
 * while all rows are updated. Their protocol is not known.
 */
export class MediumOfEndedCalls1733000100000 implements MigrationInterface {
  name = 'MediumOfEndedCalls1733000100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      UPDATE calls c SET medium = CASE WHEN EXISTS (
               SELECT 1 FROM call_results r WHERE r.call_id = c.id AND jsonb_typeof(r.result -> 'voice') = 'object'
             ) THEN 'voice' ELSE 'text' END
       WHERE c.status = 'ENDED' AND c.medium IS NULL
    `);
  }

  /** The column is dropped by the migration before. */
  async down(): Promise<void> {}
}
