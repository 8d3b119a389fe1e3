import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Webhook endpoints, events and deliveries. */
export class Webhooks1733400001100 implements MigrationInterface {
  name = 'Webhooks1733400001100';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      CREATE TABLE webhook_endpoints (
        id uuid NOT NULL CONSTRAINT webhook_endpoints_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT webhook_endpoints_workspace_id_fkey REFERENCES workspaces (id),
        created_by_user_id uuid NOT NULL CONSTRAINT webhook_endpoints_created_by_user_id_fkey REFERENCES users (id),
        url text NOT NULL,
        description text,
        events text[] NOT NULL CONSTRAINT webhook_endpoints_events_check CHECK (cardinality(events) > 0),
        enabled boolean NOT NULL,
        disabled_reason text CONSTRAINT webhook_endpoints_disabled_reason_check
          CHECK (disabled_reason IN ('GONE', 'FAILING')),
        disabled_at timestamptz(3),
        failing_since timestamptz(3),
        secret text NOT NULL,
        previous_secret text,
        previous_secret_expires_at timestamptz(3),
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now()
      );
      CREATE INDEX webhook_endpoints_list_idx ON webhook_endpoints (workspace_id, created_at, id);

      CREATE TABLE webhook_events (
        id uuid NOT NULL CONSTRAINT webhook_events_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT webhook_events_workspace_id_fkey REFERENCES workspaces (id),
        type text NOT NULL,
        body text NOT NULL,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        agent_id uuid
      );
      CREATE INDEX webhook_events_created_at_idx ON webhook_events (created_at);
      CREATE INDEX webhook_events_agent_idx ON webhook_events (agent_id) WHERE agent_id IS NOT NULL;

      CREATE TABLE webhook_deliveries (
        id uuid NOT NULL CONSTRAINT webhook_deliveries_pkey PRIMARY KEY,
        workspace_id uuid NOT NULL CONSTRAINT webhook_deliveries_workspace_id_fkey REFERENCES workspaces (id),
        event_id uuid NOT NULL
          CONSTRAINT webhook_deliveries_event_id_fkey REFERENCES webhook_events (id) ON DELETE CASCADE,
        endpoint_id uuid
          CONSTRAINT webhook_deliveries_endpoint_id_fkey REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
        agent_id uuid CONSTRAINT webhook_deliveries_agent_id_fkey REFERENCES agents (id),
        target_id uuid NOT NULL,
        status text NOT NULL CONSTRAINT webhook_deliveries_status_check
          CHECK (status IN ('PENDING', 'DELIVERED', 'FAILED')),
        attempts jsonb NOT NULL,
        tries integer NOT NULL,
        next_attempt_at timestamptz(3),
        is_forced boolean NOT NULL,
        is_parked boolean NOT NULL,
        claimed_by uuid,
        claim_id uuid,
        created_at timestamptz(3) NOT NULL DEFAULT now(),
        updated_at timestamptz(3) NOT NULL DEFAULT now(),
        CONSTRAINT webhook_deliveries_target_check
          CHECK (num_nonnulls(endpoint_id, agent_id) = 1 AND target_id = coalesce(endpoint_id, agent_id)),
        CONSTRAINT webhook_deliveries_pending_check CHECK ((status = 'PENDING') = (next_attempt_at IS NOT NULL))
      );
      CREATE INDEX webhook_deliveries_list_idx ON webhook_deliveries (endpoint_id, created_at, id);
      CREATE INDEX webhook_deliveries_event_id_idx ON webhook_deliveries (event_id);
      CREATE INDEX webhook_deliveries_due_idx ON webhook_deliveries (next_attempt_at) WHERE status = 'PENDING';
      CREATE INDEX webhook_deliveries_parked_idx ON webhook_deliveries (target_id, next_attempt_at) WHERE is_parked;
      CREATE INDEX webhook_deliveries_claimed_idx ON webhook_deliveries (target_id) WHERE claimed_by IS NOT NULL;
      CREATE INDEX webhook_deliveries_status_list_idx ON webhook_deliveries (endpoint_id, status, created_at, id);
      CREATE INDEX webhook_deliveries_agent_idx ON webhook_deliveries (agent_id) WHERE agent_id IS NOT NULL;
    `);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE webhook_deliveries, webhook_events, webhook_endpoints');
  }
}
