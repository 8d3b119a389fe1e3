import { EventEmitter } from 'node:events';
import { Injectable } from '@nestjs/common';
import { Database } from '../../../platform/database/database.js';
import { Notifications } from '../../../platform/database/notifications.js';
import { Readiness } from '../../../platform/observability/readiness.js';
import { RUN_ENDED } from './channels.js';

/** For notifications that did not arrive, in milliseconds. */
const POLL_MS = 1_000;

const ENDED = `SELECT EXISTS (SELECT 1 FROM runs WHERE id = $1 AND status NOT IN ('QUEUED', 'RUNNING')) AS "hasEnded"`;

/** Waits for the ends of runs. */
@Injectable()
export class RunWatcher {
  private readonly ends = new EventEmitter().setMaxListeners(0);

  constructor(
    private readonly database: Database,
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
      if (wasTold || (await this.hasEnded(runId))) return true;
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

  private async hasEnded(runId: string): Promise<boolean> {
    const [row] = await this.database.query<{ hasEnded: boolean }>(ENDED, [runId]);
    return row?.hasEnded ?? true;
  }
}
