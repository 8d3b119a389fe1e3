import type { Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { fail } from './start-error.js';

/** How long running requests may take before their connections are closed, in milliseconds. */
const DRAIN_MS = 10_000;
const BUSY_POLL_MS = 50;
const PARENT_POLL_MS = 500;
/** How long a process may take to end in order: less than its supervisor waits, which may have ended itself. */
const END_MS = 25_000;

/** Ends this process after `stop`, which may take 25 s. @param code a later 0 does not replace a 1 */
export function exitAfter(stop: () => Promise<void>, code: 0 | 1): void {
  process.exitCode ||= code;
  setTimeout(() => process.exit(1), END_MS).unref();
  stop().then(() => process.exit(), fail);
}

/**
 * Stops accepting connections and waits for the running requests.
 * @param isBusy accepts connections until it returns false, so that clients and load balancers learn why this process ends
 */
export async function drain(server: Server, logger: Logger, isBusy = () => false): Promise<void> {
  // A client that keeps a connection busy would otherwise use it until it is closed by force.
  server.prependListener('request', (_request, response: ServerResponse) => response.setHeader('Connection', 'close'));
  let isOver = false;
  const timeout = setTimeout(() => {
    logger.warn(`Closing connections that are still open after ${DRAIN_MS / 1000} s`);
    isOver = true;
    server.closeAllConnections();
  }, DRAIN_MS);
  while (isBusy() && !isOver) await sleep(BUSY_POLL_MS);
  await new Promise<void>((resolve) => {
    server.close(() => {
      clearTimeout(timeout);
      resolve();
    });
  });
}

/**
 * Calls `stop` once, at the first termination signal. Under `npm start` and `npm run start:prod` also when npm itself is
 * killed: npm cannot forward SIGKILL, and an orphaned service would keep the port.
 */
export function onEnd(env: NodeJS.ProcessEnv, stop: (reason: string) => void): void {
  let stopping = false;
  const once = (reason: string) => {
    if (stopping) return;
    stopping = true;
    stop(reason);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => once(signal));
  if (/^start(:prod)?$/.test(env['npm_lifecycle_event'] ?? '')) {
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (process.ppid !== parent) once('npm has exited');
    }, PARENT_POLL_MS);
    watch.unref();
  }
}
