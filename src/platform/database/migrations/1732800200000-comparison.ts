import type { MigrationInterface, QueryRunner } from 'typeorm';

const row = (version: 'OLD' | 'NEW', columns: readonly string[]) =>
  `(${columns.map((column) => `${version}.${column}`).join(', ')})`;

/** Replaces the triggers that count runs, and the totals; `columns` are those by which lists of runs are selected. */
const recount = (facet: string, columns: readonly string[]): string => `
  DROP TRIGGER runs_count_inserted ON runs;
  DROP TRIGGER runs_count_deleted ON runs;
  DROP TRIGGER runs_count_updated ON runs;
  DROP FUNCTION count_inserted_runs(), count_deleted_runs(), count_updated_runs();
  DELETE FROM list_totals WHERE list = 'runs';
  DELETE FROM list_deltas WHERE list = 'runs';

  CREATE FUNCTION count_inserted_runs() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO list_deltas SELECT 'runs', agent_id, ${facet}, count(*) FROM inserted WHERE true GROUP BY 2, 3;
      RETURN NULL;
    END $$;
  CREATE TRIGGER runs_count_inserted AFTER INSERT ON runs REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION count_inserted_runs();

  CREATE FUNCTION count_deleted_runs() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO list_deltas SELECT 'runs', agent_id, ${facet}, -count(*) FROM deleted WHERE true GROUP BY 2, 3;
      RETURN NULL;
    END $$;
  CREATE TRIGGER runs_count_deleted AFTER DELETE ON runs REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION count_deleted_runs();

  CREATE FUNCTION count_updated_runs() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO list_deltas
        SELECT 'runs', agent_id, ${facet}, -1 FROM (SELECT OLD.*) r WHERE true
        UNION ALL
        SELECT 'runs', agent_id, ${facet}, 1 FROM (SELECT NEW.*) r WHERE true;
      RETURN NULL;
    END $$;
  CREATE TRIGGER runs_count_updated AFTER UPDATE ON runs
    FOR EACH ROW WHEN (${row('OLD', columns)} IS DISTINCT FROM ${row('NEW', columns)})
    EXECUTE FUNCTION count_updated_runs();

  INSERT INTO list_totals (list, owner_id, facet, total)
    SELECT 'runs', agent_id, ${facet}, count(*) FROM runs GROUP BY 2, 3;
`;

/** Comparison of runs: version of the agent, baselines with their counts, and lists of runs by status. */
export class Comparison1732800200000 implements MigrationInterface {
  name = 'Comparison1732800200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE runs
        ADD COLUMN agent_version text,
        ADD COLUMN not_worse_than text,
        ADD COLUMN baseline_id uuid,
        ADD COLUMN warnings text[] NOT NULL DEFAULT '{}';
      CREATE INDEX runs_status_idx ON runs (agent_id, status, created_at, id);
      CREATE TABLE run_baselines (
        run_id uuid NOT NULL,
        purpose text NOT NULL,
        figures jsonb NOT NULL,
        CONSTRAINT run_baselines_pkey PRIMARY KEY (run_id, purpose),
        CONSTRAINT run_baselines_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE,
        CONSTRAINT run_baselines_purpose_check CHECK (purpose IN ('gate', 'previous'))
      );
      ${recount('status', ['agent_id', 'status'])}
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ${recount("''", ['agent_id'])}
      DROP TABLE run_baselines;
      DROP INDEX runs_status_idx;
      ALTER TABLE runs DROP COLUMN warnings, DROP COLUMN baseline_id, DROP COLUMN not_worse_than, DROP COLUMN agent_version;
    `);
  }
}
