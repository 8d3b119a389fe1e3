import type { Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Logger } from 'pino';

/** How long running requests may take before their connections are closed, in milliseconds. */
const DRAIN_MS = 10_000;
/** How long idle connections stay open for a request that is on its way, in milliseconds. */
const IDLE_MS = 5_000;
const PARENT_POLL_MS = 500;

/**
 * Stops accepting connections and waits for the running requests.
 * @param gently keeps idle connections open for a time, so that a request that a client is just sending gets its response;
 *   not until their announced keep-alive time is over, which would delay the replacement of the process by minutes
 */
export async function drain(server: Server, logger: Logger, gently = false): Promise<void> {
  // A client that keeps a connection busy would otherwise use it until it is closed by force.
  server.prependListener('request', (_request, response: ServerResponse) => response.setHeader('Connection', 'close'));
  await new Promise<void>((resolve) => {
    const timeout = setTimeout(() => {
      logger.warn(`Closing connections that are still open after ${DRAIN_MS / 1000} s`);
      server.closeAllConnections();
    }, DRAIN_MS);
    const closed = () => {
      clearTimeout(timeout);
      resolve();
    };
    // Unlike http.Server's close(), net.Server's leaves idle connections open.
    if (gently) {
      NetServer.prototype.close.call(server, closed);
      setTimeout(() => server.closeIdleConnections(), IDLE_MS).unref();
    } else server.close(closed);
  });
}

/**
 * Calls `stop` once, at the first termination signal. Under `npm start` also when npm itself is killed: npm cannot
 * forward SIGKILL, and an orphaned service would keep the port.
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
      if (process.ppid !== parent) once('npm has exited');
    }, PARENT_POLL_MS);
    watch.unref();
  }
}
