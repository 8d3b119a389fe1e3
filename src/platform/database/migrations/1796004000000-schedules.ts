import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Schedules1796004000000 implements MigrationInterface {
  readonly name = 'Schedules1796004000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE schedules (
        id uuid NOT NULL CONSTRAINT schedules_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT schedules_workspace_id_fkey REFERENCES workspaces (id),
        agent_id uuid NOT NULL CONSTRAINT schedules_agent_id_fkey REFERENCES agents (id),
        created_by_user_id uuid NOT NULL,
        name text NOT NULL,
        cron text NOT NULL,
        time_zone text NOT NULL,
        run jsonb NOT NULL,
        enabled boolean NOT NULL,
        reset_on_version boolean NOT NULL,
        max_paid_seconds_per_day integer,
        heartbeat_url text,
        due_at timestamptz(3) NOT NULL,
        starts_at timestamptz(3) NOT NULL,
        not_run integer NOT NULL DEFAULT 0,
        not_run_since timestamptz(3),
        paid_on text,
        paid_seconds integer NOT NULL DEFAULT 0,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX schedules_list_idx ON schedules (agent_id, created_at, id);
      CREATE INDEX schedules_workspace_id_idx ON schedules (workspace_id);
      CREATE INDEX schedules_starts_at_idx ON schedules (starts_at);
      CREATE TABLE schedule_slots (
        id uuid NOT NULL CONSTRAINT schedule_slots_pkey PRIMARY KEY,
        schedule_id uuid NOT NULL CONSTRAINT schedule_slots_schedule_id_fkey REFERENCES schedules (id) ON DELETE CASCADE,
        outcome text NOT NULL
          CONSTRAINT schedule_slots_outcome_check CHECK (outcome IN ('started', 'overlap', 'disabled', 'missed', 'refused')),
        from_at timestamptz(3) NOT NULL,
        to_at timestamptz(3) NOT NULL,
        count integer NOT NULL,
        run_id uuid,
        issues text[] NOT NULL DEFAULT '{}'
      );
      CREATE UNIQUE INDEX schedule_slots_due_key ON schedule_slots (schedule_id, to_at);
      CREATE INDEX schedule_slots_to_at_idx ON schedule_slots (to_at);
      ALTER TABLE runs ADD COLUMN schedule_id uuid;
      CREATE INDEX runs_schedule_idx ON runs (schedule_id, created_at, id) WHERE schedule_id IS NOT NULL;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE runs DROP COLUMN schedule_id;
      DROP TABLE schedule_slots;
      DROP TABLE schedules;
    `);
  }
}
