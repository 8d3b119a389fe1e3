import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { readPage } from '../../platform/database/page-query.js';
import { Queue } from '../../platform/queue/queue.js';
import { DELIVER, deliveryKey } from './delivery-job.js';
import type { DeliveryAttempt, DeliveryStatus, WebhookDeliveryEntity } from './webhook-delivery.entity.js';
import * as sql from './webhook-deliveries.sql.js';
import type { DisabledReason, WebhookFormat } from './webhook-endpoint.entity.js';
import type { WebhookEventType } from './webhook-event.js';
import { nextDelay, WebhookPolicy } from './webhook-policy.js';

/** Events deleted by one statement; each has a delivery per endpoint that subscribed to it. */
const MAX_DELETED_EVENTS = 100;

/** Identifies an attempt and the process that makes it. */
export interface Claim {
  readonly by: string;
  readonly id: string;
  /** Whether the number of attempts in progress is so high that the limit per receiver is reduced. */
  readonly isBusy: boolean;
}

/** A delivery that this process holds the claim on. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly claimId: string;
  readonly eventId: string;
  readonly targetId: string;
  readonly endpointId: string | null;
  readonly agentId: string | null;
  /** The event as stored. */
  readonly body: string;
  /** The agent that the event is about, and its name; null for a test. */
  readonly about: string | null;
  readonly agentName: string | null;
  /** Of the endpoint; null for an agent. */
  readonly format: WebhookFormat | null;
  readonly links: boolean | null;
  /** Of the endpoint; null for an agent, which has its own address and secret. */
  readonly url: string | null;
  /** Encrypted. */
  readonly secret: string | null;
  /** Encrypted; null unless it is still used for signing. */
  readonly previousSecret: string | null;
}

/** The outcome of an attempt. */
export interface Outcome {
  readonly attempt: DeliveryAttempt;
  readonly result: 'DELIVERED' | 'FAILED' | 'GONE';
  /** Delay that the receiver requested, in milliseconds. */
  readonly retryAfter?: number | undefined;
}

/** A delivery in responses. */
export type DeliveryRow = Pick<
  WebhookDeliveryEntity,
  'id' | 'workspaceId' | 'eventId' | 'status' | 'attempts' | 'nextAttemptAt' | 'targetId' | 'createdAt'
> & { readonly eventType: WebhookEventType };

interface ClaimRow extends Omit<ClaimedDelivery, 'claimId'> {
  readonly status: DeliveryStatus;
  readonly tries: number;
  readonly isForced: boolean;
  readonly isClaimed: boolean;
  readonly isEarly: boolean;
  readonly active: number;
  readonly enabled: boolean | null;
  readonly isFailing: boolean;
}

interface RecordRow {
  readonly tries: number;
  /** Null for the address of an agent. */
  readonly enabled: boolean | null;
  readonly isFailing: boolean;
  readonly hasFailedForLong: boolean;
}

/** The state of deliveries and endpoints; each change is one transaction. */
@Injectable()
export class WebhookDeliveriesRepository {
  constructor(
    private readonly database: Database,
    private readonly queue: Queue,
    private readonly policy: WebhookPolicy,
  ) {}

  async find(id: string): Promise<DeliveryRow | undefined> {
    const [row] = await this.database.query<DeliveryRow>(sql.FIND, [id]);
    return row;
  }

  /** Deliveries of an endpoint, newest first. */
  async page(
    endpointId: string,
    status: DeliveryStatus | undefined,
    page: { limit: number; offset: number },
  ): Promise<{ rows: DeliveryRow[]; total: number }> {
    const byStatus = status !== undefined;
    const source = {
      columns: sql.COLUMNS,
      from: 'webhook_deliveries d',
      joins: sql.JOIN_EVENT,
      where: `d.endpoint_id = $1 AND ${sql.NOT_ERASED}${byStatus ? ' AND d.status = $2' : ''}`,
    };
    return readPage<DeliveryRow>(this.database, source, byStatus ? [endpointId, status] : [endpointId], page);
  }

  /** Starts a delivery again from the beginning of its schedule. @returns false while it is pending */
  async redeliver({ id, targetId }: Pick<DeliveryRow, 'id' | 'targetId'>): Promise<boolean> {
    return this.database.transaction(async () => {
      const changed = await this.database.query(sql.REDELIVER, [id]);
      if (changed.length > 0) await this.enqueue(id, targetId);
      return changed.length > 0;
    });
  }

  /**
   * Claims a due delivery. If its receiver has reached its limit of concurrent deliveries, the delivery is parked until
   * one of them ends, so that no job blocks the queue.
   * @returns undefined if it is parked, ended, not due or claimed by another process
   */
  async claim(deliveryId: string, targetId: string, claim: Claim): Promise<ClaimedDelivery | undefined> {
    return this.database.transaction(async () => {
      await this.database.query(sql.LOCK_TARGET, [targetId]);
      return this.take(deliveryId, claim);
    });
  }

  /**
   * Records an attempt with its effect on the endpoint, and schedules the next attempt. Does nothing if the claim is no
   * longer valid.
   * @param next claim for a parked delivery to the same receiver
   * @returns that delivery, claimed in the same transaction, if there is one and the limit allows it
   */
  async record(
    delivery: ClaimedDelivery,
    { attempt, result, retryAfter }: Outcome,
    next?: Claim,
  ): Promise<ClaimedDelivery | undefined> {
    return this.database.transaction(async () => {
      await this.database.query(sql.LOCK_TARGET, [delivery.targetId]);
      const values = [delivery.id, delivery.claimId, this.policy.disableAfter];
      const [row] = await this.database.query<RecordRow>(sql.FIND_TO_RECORD, values);
      // Another process has taken it over, because this one seemed dead.
      if (!row) return undefined;

      const isDisabled = await this.recordAtEndpoint(delivery.endpointId, row, result);
      const mayRetry = result === 'FAILED' && !isDisabled;
      const delay = mayRetry ? nextDelay(this.policy, row.tries + 1, retryAfter) : undefined;
      const status: DeliveryStatus = result === 'DELIVERED' ? 'DELIVERED' : delay === undefined ? 'FAILED' : 'PENDING';
      const [updated] = await this.database.query<{ nextAttemptAt: Date | null }>(sql.RECORD, [
        delivery.id,
        JSON.stringify(attempt),
        status,
        delay ?? null,
      ]);
      if (updated?.nextAttemptAt) await this.enqueue(delivery.id, delivery.targetId, updated.nextAttemptAt);
      const isScarce = (result !== 'DELIVERED' && row.enabled !== null) || next?.isBusy === true;
      return this.wake(delivery.targetId, this.maxConcurrent(isScarce), next);
    });
  }

  /** Gives up the claim on a delivery whose attempt was aborted by the shutdown, and requeues it. */
  async release({ id, claimId, targetId }: ClaimedDelivery): Promise<void> {
    await this.database.transaction(async () => {
      const [released] = await this.database.query(sql.RELEASE, [id, claimId]);
      if (released) await this.enqueue(id, targetId);
    });
  }

  /** Fails the pending deliveries of an endpoint that was disabled. */
  async failPending(endpointId: string): Promise<void> {
    await this.database.query(sql.FAIL_PENDING, [endpointId]);
  }

  /** Enqueues an attempt, in the caller's transaction. */
  async enqueue(deliveryId: string, targetId: string, runAt?: Date): Promise<void> {
    const options = { jobKey: deliveryKey(deliveryId), ...(runAt && { runAt }) };
    await this.queue.enqueue(DELIVER, { deliveryId, targetId }, options);
  }

  /**
   * Drops claims of dead processes, enqueues due deliveries that have no job, and wakes parked ones.
   * @param worker id of this process
   * @param claims attempts in progress in this process
   */
  async sweep(worker: string, claims: readonly string[]): Promise<void> {
    await this.database.query(sql.DROP_VOID_CLAIMS, [worker, claims]);
    await this.database.transaction(async () => {
      const [lock] = await this.database.query<{ taken: boolean }>(sql.TRY_SWEEP, []);
      if (!lock?.taken) return;
      const lost = await this.database.query<{ id: string; targetId: string }>(sql.FIND_LOST, []);
      for (const { id, targetId } of lost) await this.enqueue(id, targetId);
      const stuck = await this.database.query<{ targetId: string }>(sql.FIND_STUCK_TARGETS, []);
      for (const { targetId } of stuck) await this.wake(targetId, 1);
    });
  }

  /**
   * Deletes a batch of events whose deliveries ended more than `days` ago, with their deliveries.
   * @returns the number of deleted events
   */
  async prune(days: number): Promise<number> {
    return (await this.database.query(sql.PRUNE_EVENTS, [days, MAX_DELETED_EVENTS])).length;
  }

  /** Deletes a batch of events about an agent with their deliveries. @returns the number of deleted events */
  async eraseAgent(agentId: string): Promise<number> {
    return (await this.database.query(sql.ERASE_EVENTS, [agentId, MAX_DELETED_EVENTS])).length;
  }

  /** Deletes the reasons of failed cases from the events about a run. */
  async forgetReasons(agentId: string, runId: string): Promise<void> {
    await this.database.query(sql.FORGET_REASONS, [agentId, runId]);
  }

  /** @returns whether the endpoint is disabled now */
  private async recordAtEndpoint(
    endpointId: string | null,
    row: RecordRow,
    result: Outcome['result'],
  ): Promise<boolean> {
    if (endpointId === null || row.enabled === null) return false;
    if (!row.enabled) return true;
    if (result === 'DELIVERED') {
      if (row.isFailing) await this.database.query(sql.CLEAR_FAILING, [endpointId]);
      return false;
    }
    if (!row.isFailing) await this.database.query(sql.MARK_FAILING, [endpointId]);
    const reason: DisabledReason | undefined =
      result === 'GONE' ? 'GONE' : row.hasFailedForLong ? 'FAILING' : undefined;
    if (reason === undefined) return false;
    await this.database.query(sql.DISABLE, [endpointId, reason]);
    await this.failPending(endpointId);
    return true;
  }

  /** The caller has locked the receiver. */
  private async take(deliveryId: string, claim: Claim): Promise<ClaimedDelivery | undefined> {
    const [row] = await this.database.query<ClaimRow>(sql.FIND_TO_CLAIM, [deliveryId]);
    // A job can run twice, or after the delivery ended or was rescheduled.
    if (!row || row.status !== 'PENDING' || row.isClaimed || row.isEarly) return undefined;
    if (row.enabled === false && !row.isForced) {
      await this.database.query(sql.FAIL, [deliveryId]);
      return undefined;
    }
    if (row.active >= this.maxConcurrent(row.isFailing || claim.isBusy)) {
      await this.database.query(sql.PARK, [deliveryId]);
      return undefined;
    }
    await this.database.query(sql.CLAIM, [deliveryId, claim.by, claim.id]);
    return { ...row, claimId: claim.id };
  }

  /** Wakes parked deliveries up to `limit`: claims the first one if `claim` is given, and enqueues the others. */
  private async wake(targetId: string, limit: number, claim?: Claim): Promise<ClaimedDelivery | undefined> {
    const woken = await this.database.query<{ id: string }>(sql.WAKE, [targetId, limit]);
    const first = claim && woken.shift();
    for (const { id } of woken) await this.enqueue(id, targetId);
    return first && this.take(first.id, claim);
  }

  private maxConcurrent(isScarce: boolean): number {
    return isScarce ? this.policy.parallelWhileScarce : this.policy.parallel;
  }
}
