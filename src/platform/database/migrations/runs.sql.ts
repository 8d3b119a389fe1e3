/** Runs, what they were started with, and their calls. */
export const RUN_TABLES = `
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
    repeat integer NOT NULL CONSTRAINT runs_repeat_check CHECK (repeat BETWEEN 1 AND 50),
    concurrency integer NOT NULL CONSTRAINT runs_concurrency_check CHECK (concurrency BETWEEN 1 AND 100),
    minimum_score double precision CONSTRAINT runs_minimum_score_check CHECK (minimum_score BETWEEN 0 AND 100),
    agent_snapshot jsonb NOT NULL,
    reasons text[] NOT NULL,
    started_at timestamptz(3),
    ended_at timestamptz(3),
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now()
  );
  CREATE INDEX runs_list_idx ON runs (agent_id, created_at, id);
  CREATE INDEX runs_open_idx ON runs (id) WHERE status IN ('QUEUED', 'RUNNING');
  CREATE INDEX runs_ended_idx ON runs (agent_id, ended_at) WHERE ended_at IS NOT NULL;

  CREATE TABLE run_evaluations (
    run_id uuid NOT NULL CONSTRAINT run_evaluations_run_id_fkey REFERENCES runs (id) ON DELETE CASCADE,
    evaluation_id uuid NOT NULL,
    position integer NOT NULL,
    snapshot jsonb NOT NULL,
    CONSTRAINT run_evaluations_pkey PRIMARY KEY (run_id, evaluation_id)
  );

  CREATE TABLE calls (
    id uuid NOT NULL CONSTRAINT calls_pkey PRIMARY KEY,
    workspace_id uuid NOT NULL CONSTRAINT calls_workspace_id_fkey REFERENCES workspaces (id),
    agent_id uuid NOT NULL CONSTRAINT calls_agent_id_fkey REFERENCES agents (id),
    run_id uuid NOT NULL CONSTRAINT calls_run_id_fkey REFERENCES runs (id) ON DELETE CASCADE,
    evaluation_id uuid NOT NULL,
    position integer NOT NULL,
    repetition integer NOT NULL,
    status text NOT NULL CONSTRAINT calls_status_check CHECK (status IN ('QUEUED', 'RUNNING', 'ENDED', 'CANCELLED')),
    outcome text CONSTRAINT calls_outcome_check CHECK (outcome IN ('passed', 'failed', 'invalid', 'error')),
    score double precision CONSTRAINT calls_score_check CHECK (score BETWEEN 0 AND 100),
    reason text,
    attempts jsonb NOT NULL,
    lease_expirations integer NOT NULL,
    latencies double precision[] NOT NULL,
    due_at timestamptz(3) NOT NULL,
    claim_id uuid,
    lease_until timestamptz(3),
    started_at timestamptz(3),
    ended_at timestamptz(3),
    changed_in bigint NOT NULL,
    created_at timestamptz(3) NOT NULL DEFAULT now(),
    updated_at timestamptz(3) NOT NULL DEFAULT now(),
    CONSTRAINT calls_outcome_of_ended_check CHECK ((status = 'ENDED') = (outcome IS NOT NULL)),
    CONSTRAINT calls_claim_of_running_check
      CHECK ((status = 'RUNNING') = (claim_id IS NOT NULL AND lease_until IS NOT NULL))
  );
  CREATE UNIQUE INDEX calls_position_key ON calls (run_id, position);
  CREATE INDEX calls_list_idx ON calls (run_id, created_at, id);
  CREATE INDEX calls_changed_idx ON calls (run_id, changed_in);
  CREATE INDEX calls_queued_idx ON calls (agent_id, created_at, run_id, position) WHERE status = 'QUEUED';
  CREATE INDEX calls_running_idx ON calls (agent_id) WHERE status = 'RUNNING';
  CREATE INDEX calls_open_idx ON calls (run_id) WHERE status IN ('QUEUED', 'RUNNING');

  CREATE TABLE call_results (
    call_id uuid NOT NULL CONSTRAINT call_results_pkey PRIMARY KEY
      CONSTRAINT call_results_call_id_fkey REFERENCES calls (id) ON DELETE CASCADE,
    result jsonb NOT NULL
  );
`;
