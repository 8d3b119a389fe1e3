import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Calls with the results of their attempts, and calls that were recorded elsewhere. Calls of deleted runs and erased agents are
 * deleted later (decisions 74 and 129), so neither run nor agent is referenced.
 */
export class Calls1733400000800 implements MigrationInterface {
  name = 'Calls1733400000800';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE calls (
        id uuid NOT NULL CONSTRAINT calls_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT calls_workspace_id_fkey REFERENCES workspaces (id),
        agent_id uuid NOT NULL,
        run_id uuid NOT NULL,
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
        retries integer NOT NULL DEFAULT 0,
        case_key text NOT NULL,
        variables jsonb,
        protocol text,
        medium text CONSTRAINT calls_medium_check CHECK (medium IN ('text', 'voice')),
        source_call_id uuid,
        recorded_call_id uuid,
        transcript_deleted_at timestamptz(3),
        bills boolean NOT NULL DEFAULT false,
        capacity_wait_since timestamptz(3),
        waited_for_line_ms integer NOT NULL DEFAULT 0,
        CONSTRAINT calls_outcome_of_ended_check CHECK ((status = 'ENDED') = (outcome IS NOT NULL)),
        CONSTRAINT calls_claim_of_running_check
          CHECK ((status = 'RUNNING') = (claim_id IS NOT NULL AND lease_until IS NOT NULL))
      );
      CREATE UNIQUE INDEX calls_position_key ON calls (run_id, position);
      CREATE INDEX calls_list_idx ON calls (run_id, created_at, id);
      CREATE INDEX calls_changed_idx ON calls (run_id, changed_in);
      CREATE INDEX calls_queued_idx ON calls (run_id, medium, position) WHERE status = 'QUEUED';
      CREATE INDEX calls_running_idx ON calls (workspace_id, agent_id, medium) WHERE status = 'RUNNING';
      CREATE INDEX calls_open_idx ON calls (run_id) WHERE status IN ('QUEUED', 'RUNNING');

      CREATE TABLE call_results (
        call_id uuid NOT NULL CONSTRAINT call_results_pkey PRIMARY KEY
          CONSTRAINT call_results_call_id_fkey REFERENCES calls (id) ON DELETE CASCADE,
        result jsonb NOT NULL
      );

      CREATE TABLE call_attempts (
        call_id uuid NOT NULL CONSTRAINT call_attempts_call_id_fkey REFERENCES calls (id) ON DELETE CASCADE,
        number integer NOT NULL,
        result jsonb NOT NULL,
        CONSTRAINT call_attempts_pkey PRIMARY KEY (call_id, number)
      );

      CREATE TABLE call_imports (
        call_id uuid CONSTRAINT call_imports_pkey PRIMARY KEY
          CONSTRAINT call_imports_call_id_fkey REFERENCES calls (id) ON DELETE CASCADE,
        run_id uuid NOT NULL,
        workspace_id uuid NOT NULL CONSTRAINT call_imports_workspace_id_fkey REFERENCES workspaces (id),
        agent_id uuid NOT NULL,
        external_id text,
        content_hash text NOT NULL,
        channels text NOT NULL
          CONSTRAINT call_imports_channels_check CHECK (channels IN ('caller-agent', 'agent-caller')),
        transcript jsonb,
        bytes bigint NOT NULL
      );
      CREATE UNIQUE INDEX call_imports_external_id_key ON call_imports (agent_id, external_id)
        WHERE external_id IS NOT NULL;
      CREATE INDEX call_imports_run_idx ON call_imports (run_id);
      CREATE INDEX call_imports_pending_idx ON call_imports (workspace_id) WHERE bytes > 0;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE call_imports, call_attempts, call_results, calls');
  }
}
