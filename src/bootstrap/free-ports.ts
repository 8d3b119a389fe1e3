import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Settings } from '../platform/config/settings.js';
import { listening } from './start-error.js';

/**
 * Checks that PORT and METRICS_PORT are free at HOST, before a database is started that would have to be stopped again.
 * @throws StartError with the setting to change
 */
export async function requireFreePorts({ role, host, port, metricsPort }: Settings): Promise<void> {
  if (role !== 'worker') await listening(tryPort(host, port), 'PORT', port);
  if (metricsPort !== undefined) await listening(tryPort(host, metricsPort), 'METRICS_PORT', metricsPort);
}

async function tryPort(host: string, port: number): Promise<void> {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  await new Promise((resolve) => server.close(resolve));
}
