import type { Logger } from 'pino';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import { makeDataDir, openEmbeddedDatabase } from '../bootstrap/embedded-database.js';
import { onEnd } from '../bootstrap/shutdown.js';
import { fail, listening } from '../bootstrap/start-error.js';
import type { Settings } from '../platform/config/settings.js';
import { serveMetrics } from '../platform/observability/metrics.js';
import { portProcess, type ProcessSpec, workerProcess } from './fork.js';
import { Supervisor } from './supervisor.js';

/**
 * Runs the primary process, which serves no requests itself: it holds the port, the embedded database, the rate-limit
 * counters and the page of metrics for its processes.
 * @throws StartError or EmbeddedPostgresError
 */
export async function supervise(settings: Settings, logger: Logger): Promise<void> {
  const { host, metricsPort } = settings;
  await makeDataDir(settings.dataDir);
  // Opened before the first process and closed after the last one; they join it.
  const embedded = settings.databaseUrl === undefined ? await openEmbeddedDatabase(settings, logger, fail) : undefined;
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
    if (metricsPort !== undefined) {
      const server = serveMetrics(metricsPort, host, () => supervisor.metrics());
      await listening(server, 'METRICS_PORT', metricsPort);
    }
    const [first, ...others] = processes(settings) as [ProcessSpec, ...ProcessSpec[]];
    // Alone: it migrates the database and creates the first key.
    const address = await supervisor.start(first);
    if (address !== undefined) {
      await Promise.all(others.map((spec) => supervisor.keep(spec)));
      const count = `${settings.webConcurrency} processes`;
      logger.info(
        address === '' ? `${count} run jobs` : `${count} listen on ${address}, Swagger page at ${address}/docs`,
      );
      if (settings.role === 'all') void supervisor.keep(workerProcess('worker'));
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

/** Those of WEB_CONCURRENCY. */
function processes({ role, webConcurrency }: Settings): ProcessSpec[] {
  return Array.from({ length: webConcurrency }, (_, n) =>
    role === 'worker' ? workerProcess(`worker-${n + 1}`) : portProcess(`api-${n + 1}`),
  );
}
