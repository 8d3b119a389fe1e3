import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What people write of an evaluation beyond its scenario: key, tags, script, checks, criteria and limits. */
export class EvaluationAuthoring1732100000000 implements MigrationInterface {
  name = 'EvaluationAuthoring1732100000000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE evaluations
        ADD COLUMN key text,
        ADD COLUMN critical boolean NOT NULL DEFAULT false,
        ADD COLUMN tags text[] NOT NULL DEFAULT '{}',
        ADD COLUMN script jsonb NOT NULL DEFAULT '[]',
        ADD COLUMN checks jsonb NOT NULL DEFAULT '[]',
        ADD COLUMN criteria jsonb NOT NULL DEFAULT '[]',
        ADD COLUMN max_turns integer NOT NULL DEFAULT 40
          CONSTRAINT evaluations_max_turns_check CHECK (max_turns BETWEEN 1 AND 200),
        ADD COLUMN max_duration_seconds integer NOT NULL DEFAULT 600
          CONSTRAINT evaluations_max_duration_seconds_check CHECK (max_duration_seconds BETWEEN 1 AND 3600)
    `);
    // The defaults are for the rows that there were; the service fills in its own.
    await runner.query(`
      ALTER TABLE evaluations
        ALTER COLUMN critical DROP DEFAULT,
        ALTER COLUMN tags DROP DEFAULT,
        ALTER COLUMN script DROP DEFAULT,
        ALTER COLUMN checks DROP DEFAULT,
        ALTER COLUMN criteria DROP DEFAULT,
        ALTER COLUMN max_turns DROP DEFAULT,
        ALTER COLUMN max_duration_seconds DROP DEFAULT
    `);
    // An evaluation without a key goes by its id, so nobody else may have that as key.
    await runner.query(`
      CREATE UNIQUE INDEX evaluations_key_key ON evaluations (agent_id, coalesce(key, id::text))
        WHERE deleted_at IS NULL
    `);
    await this.countEvaluations(runner);
  }

  /** How many evaluations each agent has. Triggers, so that no way of writing evaluations can forget it. */
  async countEvaluations(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE evaluation_counts (
        agent_id uuid NOT NULL CONSTRAINT evaluation_counts_pkey PRIMARY KEY
          CONSTRAINT evaluation_counts_agent_id_fkey REFERENCES agents (id) ON DELETE CASCADE,
        total integer NOT NULL
      );
      INSERT INTO evaluation_counts
        SELECT agent_id, count(*) FILTER (WHERE deleted_at IS NULL) FROM evaluations GROUP BY agent_id;

      CREATE FUNCTION count_added_evaluations() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          INSERT INTO evaluation_counts AS c
            SELECT agent_id, count(*) FILTER (WHERE deleted_at IS NULL) FROM added GROUP BY agent_id ORDER BY agent_id
            ON CONFLICT (agent_id) DO UPDATE SET total = c.total + EXCLUDED.total;
          RETURN NULL;
        END $$;
      CREATE TRIGGER evaluations_added AFTER INSERT ON evaluations REFERENCING NEW TABLE AS added
        FOR EACH STATEMENT EXECUTE FUNCTION count_added_evaluations();

      CREATE FUNCTION count_removed_evaluations() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          UPDATE evaluation_counts c SET total = c.total - r.count
            FROM (SELECT agent_id, count(*) FROM removed WHERE deleted_at IS NULL GROUP BY agent_id) r
           WHERE c.agent_id = r.agent_id;
          RETURN NULL;
        END $$;
      CREATE TRIGGER evaluations_removed AFTER DELETE ON evaluations REFERENCING OLD TABLE AS removed
        FOR EACH STATEMENT EXECUTE FUNCTION count_removed_evaluations();

      CREATE FUNCTION count_deleted_evaluation() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          UPDATE evaluation_counts SET total = total + CASE WHEN NEW.deleted_at IS NULL THEN 1 ELSE -1 END
           WHERE agent_id = NEW.agent_id;
          RETURN NULL;
        END $$;
      CREATE TRIGGER evaluations_deleted AFTER UPDATE OF deleted_at ON evaluations
        FOR EACH ROW WHEN ((OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL))
        EXECUTE FUNCTION count_deleted_evaluation();
    `);
  }

  /** Undoes `countEvaluations`. */
  async stopCountingEvaluations(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TRIGGER evaluations_added ON evaluations;
      DROP TRIGGER evaluations_removed ON evaluations;
      DROP TRIGGER evaluations_deleted ON evaluations;
      DROP FUNCTION count_added_evaluations, count_removed_evaluations, count_deleted_evaluation;
      DROP TABLE evaluation_counts;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await this.stopCountingEvaluations(runner);
    await runner.query(`
      DROP INDEX evaluations_key_key;
      ALTER TABLE evaluations
        DROP COLUMN key, DROP COLUMN critical, DROP COLUMN tags, DROP COLUMN script, DROP COLUMN checks,
        DROP COLUMN criteria, DROP COLUMN max_turns, DROP COLUMN max_duration_seconds;
    `);
  }
}
