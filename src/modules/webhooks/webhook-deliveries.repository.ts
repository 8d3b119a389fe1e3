import { Injectable } from '@nestjs/common';
import { Database } from '../../platform/database/database.js';
import { readPage } from '../../platform/database/page-query.js';
import { Queue } from '../../platform/queue/queue.js';
import { DELIVER, deliveryKey } from './delivery-job.js';
import type { DeliveryAttempt, DeliveryStatus, WebhookDeliveryEntity } from './webhook-delivery.entity.js';
import * as sql from './webhook-deliveries.sql.js';
import type { DisabledReason } from './webhook-endpoint.entity.js';
import type { WebhookEventType } from './webhook-event.js';
import { nextDelay, WebhookPolicy } from './webhook-policy.js';

/** Who makes an attempt, and which attempt it is. */
export interface Claim {
  readonly by: string;
  readonly id: string;
  /** Whether the process is making so many attempts that each receiver has to do with fewer. */
  readonly isBusy: boolean;
}

/** A delivery that this process may attempt now. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly claimId: string;
  readonly eventId: string;
  readonly targetId: string;
  readonly endpointId: string | null;
  readonly agentId: string | null;
  readonly body: string;
  /** Of the endpoint; null for an agent, whose own address and secret count. */
  readonly url: string | null;
  /** Encrypted. */
  readonly secret: string | null;
  /** Encrypted; null unless it still signs too. */
  readonly previousSecret: string | null;
}

/** What an attempt came to. */
export interface Outcome {
  readonly attempt: DeliveryAttempt;
  readonly result: 'DELIVERED' | 'FAILED' | 'GONE';
  /** Milliseconds that the receiver asked to wait. */
  readonly retryAfter?: number | undefined;
}

/** A delivery as responses show it. */
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
  /** Null for an agent's own address. */
  readonly enabled: boolean | null;
  readonly isFailing: boolean;
  readonly hasFailedForLong: boolean;
}

/** The state of deliveries and of their receivers, changed in single transactions. */
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
      where: byStatus ? 'd.endpoint_id = $1 AND d.status = $2' : 'd.endpoint_id = $1',
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
   * Takes a due delivery, unless its receiver has as many under way as it may have: then it is parked, and the end
   * of one of those wakes it. No job waits in the queue for another one's receiver.
   */
  async claim(deliveryId: string, targetId: string, claim: Claim): Promise<ClaimedDelivery | undefined> {
    return this.database.transaction(async () => {
      await this.database.query(sql.LOCK_TARGET, [targetId]);
      return this.take(deliveryId, claim);
    });
  }

  /**
   * Records an attempt, what follows from it for the endpoint, and when the next attempt is due; once, whoever comes
   * first.
   * @param next for a parked delivery to the same receiver
   * @returns that delivery, taken in the same transaction, if there was one and it may be attempted now
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
      // Another process took it over, because this one was thought dead.
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
      return this.wake(delivery.targetId, this.places(isScarce), next);
    });
  }

  /** Hands back a delivery that was not attempted to the end, because this process ends. */
  async release({ id, claimId, targetId }: ClaimedDelivery): Promise<void> {
    await this.database.transaction(async () => {
      const [released] = await this.database.query(sql.RELEASE, [id, claimId]);
      if (released) await this.enqueue(id, targetId);
    });
  }

  /** Ends what is pending for an endpoint that was disabled. */
  async failPending(endpointId: string): Promise<void> {
    await this.database.query(sql.FAIL_PENDING, [endpointId]);
  }

  /** Puts an attempt into the queue, in the caller's transaction. */
  async enqueue(deliveryId: string, targetId: string, runAt?: Date): Promise<void> {
    const options = { jobKey: deliveryKey(deliveryId), ...(runAt && { runAt }) };
    await this.queue.enqueue(DELIVER, { deliveryId, targetId }, options);
  }

  /**
   * The net under it all: claims of dead processes are void, and a delivery that is due without a job gets one.
   * @param worker this process
   * @param claims the attempts that it is making
   */
  async sweep(worker: string, claims: readonly string[]): Promise<void> {
    await this.database.query(sql.DROP_VOID_CLAIMS, [worker, claims]);
    await this.database.transaction(async () => {
      const [lock] = await this.database.query<{ taken: boolean }>(sql.TRY_SWEEP, []);
      if (!lock?.taken) return;
      const lost = await this.database.query<{ id: string; targetId: string }>(sql.FIND_LOST, []);
      for (const { id, targetId } of lost) await this.enqueue(id, targetId);
      const forgotten = await this.database.query<{ targetId: string }>(sql.FIND_FORGOTTEN, []);
      for (const { targetId } of forgotten) await this.wake(targetId, 1);
    });
  }

  /** Deletes a part of the events whose time is over. @returns how many */
  async prune(): Promise<number> {
    return (await this.database.query(sql.PRUNE_EVENTS, [this.policy.retention])).length;
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
      if (row.isFailing) await this.database.query(sql.MARK_SOUND, [endpointId]);
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

  /** The receiver is locked by the caller. */
  private async take(deliveryId: string, claim: Claim): Promise<ClaimedDelivery | undefined> {
    const [row] = await this.database.query<ClaimRow>(sql.FIND_TO_CLAIM, [deliveryId]);
    // A job can come twice, or too late for a delivery that was settled or moved in the meantime.
    if (!row || row.status !== 'PENDING' || row.isClaimed || row.isEarly) return undefined;
    if (row.enabled === false && !row.isForced) {
      await this.database.query(sql.GIVE_UP, [deliveryId]);
      return undefined;
    }
    if (row.active >= this.places(row.isFailing || claim.isBusy)) {
      await this.database.query(sql.PARK, [deliveryId]);
      return undefined;
    }
    await this.database.query(sql.CLAIM, [deliveryId, claim.by, claim.id]);
    const { id, eventId, targetId, endpointId, agentId, body, url, secret, previousSecret } = row;
    return { id, claimId: claim.id, eventId, targetId, endpointId, agentId, body, url, secret, previousSecret };
  }

  /** Lets parked deliveries go on, as many as there is room for: the first one at once, the others as jobs. */
  private async wake(targetId: string, places: number, claim?: Claim): Promise<ClaimedDelivery | undefined> {
    const woken = await this.database.query<{ id: string }>(sql.WAKE, [targetId, places]);
    const first = claim && woken.shift();
    for (const { id } of woken) await this.enqueue(id, targetId);
    return first && this.take(first.id, claim);
  }

  private places(isScarce: boolean): number {
    return isScarce ? this.policy.parallelWhileScarce : this.policy.parallel;
  }
}
