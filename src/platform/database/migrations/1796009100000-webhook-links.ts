import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Links in the messages of a webhook. */
export class WebhookLinks1796009100000 implements MigrationInterface {
  name = 'WebhookLinks1796009100000';

  up = (runner: QueryRunner): Promise<void> =>
    runner.query(`
      ALTER TABLE webhook_endpoints ADD COLUMN links boolean NOT NULL DEFAULT false,
        ADD CONSTRAINT webhook_endpoints_links_check CHECK (NOT links OR format = 'slack');
      ALTER TABLE report_links ADD COLUMN webhook_id uuid
        CONSTRAINT report_links_webhook_id_fkey REFERENCES webhook_endpoints (id) ON DELETE CASCADE;
      CREATE INDEX report_links_webhook_idx ON report_links (webhook_id, agent_id) WHERE webhook_id IS NOT NULL;
    `) as Promise<void>;

  down = (runner: QueryRunner): Promise<void> =>
    runner.query(`
      DELETE FROM report_links WHERE webhook_id IS NOT NULL;
      ALTER TABLE report_links DROP COLUMN webhook_id;
      ALTER TABLE webhook_endpoints DROP COLUMN links`) as Promise<void>;
}
