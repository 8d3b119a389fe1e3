import type { Pool } from 'pg';

/**
 * Makes broken connections an affair of whoever uses them: without listeners they would end the process. The pool's own
 * listener does not cover a connection that it has just handed out: a server that is ending says so in the same packet
 * in which it lets a client in, before anybody can have listened.
 */
export function surviveBrokenConnections<Connections extends Pool>(pool: Connections): Connections {
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}
