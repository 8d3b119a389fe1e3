import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Looks of schedules, and alarms about them. */
export class Alarms1796010000000 implements MigrationInterface {
  readonly name = 'Alarms1796010000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE looks (
        id uuid NOT NULL CONSTRAINT looks_pkey PRIMARY KEY,
        agent_id uuid NOT NULL CONSTRAINT looks_agent_id_fkey REFERENCES agents (id) ON DELETE CASCADE,
        schedule_id uuid NOT NULL,
        run_ids uuid[] NOT NULL,
        ended_at timestamptz(3) NOT NULL,
        agent_version text,
        is_unavailable boolean NOT NULL,
        learning jsonb,
        findable jsonb NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX looks_schedule_idx ON looks (schedule_id, ended_at);
      CREATE INDEX looks_agent_idx ON looks (agent_id);

      CREATE TABLE alarms (
        id uuid NOT NULL CONSTRAINT alarms_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT alarms_workspace_id_fkey REFERENCES workspaces (id),
        agent_id uuid NOT NULL CONSTRAINT alarms_agent_id_fkey REFERENCES agents (id) ON DELETE CASCADE,
        schedule_id uuid NOT NULL,
        schedule_name text NOT NULL,
        measure text NOT NULL,
        case_key text,
        cases jsonb NOT NULL,
        looks integer NOT NULL,
        p_value double precision NOT NULL,
        since timestamptz(3) NOT NULL,
        since_run_id uuid NOT NULL,
        found_at timestamptz(3) NOT NULL,
        status text NOT NULL,
        over_from timestamptz(3),
        ended_at timestamptz(3),
        sent_at timestamptz(3),
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX alarms_list_idx ON alarms (agent_id, created_at, id);
      CREATE INDEX alarms_schedule_idx ON alarms (schedule_id, found_at);

      CREATE TABLE alarm_mutes (
        agent_id uuid NOT NULL CONSTRAINT alarm_mutes_pkey PRIMARY KEY
          CONSTRAINT alarm_mutes_agent_id_fkey REFERENCES agents (id) ON DELETE CASCADE,
        until timestamptz(3) NOT NULL,
        reason text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now()
      );
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE alarm_mutes, alarms, looks');
  }
}
