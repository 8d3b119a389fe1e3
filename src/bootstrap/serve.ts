import type { Server } from 'node:net';
import type { Logger } from 'pino';
import { createApp } from '../app.setup.js';
import { openAppContext } from './app-context.js';
import { FirstKeyService } from '../modules/api-keys/first-key.service.js';
import { PlanRatesService } from '../modules/workspaces/plan-rates.service.js';
import { isGeneratedKey } from '../modules/api-keys/key-format.js';
import type { Settings } from '../platform/config/settings.js';
import type { Metrics } from '../platform/observability/metrics.js';
import { isBusy } from '../platform/observability/activity.js';
import { Readiness } from '../platform/observability/readiness.js';
import { connectionWarning } from './connection-limit.js';
import { createFirstKey } from './first-key.js';
import { listening } from './start-error.js';
import { drain, exitAfter } from './shutdown.js';
import { afterUncaught } from './uncaught.js';
import { welcome } from './welcome.js';
import { voiceMemoryWarning } from './voice-memory.js';

/** What differs between the process that was started and those that it started. */
export interface ProcessHost {
  /** Whether this process says what is true of all that one start has. */
  readonly isFirst: boolean;
  /** Exposes the metrics of this process. @throws StartError */
  offerMetrics(metrics: Metrics): Promise<void>;
  /** Called once, when this process serves requests or runs jobs. @param address undefined if it serves none */
  ready(address: string | undefined): void;
  /** @param stop to be called once */
  onEnd(stop: (reason: string) => void): void;
  /** Whether the process that started this one has ended already. */
  readonly isAbandoned: boolean;
  /** Called when the embedded database cannot be restarted. Undefined if another process restarts it. */
  readonly onDatabaseLost?: (reason: Error) => void;
}

/**
 * Serves in this process until it is stopped.
 * @throws StartError, SettingsError or EmbeddedPostgresError if it cannot start
 */
export async function serve(settings: Settings, logger: Logger, host: ProcessHost): Promise<void> {
  const appContext = await openAppContext(settings, logger, host.onDatabaseLost);
  // Not earlier: the last process of an installation stops the embedded database.
  if (host.isAbandoned) return exitAfter(() => appContext.release(), 0);
  afterUncaught(() => appContext.release());
  const { nest, metrics } = await createApp(appContext, logger).catch(async (error: unknown) => {
    await appContext.release();
    throw error;
  });
  const server = nest.getHttpServer();
  const readiness = nest.get(Readiness);
  readiness.isStarting = true;

  const stopOnce = async () => {
    readiness.isShuttingDown = true;
    await drain(server, logger, () => readiness.failure !== undefined && server.listening && isBusy());
    await nest.close();
    // Last: running requests and jobs needed the database until now.
    await appContext.release();
  };
  let stopping: Promise<void> | undefined;
  const stop = () => (stopping ??= stopOnce());
  afterUncaught(() => {
    readiness.failure = 'this process ends because of an error that nothing caught; its log has the error';
    return stop();
  });
  try {
    if (settings.role !== 'worker') await listening(nest.listen(settings.port, settings.host), 'PORT', settings.port);
    await host.offerMetrics(metrics);
    // After the ports, so that a start that fails on one does not create a key that is never shown.
    if (settings.bootstrapApiKey !== undefined && !isGeneratedKey(settings.bootstrapApiKey)) {
      logger.warn('BOOTSTRAP_API_KEY does not look like a generated key, so secret scanners will not recognise it');
    }
    const memory = voiceMemoryWarning(settings);
    if (memory !== undefined) logger.warn(memory);
    const connections = host.isFirst ? await connectionWarning(appContext.dataSource, settings) : undefined;
    if (connections !== undefined) logger.warn(connections);
    const address = addressOf(settings.host, server.address());
    // A process without HTTP applies no rates, and cannot name the address of the first steps.
    const isApi = settings.role !== 'worker';
    const firstKey = isApi
      ? await createFirstKey(nest.get(FirstKeyService), settings, process.stdout.isTTY)
      : undefined;
    if (isApi) await nest.get(PlanRatesService).publish();
    readiness.isStarting = false;
    host.ready(isApi ? address : undefined);
    if (firstKey) process.stdout.write(welcome(address, firstKey));
  } catch (error) {
    await stop();
    throw error;
  }

  host.onEnd((reason) => {
    logger.info(`Shutting down (${reason})`);
    exitAfter(stop, 0);
  });
}

function addressOf(host: string, bound: ReturnType<Server['address']>): string {
  const port = typeof bound === 'object' && bound ? bound.port : 0;
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
