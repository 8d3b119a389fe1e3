import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { requireOwned } from '../../platform/access/ownership.js';
import { Database } from '../../platform/database/database.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { listPage, type Page } from '../../platform/database/page.js';
import { conflict, notFound } from '../../platform/errors/domain-error.js';
import type { ListDeliveriesQuery } from './dto/webhook.requests.js';
import type { WebhookDelivery } from './dto/webhook.responses.js';
import { type DeliveryRow, WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';
import { WebhookPolicy } from './webhook-policy.js';
import { WebhooksService } from './webhooks.service.js';

/** How often a test checks for the first attempt, in milliseconds. */
const TEST_POLL_MS = 50;

/** Lists, tests and redelivers webhook deliveries. */
@Injectable()
export class WebhookDeliveriesService {
  constructor(
    private readonly database: Database,
    private readonly repository: WebhookDeliveriesRepository,
    private readonly endpoints: WebhookEndpointsService,
    private readonly webhooks: WebhooksService,
    private readonly policy: WebhookPolicy,
  ) {}

  /** @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's endpoint */
  async list(caller: Caller, endpointId: string, query: ListDeliveriesQuery): Promise<Page<WebhookDelivery>> {
    const endpoint = await this.endpoints.get(caller, endpointId);
    return listPage(query, toResponse, (rows) => this.repository.page(endpoint.id, query.status, rows));
  }

  /** Sends a `webhook.test` event. @returns the delivery, after its first attempt if that ends within `testWait` */
  async test(caller: Caller, endpointId: string): Promise<WebhookDelivery> {
    const endpoint = await this.endpoints.get(caller, endpointId);
    const id = await this.webhooks.sendTo(endpoint.id, {
      workspaceId: caller.workspaceId,
      type: 'webhook.test',
      data: { endpointId: endpoint.id, message: 'This is a test of the webhook' },
    });
    if (id === undefined) throw notFound();
    // With an Idempotency-Key, this transaction must end before the event can be sent, so waiting is pointless.
    const until = this.database.isInTransaction ? 0 : performance.now() + this.policy.testWait;
    let row = await this.repository.find(id);
    while (row && row.attempts.length === 0 && performance.now() < until) {
      await pause(TEST_POLL_MS);
      row = await this.repository.find(id);
    }
    // The endpoint may have been deleted in the meantime, and the delivery with it.
    if (!row) throw notFound();
    return toResponse(row);
  }

  /**
   * Restarts the schedule of a delivery, with the same `webhook-id`.
   * @throws DomainError NOT_FOUND, FORBIDDEN for another workspace's delivery, CONFLICT while it is pending
   */
  async redeliver(caller: Caller, id: string): Promise<WebhookDelivery> {
    return this.database.transaction(async () => {
      const row = requireOwned(caller, await this.repository.find(uuidOrNotFound(id)));
      if (!(await this.repository.redeliver(row))) throw conflict('The delivery is still pending');
      const renewed = await this.repository.find(row.id);
      if (!renewed) throw notFound();
      return toResponse(renewed);
    });
  }
}

function toResponse(row: DeliveryRow): WebhookDelivery {
  return {
    id: row.id,
    eventId: row.eventId,
    eventType: row.eventType,
    status: row.status,
    attempts: row.attempts.map(({ time, responseStatus, durationMs, error }) => ({
      time,
      responseStatus,
      durationMs,
      error,
    })),
    nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
  };
}
