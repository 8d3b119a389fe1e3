import { Injectable } from '@nestjs/common';
import { OutboundClient, OutboundError } from '../../../libs/outbound-http/index.js';
import { API_VERSION } from '../../platform/api-version.js';
import { inBatches } from '../../platform/queue/in-batches.js';
import { defineJob, type JobContext } from '../../platform/queue/job.js';
import { Queue } from '../../platform/queue/queue.js';
import type { RunEntity } from '../runs/run.entity.js';
import { SchedulesRepository } from './schedules.repository.js';

const TIMEOUT_MS = 10_000;
const MAX_BODY_BYTES = 4_096;
const SLOT_RETENTION_DAYS = 90;

const HEARTBEAT = defineJob<{ scheduleId: string }>({ name: 'schedules.heartbeat', kind: 'webhooks', maxAttempts: 4 });
/** Deletes old slots. Daily. */
const PRUNE_SLOTS = defineJob<object>({ name: 'schedules.prune-slots', kind: 'maintenance', cron: '56 3 * * *' });

/** Tells the monitors of schedules that their runs end, and deletes old slots. */
@Injectable()
export class HeartbeatService {
  constructor(
    private readonly repository: SchedulesRepository,
    private readonly queue: Queue,
    private readonly outbound: OutboundClient,
  ) {
    queue.handle(HEARTBEAT, ({ scheduleId }, context) => this.send(scheduleId, context));
    queue.handle(PRUNE_SLOTS, async (_, { signal }) => {
      await inBatches(() => this.repository.prune(SLOT_RETENTION_DAYS), signal);
    });
  }

  /** Sends the heartbeat of a run's schedule once the caller's transaction, which ends the run, is committed. */
  async runEnded({ scheduleId }: Pick<RunEntity, 'scheduleId'>): Promise<void> {
    if (scheduleId === null) return;
    const schedule = await this.repository.find(scheduleId);
    if (schedule?.heartbeatUrl != null) await this.queue.enqueue(HEARTBEAT, { scheduleId });
  }

  /** @throws Error to be tried again */
  private async send(scheduleId: string, { signal }: JobContext): Promise<void> {
    const url = (await this.repository.find(scheduleId))?.heartbeatUrl;
    if (url == null) return;
    try {
      const { status } = await this.outbound.request({
        url,
        method: 'GET',
        headers: { 'user-agent': `voice-agent-testing/${API_VERSION}` },
        timeoutMs: TIMEOUT_MS,
        maxBodyBytes: MAX_BODY_BYTES,
        signal,
      });
      if (status >= 500 || status === 429)
        throw new Error(`The monitor of schedule ${scheduleId} responded with ${status}`);
    } catch (error) {
      // The address itself may be a secret.
      if (error instanceof OutboundError)
        throw new Error(`The monitor of schedule ${scheduleId} was not reached: ${error.reason}`);
      throw error;
    }
  }
}
