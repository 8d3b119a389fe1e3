import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The counter behind the totals of long lists (decision 64). The triggers of `count-entries.ts` insert into `list_deltas` how
 * many entries a statement added to or removed from a list: inserts do not conflict, so writers never wait for each other. A
 * background job moves the deltas into `list_totals`. The size of a list is the sum of both.
 */
export class ListTotals1733400000300 implements MigrationInterface {
  name = 'ListTotals1733400000300';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE list_totals (
        list text NOT NULL,
        owner_id uuid NOT NULL,
        facet text NOT NULL,
        total bigint NOT NULL,
        CONSTRAINT list_totals_pkey PRIMARY KEY (list, owner_id, facet)
      );
      CREATE TABLE list_deltas (
        list text NOT NULL,
        owner_id uuid NOT NULL,
        facet text NOT NULL,
        delta bigint NOT NULL
      );
      CREATE INDEX list_deltas_idx ON list_deltas (list, owner_id, facet);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE list_deltas, list_totals');
  }
}
