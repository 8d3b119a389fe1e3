/** Agents, personalities and evaluations. */
export const RESOURCE_TABLES = `
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
  CREATE INDEX agents_provider_list_idx ON agents (workspace_id, provider, created_at, id) WHERE deleted_at IS NULL;

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
    key text,
    critical boolean NOT NULL,
    tags text[] NOT NULL,
    script jsonb NOT NULL,
    checks jsonb NOT NULL,
    criteria jsonb NOT NULL,
    max_turns integer NOT NULL CONSTRAINT evaluations_max_turns_check CHECK (max_turns BETWEEN 1 AND 200),
    max_duration_seconds integer NOT NULL
      CONSTRAINT evaluations_max_duration_seconds_check CHECK (max_duration_seconds BETWEEN 1 AND 3600),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    deleted_at timestamptz(3)
  );
  CREATE INDEX evaluations_list_idx ON evaluations (agent_id, created_at, id) WHERE deleted_at IS NULL;
  -- The id of an evaluation without a key is reserved as its key.
  CREATE UNIQUE INDEX evaluations_key_key ON evaluations (agent_id, coalesce(key, id::text))
    WHERE deleted_at IS NULL;
`;
