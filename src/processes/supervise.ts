import type { Logger } from 'pino';
import { RateLimiterClusterMaster } from 'rate-limiter-flexible';
import { makeDataDir, openEmbeddedDatabase } from '../bootstrap/embedded-database.js';
import { exitAfter, onEnd } from '../bootstrap/shutdown.js';
import { fail, listening } from '../bootstrap/start-error.js';
import { afterUncaught } from '../bootstrap/uncaught.js';
import type { Settings } from '../platform/config/settings.js';
import { serveMetrics } from '../platform/observability/metrics.js';
import { apiProcess, portProcess, type ProcessSpec, workerProcess } from './fork.js';
import { listens } from './main-host.js';
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
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= supervisor.stop().then(() => embedded?.close()));
  afterUncaught(stop);
  onEnd(process.env, (reason) => {
    logger.info(`Shutting down (${reason})`);
    exitAfter(stop, 0);
  });
  if (settings.webConcurrency > 1) process.on('SIGUSR2', () => void supervisor.restart());
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
      const who = settings.webConcurrency > 1 ? `${count} listen` : 'Listening';
      logger.info(address === '' ? `${count} run jobs` : listens(address, who));
      // Not earlier: it would slow down the start of the API.
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
  if (webConcurrency === 1) return [apiProcess()];
  return Array.from({ length: webConcurrency }, (_, n) =>
    role === 'worker' ? workerProcess(`worker-${n + 1}`) : portProcess(`api-${n + 1}`),
  );
}
