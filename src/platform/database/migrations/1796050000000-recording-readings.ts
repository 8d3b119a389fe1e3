import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who was sent sound of production calls. */
export class RecordingReadings1796050000000 implements MigrationInterface {
  readonly name = 'RecordingReadings1796050000000';

  up = (runner: QueryRunner): Promise<void> =>
    runner.query(`
      CREATE TABLE recording_readings (
        id uuid NOT NULL CONSTRAINT recording_readings_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT recording_readings_workspace_id_fkey REFERENCES workspaces (id),
        agent_id uuid NOT NULL,
        call_id uuid NOT NULL,
        external_id text,
        api_key_id uuid NOT NULL CONSTRAINT recording_readings_api_key_id_fkey REFERENCES api_keys (id),
        user_id uuid NOT NULL CONSTRAINT recording_readings_user_id_fkey REFERENCES users (id),
        request_id text NOT NULL,
        requests integer NOT NULL DEFAULT 1,
        file_bytes bigint NOT NULL,
        parts int8multirange NOT NULL,
        minute timestamptz(0) NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE UNIQUE INDEX recording_readings_minute_key ON recording_readings (call_id, api_key_id, minute);
      CREATE INDEX recording_readings_list_idx ON recording_readings (workspace_id, created_at, id);
      CREATE INDEX recording_readings_created_at_idx ON recording_readings (created_at)`) as Promise<void>;

  down = (runner: QueryRunner): Promise<void> => runner.query('DROP TABLE recording_readings') as Promise<void>;
}
