import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { PrioritySemaphore } from '../../../libs/concurrency/index.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { inBatches } from '../../platform/queue/in-batches.js';
import type { JobContext } from '../../platform/queue/job.js';
import { withRetry } from '../../platform/queue/with-retry.js';
import { Queue } from '../../platform/queue/queue.js';
import { QueueWorker } from '../../platform/queue/queue-worker.js';
import { DELIVER, PRUNE } from './delivery-job.js';
import { type Claim, type ClaimedDelivery, WebhookDeliveriesRepository } from './webhook-deliveries.repository.js';
import { WebhookSender } from './webhook-sender.js';

/** Runs delivery jobs. */
@Injectable()
export class WebhookWorker {
  /** Claims of the attempts in progress in this process. */
  private readonly claims = new Set<string>();
  /** Limits the connections that concurrent deliveries use, so that some remain for requests. */
  private readonly database: PrioritySemaphore;

  constructor(
    private readonly queue: Queue,
    private readonly worker: QueueWorker,
    private readonly repository: WebhookDeliveriesRepository,
    private readonly sender: WebhookSender,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    this.database = new PrioritySemaphore(Math.max(1, Math.floor(settings.databasePoolSize / 4)));
    queue.handle(DELIVER, ({ deliveryId, targetId }, context) => this.deliver(deliveryId, targetId, context));
    queue.handle(PRUNE, (_, context) => this.prune(context));
    queue.onSweep(() => this.database.run(() => this.repository.sweep(this.worker.id, [...this.claims])));
  }

  /** Attempts a delivery, and then parked deliveries to the same receiver. */
  private async deliver(deliveryId: string, targetId: string, { signal }: JobContext): Promise<void> {
    const claims = new Set<string>();
    try {
      const claim = this.newClaim(claims);
      let delivery = await this.database.run(() => this.repository.claim(deliveryId, targetId, claim));
      while (delivery) {
        const current: ClaimedDelivery = delivery;
        const outcome = await this.sender.send(current, signal);
        if (!outcome) return await withRetry(this.database, () => this.repository.release(current), signal);
        const next = signal.aborted ? undefined : this.newClaim(claims);
        delivery = await withRetry(this.database, () => this.repository.record(current, outcome, next), signal);
        this.forget(claims, current.claimId);
      }
    } finally {
      for (const id of claims) this.forget(claims, id);
    }
  }

  /** Registered before it is written to the database, so that the sweep does not drop it as abandoned. */
  private newClaim(claims: Set<string>): Claim {
    const isBusy = this.claims.size > this.worker.concurrency(DELIVER.kind) / 2;
    const id = randomUUID();
    this.claims.add(id);
    claims.add(id);
    return { by: this.worker.id, id, isBusy };
  }

  private forget(claims: Set<string>, id: string): void {
    this.claims.delete(id);
    claims.delete(id);
  }

  private async prune({ signal }: JobContext): Promise<void> {
    const days = this.settings.deliveryRetentionDays;
    if (days === 0) return;
    const isComplete = await inBatches(() => this.repository.prune(days), signal);
    // In another job, so that other maintenance takes turns.
    if (!isComplete) await this.queue.enqueue(PRUNE, {}, { jobKey: PRUNE.name });
  }
}
