import type { MigrationInterface, QueryRunner } from 'typeorm';
import { countEntries, dropCounters } from './count-entries.js';

const RUNS = { table: 'runs', owner: 'agent_id', facet: 'status' };
const DROP_TRIGGERS = ['inserted', 'deleted', 'updated']
  .map((when) => `DROP TRIGGER runs_count_${when} ON runs`)
  .join(';');

/** Runs of the production calls of a day. Lists of runs leave out those of production. */
export class ProductionDays1796040000000 implements MigrationInterface {
  readonly name = 'ProductionDays1796040000000';

  up = (runner: QueryRunner): Promise<void> =>
    runner.query(`
      ALTER TABLE runs ADD COLUMN day date, ADD COLUMN open_until timestamptz(3),
        ADD COLUMN origin text NOT NULL DEFAULT 'test'
          CONSTRAINT runs_origin_check CHECK (origin IN ('test', 'import', 'production')),
        DROP CONSTRAINT runs_repeat_check, ADD CONSTRAINT runs_repeat_check CHECK (repeat BETWEEN 1 AND 10000);
      ${DROP_TRIGGERS}; ${dropCounters('runs')};
      UPDATE runs SET origin = 'import' WHERE is_imported;
      UPDATE runs r SET origin = i.origin FROM call_imports i WHERE i.run_id = r.id AND i.origin = 'production';
      WITH RECURSIVE derived AS (
        SELECT id, origin FROM runs WHERE origin <> 'test'
         UNION ALL SELECT r.id, d.origin FROM runs r JOIN derived d ON r.derived_from = d.id)
      UPDATE runs r SET origin = d.origin FROM derived d WHERE d.id = r.id;
      INSERT INTO list_deltas
        SELECT 'runs', agent_id, status, -count(*) FROM runs WHERE origin = 'production' GROUP BY 2, 3;
      ${countEntries({ ...RUNS, except: { column: 'origin', value: 'production' } })}
      CREATE UNIQUE INDEX runs_day_key ON runs (agent_id, day) WHERE day IS NOT NULL;
      CREATE INDEX runs_origin_idx ON runs (agent_id, origin, created_at, id);

      ALTER TABLE run_evaluations ADD COLUMN taken integer NOT NULL DEFAULT 0,
        ADD COLUMN not_applicable integer NOT NULL DEFAULT 0, ADD COLUMN over_limit integer NOT NULL DEFAULT 0,
        ADD COLUMN judged integer NOT NULL DEFAULT 0, ADD COLUMN unjudged integer NOT NULL DEFAULT 0;

      ALTER TABLE call_imports ALTER COLUMN content_hash DROP NOT NULL, ADD COLUMN decided jsonb;
      DROP INDEX call_imports_external_id_key;
      CREATE UNIQUE INDEX call_imports_external_id_key ON call_imports (agent_id, external_id)
       WHERE external_id IS NOT NULL AND content_hash IS NOT NULL;
      CREATE INDEX call_imports_external_id_idx ON call_imports (agent_id, external_id);

      CREATE TABLE day_calls (
        agent_id uuid NOT NULL CONSTRAINT day_calls_agent_id_fkey REFERENCES agents (id) ON DELETE CASCADE,
        external_id text NOT NULL,
        taken_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT day_calls_pkey PRIMARY KEY (agent_id, external_id));
      CREATE INDEX day_calls_taken_at_idx ON day_calls (taken_at)`) as Promise<void>;

  down = (runner: QueryRunner): Promise<void> =>
    runner.query(`
      DROP TABLE day_calls;
      DELETE FROM runs WHERE day IS NOT NULL OR repeat > 50;
      DELETE FROM call_imports WHERE content_hash IS NULL;
      DROP INDEX call_imports_external_id_idx, call_imports_external_id_key;
      CREATE UNIQUE INDEX call_imports_external_id_key ON call_imports (agent_id, external_id) WHERE external_id IS NOT NULL;
      ALTER TABLE call_imports ALTER COLUMN content_hash SET NOT NULL, DROP COLUMN decided;
      ALTER TABLE run_evaluations DROP COLUMN taken, DROP COLUMN not_applicable, DROP COLUMN over_limit, DROP COLUMN judged,
        DROP COLUMN unjudged;
      ${DROP_TRIGGERS}; ${dropCounters('runs')};
      INSERT INTO list_deltas SELECT 'runs', agent_id, status, count(*) FROM runs WHERE origin = 'production' GROUP BY 2, 3;
      ALTER TABLE runs DROP CONSTRAINT runs_repeat_check, ADD CONSTRAINT runs_repeat_check CHECK (repeat BETWEEN 1 AND 50),
        DROP COLUMN day, DROP COLUMN open_until, DROP COLUMN origin;
      ${countEntries(RUNS)}`) as Promise<void>;
}
