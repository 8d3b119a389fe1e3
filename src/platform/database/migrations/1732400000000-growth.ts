import type { MigrationInterface, QueryRunner } from 'typeorm';
import * as sql from './1732400000000-growth.sql.js';
import { EvaluationAuthoring1732100000000 } from './1732100000000-evaluation-authoring.js';

/** As in `ListKeeper` at the time of writing. */
const BUCKET = 256;
const GROUP = 64;

interface KeptTable {
  readonly relation: string;
  readonly scope: string;
  readonly facet: string | null;
  readonly deleted: string | null;
}
const KEPT: readonly KeptTable[] = [
  { relation: 'agents', scope: 'workspace_id', facet: 'provider', deleted: 'deleted_at' },
  { relation: 'personalities', scope: 'workspace_id', facet: null, deleted: 'deleted_at' },
  { relation: 'evaluations', scope: 'agent_id', facet: null, deleted: 'deleted_at' },
  { relation: 'runs', scope: 'agent_id', facet: null, deleted: null },
  { relation: 'webhook_deliveries', scope: 'endpoint_id', facet: 'status', deleted: null },
];

/** Lists that cost the same however long they are (decision 40), and an index for searches (decision 42). */
export class Growth1732400000000 implements MigrationInterface {
  name = 'Growth1732400000000';
  private readonly before = new EvaluationAuthoring1732100000000();

  async up(runner: QueryRunner): Promise<void> {
    await this.before.stopCountingEvaluations(runner);
    await runner.query(`
      CREATE INDEX agents_provider_list_idx ON agents (workspace_id, provider, created_at, id) WHERE deleted_at IS NULL;
      CREATE INDEX webhook_deliveries_status_list_idx ON webhook_deliveries (endpoint_id, status, created_at, id);
    `);
    await runner.query(sql.TABLES);
    await runner.query(sql.WRITING);
    await runner.query(sql.READING);
    await runner.query(sql.SEALING);
    await runner.query(sql.FOLDING);
    for (const table of KEPT) {
      const { relation, scope, facet, deleted } = table;
      await runner.query('SELECT keep_list($1, $2, $3, $4)', [relation, scope, facet, deleted]);
      await this.sealLongOnes(runner, table);
    }
    await this.indexSearches(runner);
  }

  /** A database whose owner does without the extension finds the same agents, only not as fast (decision 42). */
  private async indexSearches(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DO $$
        BEGIN
          CREATE EXTENSION IF NOT EXISTS pg_trgm;
          -- Every search reads the entries that are not merged yet, so they must stay few.
          CREATE INDEX agents_search_idx ON agents
            USING gin (name gin_trgm_ops, assistant_id gin_trgm_ops, phone_number gin_trgm_ops)
            WITH (gin_pending_list_limit = 256) WHERE deleted_at IS NULL;
        EXCEPTION
          WHEN insufficient_privilege OR undefined_file OR undefined_object OR feature_not_supported THEN
            RAISE WARNING 'Searches for agents will be slow: the extension pg_trgm is not available (%)', SQLERRM;
        END $$
    `);
  }

  /** Nobody writes meanwhile: whoever creates a trigger has locked the table against it. */
  private async sealLongOnes(runner: QueryRunner, { relation, scope, facet, deleted }: KeptTable): Promise<void> {
    for (const name of [`'${relation}'`, ...(facet === null ? [] : [`'${relation}:' || ${facet}`])]) {
      const lists = (await runner.query(
        `SELECT ${name} AS list, ${scope} AS scope FROM ${relation}
          WHERE ${scope} IS NOT NULL AND ${deleted ?? 'NULL'} IS NULL GROUP BY 1, 2 HAVING count(*) > ${2 * BUCKET}`,
      )) as { list: string; scope: string }[];
      for (const { list, scope: of } of lists) {
        await runner.query('SELECT list_open($1, $2, $3)', [list, of, BUCKET]);
        await runner.query(
          `SELECT list_seal($1, $2, opened_at, opened_id, $3, 2147483647) FROM list_heads WHERE list = $1 AND scope = $2`,
          [list, of, BUCKET],
        );
        await runner.query('SELECT list_group($1, $2, $3)', [list, of, GROUP]);
      }
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP INDEX IF EXISTS agents_search_idx;
      DO $$
        BEGIN
          DROP EXTENSION IF EXISTS pg_trgm;
        EXCEPTION
          -- Somebody else's.
          WHEN insufficient_privilege OR dependent_objects_still_exist THEN NULL;
        END $$;
      SELECT drop_list(relation) FROM kept_lists;
      DROP FUNCTION keep_list, drop_list, forget_lists, list_place, list_source, list_open, list_seal, list_fold,
        list_group;
      DROP TABLE kept_lists, list_heads, list_buckets, list_changes;
      DROP INDEX agents_provider_list_idx, webhook_deliveries_status_list_idx;
    `);
    await this.before.countEvaluations(runner);
  }
}
