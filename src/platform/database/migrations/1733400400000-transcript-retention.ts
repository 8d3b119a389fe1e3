import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When the texts of the voice calls of a run were deleted, and of each call. */
export class TranscriptRetention1733400400000 implements MigrationInterface {
  name = 'TranscriptRetention1733400400000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE runs ADD COLUMN transcripts_deleted_at timestamptz(3);
      CREATE INDEX runs_transcripts_idx ON runs (ended_at) WHERE ended_at IS NOT NULL AND transcripts_deleted_at IS NULL;
      CREATE INDEX runs_derived_transcripts_idx ON runs (derived_from)
        WHERE derived_from IS NOT NULL AND transcripts_deleted_at IS NULL;
      ALTER TABLE calls ADD COLUMN transcript_deleted_at timestamptz(3)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE calls DROP COLUMN transcript_deleted_at;
      ALTER TABLE runs DROP COLUMN transcripts_deleted_at`);
  }
}
