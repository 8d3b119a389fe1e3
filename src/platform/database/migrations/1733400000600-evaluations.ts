import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countEntries, dropCounters } from './count-entries.js';

export class Evaluations1733400000600 implements MigrationInterface {
  name = 'Evaluations1733400000600';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
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
        deleted_at timestamptz(3),
        variables jsonb NOT NULL DEFAULT '[]',
        tool_results jsonb NOT NULL DEFAULT '[]',
        language text,
        conditions jsonb NOT NULL DEFAULT '{}',
        turn_end_ms integer NOT NULL DEFAULT 700
          CONSTRAINT evaluations_turn_end_ms_check CHECK (turn_end_ms BETWEEN 200 AND 3000),
        fillers boolean NOT NULL DEFAULT false,
        agent_variables jsonb NOT NULL DEFAULT '{}'
      );
      CREATE INDEX evaluations_list_idx ON evaluations (agent_id, created_at, id) WHERE deleted_at IS NULL;
      CREATE INDEX evaluations_agent_idx ON evaluations (agent_id);
      -- The id of an evaluation without a key is reserved as its key.
      CREATE UNIQUE INDEX evaluations_key_key ON evaluations (agent_id, coalesce(key, id::text))
        WHERE deleted_at IS NULL;
      ${countEntries({ table: 'evaluations', owner: 'agent_id', softDelete: true })}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`DROP TABLE evaluations; ${dropCounters('evaluations')}`);
  }
}
