import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countEntries, dropCounters } from './count-entries.js';

/**
 * Runs with what they were started with, their baselines and links to their reports. `deleted_runs` has the runs whose calls
 * are still stored (decision 74). The run that another one was derived from can be deleted, so it is not referenced.
 */
export class Runs1733400000700 implements MigrationInterface {
  name = 'Runs1733400000700';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
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
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        minimum_pass_rate double precision
          CONSTRAINT runs_minimum_pass_rate_check CHECK (minimum_pass_rate BETWEEN 0 AND 1),
        allowed_uncounted integer NOT NULL DEFAULT 0
          CONSTRAINT runs_allowed_uncounted_check CHECK (allowed_uncounted BETWEEN 0 AND 10000),
        exit_code smallint CONSTRAINT runs_exit_code_check CHECK (exit_code BETWEEN 0 AND 2),
        agent_version text,
        not_worse_than text,
        baseline_id uuid,
        warnings text[] NOT NULL DEFAULT '{}',
        medium text CONSTRAINT runs_medium_check CHECK (medium IN ('text', 'voice')),
        derived_from uuid,
        derived_kind text CONSTRAINT runs_derived_kind_check CHECK (derived_kind IN ('remeasure', 'rejudge')),
        is_imported boolean NOT NULL DEFAULT false,
        transcripts_deleted_at timestamptz(3),
        left_out_calls integer NOT NULL DEFAULT 0,
        left_out_critical text[] NOT NULL DEFAULT '{}',
        max_paid_attempts smallint NOT NULL DEFAULT 2
          CONSTRAINT runs_max_paid_attempts_check CHECK (max_paid_attempts BETWEEN 1 AND 3),
        agent_variables jsonb NOT NULL DEFAULT '{}',
        assistant_version text,
        CONSTRAINT runs_derived_check CHECK ((derived_from IS NULL) = (derived_kind IS NULL))
      );
      CREATE INDEX runs_list_idx ON runs (agent_id, created_at, id);
      CREATE INDEX runs_status_idx ON runs (agent_id, status, created_at, id);
      CREATE INDEX runs_open_idx ON runs (workspace_id, agent_id, created_at, id) WHERE status IN ('QUEUED', 'RUNNING');
      CREATE INDEX runs_ended_idx ON runs (agent_id, ended_at) WHERE ended_at IS NOT NULL;
      CREATE INDEX runs_ended_at_idx ON runs (ended_at) WHERE ended_at IS NOT NULL;
      CREATE INDEX runs_transcripts_idx ON runs (ended_at) WHERE ended_at IS NOT NULL AND transcripts_deleted_at IS NULL;
      CREATE INDEX runs_derived_transcripts_idx ON runs (derived_from)
        WHERE derived_from IS NOT NULL AND transcripts_deleted_at IS NULL;
      ${countEntries({ table: 'runs', owner: 'agent_id', facet: 'status' })}

      CREATE TABLE run_evaluations (
        run_id uuid NOT NULL,
        evaluation_id uuid NOT NULL,
        position integer NOT NULL,
        snapshot jsonb NOT NULL,
        first_call integer NOT NULL,
        cases integer NOT NULL,
        CONSTRAINT run_evaluations_pkey PRIMARY KEY (run_id, evaluation_id)
      );

      CREATE TABLE run_baselines (
        run_id uuid NOT NULL CONSTRAINT run_baselines_run_id_fkey REFERENCES runs (id) ON DELETE CASCADE,
        purpose text NOT NULL CONSTRAINT run_baselines_purpose_check CHECK (purpose IN ('gate', 'previous')),
        figures jsonb NOT NULL,
        CONSTRAINT run_baselines_pkey PRIMARY KEY (run_id, purpose)
      );

      CREATE TABLE report_links (
        id uuid NOT NULL CONSTRAINT report_links_pkey PRIMARY KEY,
        run_id uuid NOT NULL CONSTRAINT report_links_run_id_fkey REFERENCES runs (id) ON DELETE CASCADE,
        created_by_user_id uuid NOT NULL CONSTRAINT report_links_created_by_user_id_fkey REFERENCES users (id),
        token_hash bytea NOT NULL,
        include_recordings boolean NOT NULL,
        expires_at timestamptz(3) NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE UNIQUE INDEX report_links_token_hash_key ON report_links (token_hash);
      CREATE INDEX report_links_list_idx ON report_links (run_id, created_at, id);

      CREATE TABLE deleted_runs (
        id uuid NOT NULL CONSTRAINT deleted_runs_pkey PRIMARY KEY,
        deleted_at timestamptz(3) NOT NULL DEFAULT now()
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE deleted_runs, report_links, run_baselines, run_evaluations, runs;
      ${dropCounters('runs')};
    `);
  }
}
