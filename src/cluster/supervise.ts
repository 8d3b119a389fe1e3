import type { Logger } from 'pino';
import { AggregatorRegistry } from 'prom-client';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import { makeDataDir, openEmbeddedDatabase } from '../bootstrap/embedded-database.js';
import { onEnd } from '../bootstrap/shutdown.js';
import { fail, listening } from '../bootstrap/start-error.js';
import type { Settings } from '../platform/config/settings.js';
import { serveMetrics } from '../platform/observability/metrics.js';
import { Supervisor } from './supervisor.js';

/**
 * Runs the primary process, which serves no requests itself: it holds the port, the embedded database, the rate-limit
 * counters and the page of metrics for its worker processes.
 * @throws StartError or EmbeddedPostgresError
 */
export async function supervise(settings: Settings, logger: Logger): Promise<void> {
  const { host, metricsPort, webConcurrency } = settings;
  await makeDataDir(settings.dataDir);
  // Opened before the first process and closed after the last one; they join it.
  const embedded = settings.databaseUrl === undefined ? await openEmbeddedDatabase(settings, logger) : undefined;
  new RateLimiterClusterMaster();
  const supervisor = new Supervisor(logger);
  const stop = async () => {
    await supervisor.stop();
    await embedded?.close();
  };
  onEnd(process.env, (reason) => {
    logger.info(`Shutting down (${reason})`);
    stop().then(() => process.exit(0), fail);
  });
  process.on('SIGUSR2', () => void supervisor.restart());
  try {
    const registry = new AggregatorRegistry();
    if (metricsPort !== undefined) {
      const server = serveMetrics(metricsPort, host, () => registry.clusterMetrics());
      await listening(server, 'METRICS_PORT', metricsPort);
    }
    const address = await supervisor.start(webConcurrency);
    if (address !== undefined) {
      logger.info(`${webConcurrency} processes listen on ${address}, Swagger page at ${address}/docs`);
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
