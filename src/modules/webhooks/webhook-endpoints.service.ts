import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { generateSecret, OutboundClient } from '../../../libs/outbound-http/index.js';
import type { Caller } from '../../platform/access/caller.js';
import { requireOwned } from '../../platform/access/ownership.js';
import { Database } from '../../platform/database/database.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { listPage, type Page, type PageRequest } from '../../platform/database/page.js';
import { KeyRing } from '../../platform/encryption/key-ring.js';
import { about, conflict, invalidInput } from '../../platform/errors/domain-error.js';
import { checkUrl } from '../../platform/outbound/check-url.js';
import type { CreateWebhookRequest, UpdateWebhookRequest } from './dto/webhook.requests.js';
import type { Webhook, WebhookWithSecret } from './dto/webhook.responses.js';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';
import { type EndpointRow, WebhookEndpointsRepository } from './webhook-endpoints.repository.js';
import { WebhookEndpointEntity, webhookSecretPurpose } from './webhook-endpoint.entity.js';
import type { WebhookEventType } from './webhook-event.js';
import { WebhookPolicy } from './webhook-policy.js';

/** The webhook endpoints of a workspace. */
@Injectable()
export class WebhookEndpointsService {
  constructor(
    private readonly database: Database,
    private readonly repository: WebhookEndpointsRepository,
    private readonly deliveries: WebhookDeliveriesRepository,
    private readonly outbound: OutboundClient,
    private readonly keyRing: KeyRing,
    private readonly policy: WebhookPolicy,
  ) {}

  /**
   * @returns the endpoint with its secret, which cannot be read again
   * @throws DomainError BAD_REQUEST for an address that is not allowed, CONFLICT if the workspace has too many
   */
  async create(caller: Caller, input: CreateWebhookRequest): Promise<WebhookWithSecret> {
    checkUrl(this.outbound, 'url', input.url);
    return this.database.transaction(async (manager) => {
      await this.repository.lockWorkspace(caller.workspaceId);
      const count = await manager.countBy(WebhookEndpointEntity, { workspaceId: caller.workspaceId });
      if (count >= this.policy.maxEndpoints) {
        throw conflict(`A workspace can have at most ${this.policy.maxEndpoints} webhooks`);
      }
      const id = randomUUID();
      const secret = generateSecret();
      const endpoint = manager.create(WebhookEndpointEntity, {
        id,
        workspaceId: caller.workspaceId,
        createdByUserId: caller.userId,
        url: input.url,
        description: input.description ?? null,
        events: [...input.events],
        format: input.format ?? 'standard',
        links: input.links ?? false,
        enabled: input.enabled ?? true,
        disabledReason: null,
        disabledAt: null,
        failingSince: null,
        secret: this.keyRing.encrypt(secret, webhookSecretPurpose(id, 'secret')),
        previousSecret: null,
        previousSecretExpiresAt: null,
      });
      checkLinks(endpoint);
      return { ...toResponse(await manager.save(endpoint)), secret };
    });
  }

  async list(caller: Caller, query: PageRequest): Promise<Page<Webhook>> {
    return listPage(query, toResponse, (rows) => this.repository.page(caller.workspaceId, rows));
  }

  /** @throws DomainError NOT_FOUND, or FORBIDDEN for another workspace's endpoint */
  async get(caller: Caller, id: string): Promise<Webhook> {
    const { manager } = this.database;
    return toResponse(requireOwned(caller, await manager.findOneBy(WebhookEndpointEntity, { id: uuidOrNotFound(id) })));
  }

  /** Enabling clears the reason for which it was disabled. @throws DomainError as `get` does, BAD_REQUEST as `create` */
  async update(caller: Caller, id: string, changes: UpdateWebhookRequest): Promise<Webhook> {
    return this.database.transaction(async (manager) => {
      const endpoint = await this.lock(caller, id);
      if (changes.url !== undefined) checkUrl(this.outbound, 'url', changes.url);
      manager.merge(WebhookEndpointEntity, endpoint, {
        url: changes.url,
        description: changes.description,
        format: changes.format,
        links: changes.links,
      });
      checkLinks(endpoint);
      // `merge` would combine the old and the new list item by item.
      if (changes.events !== undefined) endpoint.events = [...changes.events];
      if (changes.enabled === true && !endpoint.enabled) {
        Object.assign(endpoint, { enabled: true, disabledReason: null, disabledAt: null, failingSince: null });
      }
      if (changes.enabled === false && endpoint.enabled) {
        Object.assign(endpoint, { enabled: false, disabledAt: new Date() });
        await this.deliveries.failPending(endpoint.id);
      }
      return toResponse(await manager.save(endpoint));
    });
  }

  /** Also deletes its deliveries. @throws DomainError as `get` does */
  async delete(caller: Caller, id: string): Promise<void> {
    await this.database.transaction(async (manager) => {
      const endpoint = await this.lock(caller, id);
      await manager.delete(WebhookEndpointEntity, { id: endpoint.id });
    });
  }

  /** The old secret stays valid for a day. @returns the endpoint with its new secret. @throws DomainError as `get` does */
  async rotateSecret(caller: Caller, id: string): Promise<WebhookWithSecret> {
    return this.database.transaction(async (manager) => {
      const endpoint = await this.lock(caller, id);
      const previous = this.keyRing.decrypt(endpoint.secret, webhookSecretPurpose(endpoint.id, 'secret'));
      const secret = generateSecret();
      endpoint.previousSecret = this.keyRing.encrypt(previous, webhookSecretPurpose(endpoint.id, 'previousSecret'));
      endpoint.previousSecretExpiresAt = new Date(Date.now() + this.policy.secretOverlap);
      endpoint.secret = this.keyRing.encrypt(secret, webhookSecretPurpose(endpoint.id, 'secret'));
      return { ...toResponse(await manager.save(endpoint)), secret };
    });
  }

  private async lock(caller: Caller, id: string): Promise<WebhookEndpointEntity> {
    const where = { id: uuidOrNotFound(id) };
    const lock = { mode: 'pessimistic_write' } as const;
    return requireOwned(caller, await this.database.manager.findOne(WebhookEndpointEntity, { where, lock }));
  }
}

/** Events have no page links. */
function checkLinks({ links, format }: WebhookEndpointEntity): void {
  if (links && format !== 'slack') throw invalidInput(about('links', 'needs format slack'));
}

function toResponse(row: EndpointRow): Webhook {
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    // Only known types are ever stored.
    events: row.events as WebhookEventType[],
    format: row.format,
    links: row.links,
    enabled: row.enabled,
    disabledReason: row.disabledReason,
    disabledAt: row.disabledAt?.toISOString() ?? null,
    failingSince: row.failingSince?.toISOString() ?? null,
    createdByUserId: row.createdByUserId,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
