import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How far production calls of agents were fetched, and which are known. With a default key an ADMIN has to switch that on. */
export class Monitoring1796041000000 implements MigrationInterface {
  readonly name = 'Monitoring1796041000000';

  up = (runner: QueryRunner): Promise<void> =>
    runner.query(`
      CREATE TABLE agent_monitoring (
        agent_id uuid NOT NULL CONSTRAINT agent_monitoring_pkey PRIMARY KEY
          CONSTRAINT agent_monitoring_agent_id_fkey REFERENCES agents (id) ON DELETE CASCADE,
        workspace_id uuid NOT NULL,
        sample_percent integer NOT NULL DEFAULT 100,
        redact text[] NOT NULL DEFAULT '{card,iban,email,phone}',
        judge boolean NOT NULL DEFAULT false,
        max_judged_per_day integer NOT NULL DEFAULT 500,
        state text NOT NULL CONSTRAINT agent_monitoring_state_check
          CHECK (state IN ('off', 'starting', 'healthy', 'invalid_credential', 'rate_limited', 'unavailable')),
        message text,
        fetched_until timestamptz(3),
        credential text,
        account text,
        last_fetched_at timestamptz(3),
        due_at timestamptz(3) NOT NULL DEFAULT now(),
        lease_until timestamptz(3),
        failures integer NOT NULL DEFAULT 0,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );
      UPDATE agents SET call_monitoring = false WHERE call_monitoring AND is_using_default_api_key;
      CREATE INDEX agents_monitored_idx ON agents (id) WHERE call_monitoring AND deleted_at IS NULL;
      CREATE INDEX agent_monitoring_due_idx ON agent_monitoring (due_at) WHERE fetched_until IS NOT NULL;

      CREATE TABLE fetched_calls (
        agent_id uuid NOT NULL CONSTRAINT fetched_calls_agent_id_fkey REFERENCES agents (id) ON DELETE CASCADE,
        platform_id text NOT NULL,
        outcome text NOT NULL CONSTRAINT fetched_calls_outcome_check CHECK (outcome IN
          ('judged', 'not_applicable', 'over_limit', 'own', 'sampled_out', 'malformed', 'no_words', 'awaited')),
        issue text,
        ended_at timestamptz(3) NOT NULL,
        fetched_at timestamptz(3) NOT NULL DEFAULT now(),
        readings integer NOT NULL DEFAULT 1,
        due_at timestamptz(3),
        CONSTRAINT fetched_calls_pkey PRIMARY KEY (agent_id, platform_id)
      );
      CREATE INDEX fetched_calls_counts_idx ON fetched_calls (agent_id, fetched_at);
      CREATE INDEX fetched_calls_due_idx ON fetched_calls (agent_id, due_at) WHERE due_at IS NOT NULL;
      CREATE INDEX fetched_calls_fetched_at_idx ON fetched_calls (fetched_at)`) as Promise<void>;

  down = (runner: QueryRunner): Promise<void> =>
    runner.query('DROP TABLE fetched_calls, agent_monitoring; DROP INDEX agents_monitored_idx') as Promise<void>;
}
