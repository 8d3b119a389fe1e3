import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Workspaces, their members and keys; agents, personalities, evaluations and runs. */
export class Initial1732000000000 implements MigrationInterface {
  name = 'Initial1732000000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE workspaces (
        id uuid NOT NULL CONSTRAINT workspaces_pkey PRIMARY KEY,
        name text NOT NULL,
        plan text NOT NULL CONSTRAINT workspaces_plan_check CHECK (plan IN ('FREE', 'PRO', 'ENTERPRISE')),
        requests_per_minute integer,
        score_threshold double precision,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );

      CREATE TABLE users (
        id uuid NOT NULL CONSTRAINT users_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT users_workspace_id_fkey REFERENCES workspaces (id),
        name text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX users_workspace_id_idx ON users (workspace_id);

      CREATE TABLE api_keys (
        id uuid NOT NULL CONSTRAINT api_keys_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT api_keys_workspace_id_fkey REFERENCES workspaces (id),
        user_id uuid NOT NULL CONSTRAINT api_keys_user_id_fkey REFERENCES users (id),
        name text NOT NULL,
        role text NOT NULL CONSTRAINT api_keys_role_check CHECK (role IN ('VIEWER', 'EDITOR', 'ADMIN')),
        prefix text NOT NULL,
        hash text NOT NULL,
        last_used_at timestamptz(3),
        expires_at timestamptz(3),
        revoked_at timestamptz(3),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        created_by_user_id uuid NOT NULL
      );
      CREATE INDEX api_keys_workspace_id_idx ON api_keys (workspace_id);
      CREATE UNIQUE INDEX api_keys_hash_key ON api_keys (hash);

      CREATE TABLE provider_keys (
        workspace_id uuid NOT NULL CONSTRAINT provider_keys_workspace_id_fkey REFERENCES workspaces (id),
        provider text NOT NULL,
        api_key text NOT NULL,
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT provider_keys_pkey PRIMARY KEY (workspace_id, provider)
      );

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
        deleted_at timestamptz(3)
      );
      CREATE INDEX agents_list_idx ON agents (workspace_id, created_at, id) WHERE deleted_at IS NULL;

      CREATE TABLE personalities (
        id uuid NOT NULL CONSTRAINT personalities_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT personalities_workspace_id_fkey REFERENCES workspaces (id),
        created_by_user_id uuid NOT NULL CONSTRAINT personalities_created_by_user_id_fkey REFERENCES users (id),
        name text NOT NULL,
        description text NOT NULL,
        prompt text NOT NULL,
        temperature double precision NOT NULL
          CONSTRAINT personalities_temperature_check CHECK (temperature BETWEEN 0 AND 2),
        accent text NOT NULL,
        background_noise boolean NOT NULL,
        gender text NOT NULL CONSTRAINT personalities_gender_check CHECK (gender IN ('MALE', 'FEMALE')),
        provider text NOT NULL CONSTRAINT personalities_provider_check
          CHECK (provider IN ('PERSONALITY_PROVIDER_1', 'PERSONALITY_PROVIDER_2', 'PERSONALITY_PROVIDER_3',
                              'PERSONALITY_PROVIDER_4')),
        voice_id text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        deleted_at timestamptz(3)
      );
      CREATE INDEX personalities_list_idx ON personalities (workspace_id, created_at, id) WHERE deleted_at IS NULL;

      CREATE TABLE evaluations (
        id uuid NOT NULL CONSTRAINT evaluations_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT evaluations_workspace_id_fkey REFERENCES workspaces (id),
        agent_id uuid NOT NULL CONSTRAINT evaluations_agent_id_fkey REFERENCES agents (id),
        personality_id uuid NOT NULL CONSTRAINT evaluations_personality_id_fkey REFERENCES personalities (id),
        created_by_user_id uuid NOT NULL CONSTRAINT evaluations_created_by_user_id_fkey REFERENCES users (id),
        name text NOT NULL,
        scenario_text text NOT NULL,
        general_instructions text NOT NULL,
        vendor_call_phone_number text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        deleted_at timestamptz(3)
      );
      CREATE INDEX evaluations_list_idx ON evaluations (agent_id, created_at, id) WHERE deleted_at IS NULL;

      CREATE TABLE runs (
        id uuid NOT NULL CONSTRAINT runs_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT runs_workspace_id_fkey REFERENCES workspaces (id),
        agent_id uuid NOT NULL CONSTRAINT runs_agent_id_fkey REFERENCES agents (id),
        user_id uuid NOT NULL CONSTRAINT runs_user_id_fkey REFERENCES users (id),
        label text NOT NULL CONSTRAINT runs_label_check CHECK (label IN ('READ')),
        name text NOT NULL,
        status text NOT NULL CONSTRAINT runs_status_check
          CHECK (status IN ('QUEUED', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')),
        score double precision NOT NULL CONSTRAINT runs_score_check CHECK (score BETWEEN 0 AND 100),
        total_calls integer NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX runs_list_idx ON runs (agent_id, created_at, id);

      CREATE TABLE idempotency_keys (
        id text NOT NULL CONSTRAINT idempotency_keys_pkey PRIMARY KEY,
        body_hash text NOT NULL,
        status smallint NOT NULL,
        response text NOT NULL,
        expires_at timestamptz(3) NOT NULL
      );
      CREATE INDEX idempotency_keys_expires_at_idx ON idempotency_keys (expires_at);

      CREATE TABLE encryption_canary (
        id smallint NOT NULL CONSTRAINT encryption_canary_pkey PRIMARY KEY,
        sealed text NOT NULL
      );
    `);
    // Triggers rather than code: a key revoked by the administrator's command, or by hand in the database, must be
    // heard of by every process too.
    await runner.query(`
      CREATE FUNCTION notify_api_keys_changed() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          PERFORM pg_notify('api_keys_changed', '');
          RETURN NULL;
        END $$;
      CREATE TRIGGER api_keys_changed
        AFTER INSERT OR DELETE OR UPDATE OF role, hash, expires_at, revoked_at, workspace_id, user_id ON api_keys
        FOR EACH STATEMENT EXECUTE FUNCTION notify_api_keys_changed();
      CREATE TRIGGER workspaces_plan_changed
        AFTER UPDATE OF plan, requests_per_minute ON workspaces
        FOR EACH STATEMENT EXECUTE FUNCTION notify_api_keys_changed();
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE encryption_canary, idempotency_keys, runs, evaluations, personalities, agents, provider_keys, api_keys,
        users, workspaces;
      DROP FUNCTION notify_api_keys_changed();
    `);
  }
}
