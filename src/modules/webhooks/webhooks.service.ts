import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { AgentsService } from '../agents/agents.service.js';
import { WebhookDeliveryEntity } from './webhook-delivery.entity.js';
import { WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';
import { WebhookEndpointsRepository } from './webhook-endpoints.repository.js';
import { eventBody, type WebhookEventData, type WebhookEventType } from './webhook-event.js';
import { WebhookEventEntity } from './webhook-event.entity.js';

export interface NewWebhookEvent<Type extends WebhookEventType> {
  readonly workspaceId: string;
  readonly type: Type;
  readonly data: WebhookEventData[Type];
  /** Agent of the run; its own webhook address also receives the event. */
  readonly agentId?: string;
}

interface Target {
  readonly endpointId: string | null;
  readonly agentId: string | null;
}

/** Sends webhook events for the other modules. */
@Injectable()
export class WebhooksService {
  constructor(
    private readonly database: Database,
    private readonly endpoints: WebhookEndpointsRepository,
    private readonly deliveries: WebhookDeliveriesRepository,
    private readonly agents: AgentsService,
  ) {}

  /**
   * Sends an event to every endpoint that is subscribed to its type. Event, deliveries and jobs are written in the
   * caller's transaction, so the event is sent if and only if that is committed.
   */
  async emit<Type extends WebhookEventType>(event: NewWebhookEvent<Type>): Promise<void> {
    const { workspaceId, type, agentId } = event;
    await this.database.transaction(async () => {
      const endpointIds = await this.endpoints.lockSubscribed(workspaceId, type);
      const targets: Target[] = endpointIds.map((endpointId) => ({ endpointId, agentId: null }));
      if (agentId !== undefined && (await this.agents.findWebhook(agentId)))
        targets.push({ endpointId: null, agentId });
      if (targets.length > 0) await this.write(event, targets, false);
    });
  }

  /** Sends an event to one endpoint, enabled or not. @returns the id of the delivery; undefined if there is no such endpoint */
  async sendTo<Type extends WebhookEventType>(
    endpointId: string,
    event: NewWebhookEvent<Type>,
  ): Promise<string | undefined> {
    return this.database.transaction(async () => {
      if (!(await this.endpoints.lock(endpointId))) return undefined;
      const [id] = await this.write(event, [{ endpointId, agentId: null }], true);
      return id;
    });
  }

  /** Deletes a batch of events about an agent with their deliveries. @returns the number of deleted events */
  eraseAgent(agentId: string): Promise<number> {
    return this.deliveries.eraseAgent(agentId);
  }

  /** Deletes the reasons of failed cases, which quote what was said, from the events about a run. */
  forgetReasons(agentId: string, runId: string): Promise<void> {
    return this.deliveries.forgetReasons(agentId, runId);
  }

  private write<Type extends WebhookEventType>(
    { workspaceId, type, data, agentId: about }: NewWebhookEvent<Type>,
    targets: readonly Target[],
    isForced: boolean,
  ): Promise<string[]> {
    return this.database.transaction(async (manager) => {
      const now = new Date();
      const eventId = randomUUID();
      await manager.insert(WebhookEventEntity, {
        id: eventId,
        workspaceId,
        agentId: about ?? null,
        type,
        body: eventBody(type, now, data),
        createdAt: now,
      });
      const deliveries = targets.map(({ endpointId, agentId }) => ({
        id: randomUUID(),
        workspaceId,
        eventId,
        endpointId,
        agentId,
        targetId: endpointId ?? agentId ?? '',
        status: 'PENDING' as const,
        attempts: [],
        tries: 0,
        nextAttemptAt: now,
        isForced,
        isParked: false,
        claimedBy: null,
        claimId: null,
        createdAt: now,
      }));
      await manager.insert(WebhookDeliveryEntity, deliveries);
      for (const { id, targetId } of deliveries) await this.deliveries.enqueue(id, targetId);
      return deliveries.map(({ id }) => id);
    });
  }
}
