import { EventEmitter } from 'node:events';
import { Injectable } from '@nestjs/common';
import { Notifications } from '../../../platform/database/notifications.js';
import { Readiness } from '../../../platform/observability/readiness.js';
import { RunsRepository } from '../runs.repository.js';
import { RUN_ENDED } from './channels.js';

/** For notifications that did not arrive, in milliseconds. */
const POLL_MS = 1_000;

/** Waits for the ends of runs. */
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
   * Resolves when the run has ended, the time is over, the signal fires or this process ends, whichever is first.
   * @returns whether it was the run
   */
  async untilEnded(runId: string, ms: number, signal?: AbortSignal): Promise<boolean> {
    const until = performance.now() + ms;
    while (!signal?.aborted && !this.readiness.isShuttingDown) {
      const left = until - performance.now();
      if (left <= 0) return false;
      const wasTold = await this.heard(runId, Math.min(left, POLL_MS), signal);
      if (wasTold || (await this.runs.hasEnded(runId))) return true;
    }
    return false;
  }

  private heard(runId: string, ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (wasTold: boolean) => {
        clearTimeout(timer);
        this.ends.off(runId, told);
        signal?.removeEventListener('abort', aborted);
        resolve(wasTold);
      };
      const told = () => done(true);
      const aborted = () => done(false);
      const timer = setTimeout(() => done(false), ms);
      this.ends.once(runId, told);
      signal?.addEventListener('abort', aborted, { once: true });
    });
  }
}
