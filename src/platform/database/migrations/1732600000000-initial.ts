import type { MigrationInterface, QueryRunner } from 'typeorm';
import { CLAIM_CALLS } from './claim-calls.sql.js';
import { countEntries, LIST_COUNTERS } from './list-counters.sql.js';
import { REQUEST_TABLES } from './requests.sql.js';
import { RESOURCE_TABLES } from './resources.sql.js';
import { RUN_TABLES } from './runs.sql.js';
import { WEBHOOK_TABLES } from './webhooks.sql.js';
import { WORKSPACE_TABLES } from './workspaces.sql.js';

/** The whole schema, by topic in the files `*.sql.ts` beside this one. */
export class Initial1732600000000 implements MigrationInterface {
  name = 'Initial1732600000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [
      WORKSPACE_TABLES,
      REQUEST_TABLES,
      RESOURCE_TABLES,
      RUN_TABLES,
      WEBHOOK_TABLES,
      CLAIM_CALLS,
      LIST_COUNTERS,
      countEntries({ table: 'agents', owner: 'workspace_id', facet: 'provider', softDelete: true }),
      countEntries({ table: 'evaluations', owner: 'agent_id', softDelete: true }),
      countEntries({ table: 'runs', owner: 'agent_id' }),
      AGENT_SEARCH_INDEX,
    ]) {
      await runner.query(statements);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE queue_workers, idempotency_keys, encryption_canary, list_deltas, list_totals, webhook_deliveries,
        webhook_events, webhook_endpoints, call_results, calls, run_evaluations, runs, evaluations, personalities, agents,
        provider_keys, api_keys, users, workspaces;
      DROP FUNCTION notify_api_keys_changed, claim_calls, count_inserted_agents, count_updated_agents, count_deleted_agents,
        count_inserted_evaluations, count_updated_evaluations, count_deleted_evaluations, count_inserted_runs,
        count_updated_runs, count_deleted_runs;
      DO $$
        BEGIN
          DROP EXTENSION IF EXISTS pg_trgm;
        EXCEPTION
          -- Something else uses it, or another role created it.
          WHEN insufficient_privilege OR dependent_objects_still_exist THEN NULL;
        END $$;
    `);
  }
}

/** Optional: without the extension, searches return the same agents but scan the workspace (decision 42). */
const AGENT_SEARCH_INDEX = `
  DO $$
    BEGIN
      CREATE EXTENSION IF NOT EXISTS pg_trgm;
      -- Every search reads the pending entries of the index, so they are kept few.
      CREATE INDEX agents_search_idx ON agents
        USING gin (name gin_trgm_ops, assistant_id gin_trgm_ops, phone_number gin_trgm_ops)
        WITH (gin_pending_list_limit = 256) WHERE deleted_at IS NULL;
    EXCEPTION
      WHEN insufficient_privilege OR undefined_file OR undefined_object OR feature_not_supported THEN
        RAISE WARNING 'Searches for agents will be slow: the extension pg_trgm is not available (%)', SQLERRM;
    END $$
`;
