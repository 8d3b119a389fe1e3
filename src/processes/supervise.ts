import type { Logger } from 'pino';
import { makeDataDir, openEmbeddedDatabase } from '../bootstrap/embedded-database.js';
import { exitAfter, onEnd } from '../bootstrap/shutdown.js';
import { fail, listening } from '../bootstrap/start-error.js';
import { afterUncaught } from '../bootstrap/uncaught.js';
import type { Settings } from '../platform/config/settings.js';
import { serveMetrics } from '../platform/observability/metrics.js';
import { listens } from './main-host.js';
import { Supervisor } from './supervisor.js';

/**
 * Runs the primary process, which serves no requests itself: it holds the embedded database and the page of metrics for
 * the API process and the worker process, and keeps both running.
 * @throws StartError or EmbeddedPostgresError
 */
export async function supervise(settings: Settings, logger: Logger): Promise<void> {
  const { host, metricsPort } = settings;
  await makeDataDir(settings.dataDir);
  // Opened before the first process and closed after the last one; they join it.
  const embedded = settings.databaseUrl === undefined ? await openEmbeddedDatabase(settings, logger, fail) : undefined;
  const supervisor = new Supervisor(logger);
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= supervisor.stop().then(() => embedded?.close()));
  afterUncaught(stop);
  onEnd(process.env, (reason) => {
    logger.info(`Shutting down (${reason})`);
    exitAfter(stop, 0);
  });
  try {
    if (metricsPort !== undefined) {
      const server = serveMetrics(metricsPort, host, () => supervisor.metrics());
      await listening(server, 'METRICS_PORT', metricsPort);
    }
    // Alone: it migrates the database and creates the first key.
    const address = await supervisor.start('api');
    if (address !== undefined) {
      logger.info(listens(address));
      // Not earlier: it would slow down the start of the API.
      supervisor.keep('worker');
    } else if (!supervisor.isStopping) {
      // The process has printed why it could not start.
      await stop();
      process.exit(1);
    }
  } catch (error) {
    await stop();
    throw error;
  }
}
