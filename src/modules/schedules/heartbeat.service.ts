import { Injectable, Logger } from '@nestjs/common';
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
  private readonly logger = new Logger('Schedules');

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
    const { error, isFinal } = await this.ask(url, signal);
    await this.repository.heartbeat(scheduleId, url, error);
    if (error === null) return;
    // The address itself may be a secret.
    const message = `The heartbeat of schedule ${scheduleId} failed: ${error}`;
    if (!isFinal) throw new Error(message);
    this.logger.warn(message);
  }

  private async ask(url: string, signal: AbortSignal): Promise<{ error: string | null; isFinal: boolean }> {
    try {
      const { status } = await this.outbound.request({
        url,
        method: 'GET',
        headers: { 'user-agent': `voice-agent-testing/${API_VERSION}` },
        timeoutMs: TIMEOUT_MS,
        maxBodyBytes: MAX_BODY_BYTES,
        signal,
      });
      if (status >= 200 && status < 300) return { error: null, isFinal: true };
      const hint = status >= 300 && status < 400 ? ', a redirect, which is not followed' : '';
      return {
        error: `The monitor responded with ${status}${hint}`,
        isFinal: !(status >= 500 || status === 408 || status === 429),
      };
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      return { error: `The monitor was not reached: ${error.reason}`, isFinal: false };
    }
  }
}
