import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A function, so that a claim is one round trip: each of its statements sees what was committed before it, which a
 * single statement would not after waiting for the lock.
 */
export const CLAIM_CALL = `
  CREATE FUNCTION claim_call(agent uuid, claim uuid, lease interval, previous_run uuid,
                             OUT call_id uuid, OUT is_previous_over boolean) LANGUAGE plpgsql AS $$
    DECLARE
      running integer;
      chosen record;
    BEGIN
      is_previous_over := previous_run IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM calls c WHERE c.run_id = previous_run AND c.status IN ('QUEUED', 'RUNNING'));
      -- A claim that is lost with the server is only made again, so nobody needs to wait for the disk.
      PERFORM set_config('synchronous_commit', 'off', true);
      PERFORM pg_advisory_xact_lock(hashtextextended('calls:' || agent, 0));
      SELECT count(*) INTO running FROM calls c WHERE c.agent_id = agent AND c.status = 'RUNNING';
      SELECT c.id, c.run_id INTO chosen FROM calls c JOIN runs r ON r.id = c.run_id
       WHERE c.agent_id = agent AND c.status = 'QUEUED' AND c.due_at <= clock_timestamp() AND r.concurrency > running
       ORDER BY c.created_at, c.run_id, c.position LIMIT 1 FOR UPDATE OF c SKIP LOCKED;
      IF chosen.id IS NULL THEN RETURN; END IF;
      UPDATE calls SET status = 'RUNNING', claim_id = claim, lease_until = clock_timestamp() + lease,
             started_at = coalesce(started_at, clock_timestamp()), updated_at = clock_timestamp(),
             changed_in = pg_current_xact_id()::text::bigint
       WHERE id = chosen.id;
      UPDATE runs SET status = 'RUNNING', started_at = clock_timestamp(), updated_at = clock_timestamp()
       WHERE id = chosen.run_id AND status = 'QUEUED';
      call_id := chosen.id;
    END $$;
`;

/** What a run was started with, its calls, and what they came to. */
export class RunExecution1732300000000 implements MigrationInterface {
  name = 'RunExecution1732300000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE runs
        ADD COLUMN repeat integer NOT NULL DEFAULT 1 CONSTRAINT runs_repeat_check CHECK (repeat BETWEEN 1 AND 50),
        ADD COLUMN concurrency integer NOT NULL DEFAULT 1
          CONSTRAINT runs_concurrency_check CHECK (concurrency BETWEEN 1 AND 100),
        ADD COLUMN minimum_score double precision
          CONSTRAINT runs_minimum_score_check CHECK (minimum_score BETWEEN 0 AND 100),
        ADD COLUMN agent_snapshot jsonb NOT NULL DEFAULT '{}',
        ADD COLUMN reasons text[] NOT NULL DEFAULT '{}',
        ADD COLUMN started_at timestamptz(3),
        ADD COLUMN ended_at timestamptz(3);
      ALTER TABLE runs
        ALTER COLUMN repeat DROP DEFAULT,
        ALTER COLUMN concurrency DROP DEFAULT,
        ALTER COLUMN agent_snapshot DROP DEFAULT,
        ALTER COLUMN reasons DROP DEFAULT;
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
        losses integer NOT NULL,
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
    `);
    await runner.query(CLAIM_CALL);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP FUNCTION claim_call;
      DROP TABLE call_results, calls, run_evaluations;
      DROP INDEX runs_ended_idx, runs_open_idx;
      ALTER TABLE runs DROP COLUMN repeat, DROP COLUMN concurrency, DROP COLUMN minimum_score,
        DROP COLUMN agent_snapshot, DROP COLUMN reasons, DROP COLUMN started_at, DROP COLUMN ended_at;
    `);
  }
}
