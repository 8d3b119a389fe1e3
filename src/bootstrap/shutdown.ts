import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Logger } from 'pino';

/** How long requests under way may take to end before their connections are cut, in milliseconds. */
const DRAIN_MS = 10_000;
const PARENT_POLL_MS = 500;

/**
 * Stops taking connections and waits until the requests under way have been answered.
 * @param gently leaves idle connections to their clients until they would have been closed anyway (5 s, which the
 *   client was told): one that is just sending its next request is answered too
 */
export async function drain(server: Server, logger: Logger, gently = false): Promise<void> {
  // Whoever keeps a connection busy would otherwise stay on it until it is cut.
  server.prependListener('request', (_request, response: ServerResponse) => response.setHeader('Connection', 'close'));
  await new Promise<void>((resolve) => {
    const cut = setTimeout(() => {
      logger.warn(`Cutting the connections that are still open after ${DRAIN_MS / 1000} s`);
      server.closeAllConnections();
    }, DRAIN_MS);
    const closed = () => {
      clearTimeout(cut);
      resolve();
    };
    // The way of http.Server closes idle connections at once.
    if (gently) NetServer.prototype.close.call(server, closed);
    else server.close(closed);
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
