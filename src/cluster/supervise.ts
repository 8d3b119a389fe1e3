import { type AddressInfo, createServer } from 'node:net';
import type { Logger } from 'pino';
import { makeDataDir, openEmbeddedDatabase } from '../bootstrap/embedded-database.js';
import type { Settings } from '../platform/config/settings.js';
import { serveMetrics } from '../platform/observability/metrics.js';
import { SupervisorCounters } from '../platform/throttling/supervisor-counters.js';
import { onEnd } from '../bootstrap/shutdown.js';
import { fail, listening } from '../bootstrap/start-error.js';
import { ClusterMetrics } from './cluster-metrics.js';
import { Supervisor, tell } from './supervisor.js';

/**
 * Has several processes serve on one port. This one holds what they share: the port, the embedded database, the
 * counters of the rate limits and the page of metrics.
 * @throws StartError or EmbeddedPostgresError when it cannot begin
 */
export async function supervise(settings: Settings, logger: Logger): Promise<void> {
  const { host, metricsPort } = settings;
  const env: Record<string, string> = settings.port === 0 ? { PORT: String(await freePort(host)) } : {};
  await makeDataDir(settings.dataDir);
  // Held from before the first process until after the last one; they join it.
  const embedded = settings.databaseUrl === undefined ? await openEmbeddedDatabase(settings, logger) : undefined;
  const counters = new SupervisorCounters();
  const metrics = new ClusterMetrics();
  const stop = async () => {
    await supervisor.stop();
    await embedded?.close();
  };
  const failAfterStop = (error: unknown) => void stop().finally(() => fail(error));

  const supervisor = new Supervisor({
    processes: settings.webConcurrency,
    env,
    logger,
    onMessage(worker, message) {
      if (message.kind === 'count') {
        tell(worker, { kind: 'counted', batch: message.batch, counts: counters.answer(message.questions) });
      } else if (message.kind === 'metrics') {
        metrics.receive(message.request, message.metrics);
      }
    },
    onCrashLoop: failAfterStop,
  });

  let isEnding = false;
  onEnd(process.env, (reason) => {
    isEnding = true;
    logger.info(`Shutting down (${reason})`);
    stop().then(() => process.exit(0), fail);
  });
  process.on('SIGUSR2', () => void supervisor.restart());
  try {
    if (metricsPort !== undefined) {
      await listening(
        serveMetrics(metricsPort, host, () => metrics.read(supervisor.serving)),
        'METRICS_PORT',
        metricsPort,
      );
    }
    const address = await supervisor.start();
    if (isEnding) return;
    if (address === undefined) {
      // It has said why.
      await stop();
      process.exit(1);
    }
    logger.info(`${settings.webConcurrency} processes listen on ${address}, Swagger page at ${address}/docs`);
  } catch (error) {
    failAfterStop(error);
  }
}

/** PORT=0 would mean another port for every process that comes after all others have died. */
async function freePort(host: string): Promise<number> {
  const server = createServer();
  await listening(
    new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, host, resolve);
    }),
    'PORT',
    0,
  );
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
