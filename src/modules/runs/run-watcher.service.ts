import { EventEmitter } from 'node:events';
import { Injectable } from '@nestjs/common';
import { Notifications } from '../../platform/database/notifications.js';
import { Readiness } from '../../platform/observability/readiness.js';
import { RUN_ENDED, RunsRepository } from './runs.repository.js';

/** Polling interval in case a notification is lost, in milliseconds. */
const POLL_MS = 1_000;

/** Waits for runs to end. */
@Injectable()
export class RunWatcher {
  private readonly ends = new EventEmitter().setMaxListeners(0);

  constructor(
    private readonly runs: RunsRepository,
    private readonly readiness: Readiness,
    notifications: Notifications,
  ) {
    notifications.subscribe(RUN_ENDED, (runId) => {
      if (runId !== undefined) this.ends.emit(runId);
    });
  }

  /**
   * Waits until the run ends, the timeout expires, the signal fires or this process shuts down.
   * @param ms timeout in milliseconds
   * @returns whether the run has ended
   */
  async untilEnded(runId: string, ms: number, signal?: AbortSignal): Promise<boolean> {
    const until = performance.now() + ms;
    while (!signal?.aborted && !this.readiness.isShuttingDown) {
      const left = until - performance.now();
      if (left <= 0) return false;
      const isNotified = await this.notified(runId, Math.min(left, POLL_MS), signal);
      if (isNotified || (await this.runs.hasEnded(runId))) return true;
    }
    return false;
  }

  private notified(runId: string, ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (isNotified: boolean) => {
        clearTimeout(timer);
        this.ends.off(runId, ended);
        signal?.removeEventListener('abort', aborted);
        resolve(isNotified);
      };
      const ended = () => done(true);
      const aborted = () => done(false);
      const timer = setTimeout(() => done(false), ms);
      this.ends.once(runId, ended);
      signal?.addEventListener('abort', aborted, { once: true });
    });
  }
}
