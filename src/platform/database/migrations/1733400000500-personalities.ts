import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Personalities1733400000500 implements MigrationInterface {
  name = 'Personalities1733400000500';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
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
        deleted_at timestamptz(3),
        interrupts text NOT NULL DEFAULT 'never'
          CONSTRAINT personalities_interrupts_check CHECK (interrupts IN ('never', 'sometimes'))
      );
      CREATE INDEX personalities_list_idx ON personalities (workspace_id, created_at, id) WHERE deleted_at IS NULL;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE personalities');
  }
}
