import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countEntries, dropCounters } from './count-entries.js';

/** Agents, how single ones are reached, and the recent tests of connections. */
export class Agents1733400000400 implements MigrationInterface {
  name = 'Agents1733400000400';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE agents (
        id uuid NOT NULL CONSTRAINT agents_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT agents_workspace_id_fkey REFERENCES workspaces (id),
        created_by_user_id uuid NOT NULL CONSTRAINT agents_created_by_user_id_fkey REFERENCES users (id),
        provider text NOT NULL CONSTRAINT agents_provider_check
          CHECK (provider IN ('AGENT_PROVIDER_1', 'AGENT_PROVIDER_2', 'AGENT_PROVIDER_3', 'AGENT_PROVIDER_4')),
        type text CONSTRAINT agents_type_check CHECK (type IN ('INBOUND', 'OUTBOUND')),
        prompt_type text CONSTRAINT agents_prompt_type_check CHECK (prompt_type IN ('SINGLE', 'MULTIPLE')),
        name text,
        api_key text,
        assistant_id text NOT NULL,
        language text,
        phone_number text,
        phone_number_id text,
        prompt text,
        call_monitoring boolean NOT NULL,
        is_using_default_api_key boolean,
        webhook_url text,
        webhook_secret text,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        deleted_at timestamptz(3),
        erased_at timestamptz(3)
      );
      CREATE INDEX agents_list_idx ON agents (workspace_id, created_at, id) WHERE deleted_at IS NULL;
      CREATE INDEX agents_provider_list_idx ON agents (workspace_id, provider, created_at, id) WHERE deleted_at IS NULL;
      CREATE INDEX agents_deleted_list_idx ON agents (workspace_id, created_at, id) WHERE deleted_at IS NOT NULL;
      -- An agent is erased by a mark first, then everything of it in batches (decision 129).
      CREATE INDEX agents_erased_idx ON agents (erased_at) WHERE erased_at IS NOT NULL;
      ${SEARCH_INDEX};
      ${countEntries({ table: 'agents', owner: 'workspace_id', facet: 'provider', softDelete: true })}

      CREATE TABLE agent_connections (
        agent_id uuid NOT NULL CONSTRAINT agent_connections_pkey PRIMARY KEY
          CONSTRAINT agent_connections_agent_id_fkey REFERENCES agents (id),
        protocol text NOT NULL,
        url text NOT NULL,
        first_speaker text CONSTRAINT agent_connections_first_speaker_check CHECK (first_speaker IN ('caller', 'agent')),
        options jsonb NOT NULL,
        secrets text NOT NULL,
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );

      CREATE TABLE connection_tests (
        id uuid NOT NULL CONSTRAINT connection_tests_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT connection_tests_workspace_id_fkey REFERENCES workspaces (id),
        agent_id uuid NOT NULL,
        started_at timestamptz(3) NOT NULL DEFAULT now(),
        running_until timestamptz(3) NOT NULL
      );
      CREATE INDEX connection_tests_workspace_id_idx ON connection_tests (workspace_id);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE connection_tests, agent_connections, agents;
      ${dropCounters('agents')};
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
const SEARCH_INDEX = `
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
