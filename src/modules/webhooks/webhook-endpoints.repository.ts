import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { readPage } from '../../platform/database/page-query.js';
import type { WebhookEndpointEntity } from './webhook-endpoint.entity.js';
import type { WebhookEventType } from './webhook-event.js';

/** An endpoint without its secrets. */
export type EndpointRow = Omit<WebhookEndpointEntity, 'secret' | 'previousSecret' | 'previousSecretExpiresAt'>;

const LIST = {
  columns: `e.id, e.workspace_id AS "workspaceId", e.created_by_user_id AS "createdByUserId", e.url, e.description,
    e.events, e.format, e.links, e.enabled, e.disabled_reason AS "disabledReason", e.disabled_at AS "disabledAt",
    e.failing_since AS "failingSince", e.created_at AS "createdAt", e.updated_at AS "updatedAt"`,
  from: 'webhook_endpoints e',
  where: 'e.workspace_id = $1',
};

const LOCK_WORKSPACE = `SELECT pg_advisory_xact_lock(hashtextextended('webhooks:workspace:' || $1, 0))`;

const LOCK = 'SELECT id FROM webhook_endpoints WHERE id = $1 FOR KEY SHARE';

const LOCK_SUBSCRIBED = `
  SELECT id FROM webhook_endpoints WHERE workspace_id = $1 AND enabled AND $2 = ANY (events)
   ORDER BY id FOR KEY SHARE`;

/** SQL for webhook endpoints. */
@Injectable()
export class WebhookEndpointsRepository {
  constructor(private readonly database: Database) {}

  async page(
    workspaceId: string,
    page: { limit: number; offset: number },
  ): Promise<{ rows: EndpointRow[]; total: number }> {
    return readPage<EndpointRow>(this.database, LIST, [workspaceId], page);
  }

  /** Serialises creating endpoints of a workspace until the transaction ends. */
  async lockWorkspace(workspaceId: string): Promise<void> {
    await this.database.query(LOCK_WORKSPACE, [workspaceId]);
  }

  /** Protects an endpoint against deletion until the transaction ends. @returns whether it exists */
  async lock(id: string): Promise<boolean> {
    return (await this.database.query(LOCK, [id])).length > 0;
  }

  /**
   * Enabled endpoints that are subscribed to this type. Protected against deletion until the transaction ends, so that a
   * concurrent deletion cannot make it fail.
   */
  async lockSubscribed(workspaceId: string, type: WebhookEventType): Promise<string[]> {
    const rows = await this.database.query<{ id: string }>(LOCK_SUBSCRIBED, [workspaceId, type]);
    return rows.map(({ id }) => id);
  }
}
