import type { Server } from 'node:http';
import type { Logger } from 'pino';

/** How long requests under way may take to end before their connections are cut, in milliseconds. */
const DRAIN_MS = 10_000;
const PARENT_POLL_MS = 500;

/** Stops taking connections and waits until the requests under way have been answered. */
export async function drain(server: Server, logger: Logger): Promise<void> {
  await new Promise<void>((resolve) => {
    const cut = setTimeout(() => {
      logger.warn(`Cutting the connections that are still open after ${DRAIN_MS / 1000} s`);
      server.closeAllConnections();
    }, DRAIN_MS);
    server.close(() => {
      clearTimeout(cut);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/**
 * Calls `stop` once, at the first signal to end. Under `npm start` also when npm itself was killed: npm cannot pass on
 * SIGKILL, and a service left behind would keep the port.
 */
export function onEnd(env: NodeJS.ProcessEnv, stop: (reason: string) => void): void {
  let stopping = false;
  const once = (reason: string) => {
    if (stopping) return;
    stopping = true;
    stop(reason);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => once(signal));
  if (env['npm_lifecycle_event'] === 'start') {
    const parent = process.ppid;
    const watch = setInterval(() => {
      if (process.ppid !== parent) once('npm is gone');
    }, PARENT_POLL_MS);
    watch.unref();
  }
}
