import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How each case of each ended run ended, also after the run was deleted by its retention. */
export class CaseResults1796005800100 implements MigrationInterface {
  readonly name = 'CaseResults1796005800100';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE case_results (
        id uuid NOT NULL CONSTRAINT case_results_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT case_results_workspace_id_fkey REFERENCES workspaces (id),
        agent_id uuid NOT NULL CONSTRAINT case_results_agent_id_fkey REFERENCES agents (id),
        run_id uuid NOT NULL,
        schedule_id uuid,
        case_key text NOT NULL,
        evaluation_key text,
        name text NOT NULL,
        position integer NOT NULL,
        ended_at timestamptz(3) NOT NULL,
        agent_version text,
        definition_hash text NOT NULL,
        tester jsonb NOT NULL,
        passed integer NOT NULL,
        failed integer NOT NULL,
        invalid integer NOT NULL,
        error integer NOT NULL,
        latencies real[] NOT NULL,
        call_id uuid NOT NULL,
        repetition integer NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE UNIQUE INDEX case_results_run_key ON case_results (run_id, case_key);
      CREATE INDEX case_results_list_idx ON case_results (agent_id, case_key, created_at, id);
      CREATE INDEX case_results_key_idx ON case_results (agent_id, evaluation_key, created_at, id)
        WHERE evaluation_key IS NOT NULL;
      CREATE INDEX case_results_agent_idx ON case_results (agent_id, ended_at);
      CREATE INDEX case_results_schedule_idx ON case_results (schedule_id, ended_at) WHERE schedule_id IS NOT NULL;
      CREATE INDEX case_results_ended_at_idx ON case_results (ended_at);
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE case_results');
  }
}
