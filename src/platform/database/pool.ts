import type { Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { FairPool } from './fair-pool.js';

/**
 * Leaves broken connections to the statements that use them: an error event without a listener would end the process. The
 * pool's own listener does not cover a client that it has just handed out: a server that is shutting down can send its
 * error in the same packet as the end of the handshake.
 */
export function surviveBrokenConnections<Connections extends Pool>(pool: Connections): Connections {
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Connects a data source. @throws the driver's error if that fails */
export async function openDataSource(dataSource: DataSource): Promise<DataSource> {
  await dataSource.initialize();
  surviveBrokenConnections(poolOf(dataSource));
  return dataSource;
}

/** The pool of a data source that is initialized. */
export const poolOf = ({ driver }: DataSource): FairPool => (driver as unknown as { master: FairPool }).master;
