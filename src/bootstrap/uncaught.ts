import { inspect } from 'node:util';
import type { Logger } from 'pino';
import { activities } from '../platform/observability/activity.js';
import { exitAfter } from './shutdown.js';

/** What ends this process in order, as far as it has been started. */
let end: () => Promise<void> = () => Promise.resolve();
let isEnding = false;

/** @param stop ends this process in order after an error that nothing caught, from now on */
export function afterUncaught(stop: () => Promise<void>): void {
  end = stop;
}

/**
 * Logs each error that nothing caught with what was being done, and ends the process with code 1: its state is unknown, so
 * it takes no more work, but what it has begun is completed or handed back.
 */
export function endOnUncaught(logger: Logger): void {
  const handle = (thrown: unknown) => {
    const err = thrown instanceof Error ? thrown : new Error(inspect(thrown));
    try {
      logger.fatal({ err, ...activities() }, 'An error that nothing caught ends this process');
    } catch {
      // The log itself may have failed: a full disk, for instance.
      process.stderr.write(`An error that nothing caught ends this process: ${err.stack}\n`);
    }
    if (isEnding) return;
    isEnding = true;
    exitAfter(end, 1);
  };
  // Both, because NODE_OPTIONS can turn rejections into warnings.
  process.on('uncaughtException', handle).on('unhandledRejection', handle);
}
