import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a webhook endpoint is sent. */
export class WebhookFormats1796009000000 implements MigrationInterface {
  name = 'WebhookFormats1796009000000';

  up = (runner: QueryRunner): Promise<void> =>
    runner.query(`
      ALTER TABLE webhook_endpoints ADD COLUMN format text NOT NULL DEFAULT 'standard'
        CONSTRAINT webhook_endpoints_format_check CHECK (format IN ('standard', 'slack'))`) as Promise<void>;

  down = (runner: QueryRunner): Promise<void> =>
    runner.query('ALTER TABLE webhook_endpoints DROP COLUMN format') as Promise<void>;
}
