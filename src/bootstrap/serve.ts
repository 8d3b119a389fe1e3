import type { Server } from 'node:net';
import type { Logger } from 'pino';
import { createApp } from '../app.setup.js';
import { openAppContext } from './app-context.js';
import { FirstKeyService } from '../modules/api-keys/first-key.service.js';
import { isGeneratedKey } from '../modules/api-keys/key-format.js';
import type { Settings } from '../platform/config/settings.js';
import type { Metrics } from '../platform/observability/metrics.js';
import { Readiness } from '../platform/observability/readiness.js';
import { fail, listening } from './start-error.js';
import { drain } from './shutdown.js';
import { welcome } from './welcome.js';

/** What differs between the only process and one of several. */
export interface ProcessHost {
  /** Makes the metrics of this process available. @throws StartError */
  offerMetrics(metrics: Metrics): Promise<void>;
  /** Told once, when this process serves and its database has answered. */
  ready(address: string): void;
  /** @param stop to be called once: `gently` when another process takes over what this one does */
  onEnd(stop: (reason: string, gently: boolean) => void): void;
}

/**
 * Serves in this process until it is told to end.
 * @throws StartError, SettingsError or EmbeddedPostgresError when it cannot begin
 */
export async function serve(settings: Settings, logger: Logger, host: ProcessHost): Promise<void> {
  const appContext = await openAppContext(settings, logger);
  const { nest, metrics } = await createApp(appContext, logger).catch(async (error: unknown) => {
    await appContext.release();
    throw error;
  });
  const server = nest.getHttpServer();

  const stop = async (gently: boolean) => {
    nest.get(Readiness).isShuttingDown = true;
    await drain(server, logger, gently);
    await nest.close();
    // Last: requests and jobs under way needed the database until now.
    await appContext.release();
  };
  try {
    if (settings.role !== 'worker') await listening(nest.listen(settings.port, settings.host), 'PORT', settings.port);
    await host.offerMetrics(metrics);
    // After the ports: a start that fails on one must not leave a first key behind that nobody was shown.
    if (settings.bootstrapApiKey !== undefined && !isGeneratedKey(settings.bootstrapApiKey)) {
      logger.warn('BOOTSTRAP_API_KEY has not the form of a generated key, so a secret scanner will not recognise it');
    }
    const firstKey = await nest.get(FirstKeyService).bootstrap(settings.bootstrapApiKey);
    const address = addressOf(settings.host, server.address());
    host.ready(address);
    if (firstKey && settings.bootstrapApiKey === undefined) process.stdout.write(welcome(address, firstKey));
  } catch (error) {
    await stop(false);
    throw error;
  }

  host.onEnd((reason, gently) => {
    logger.info(`Shutting down (${reason})`);
    stop(gently).then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  });
}

function addressOf(host: string, bound: ReturnType<Server['address']>): string {
  const port = typeof bound === 'object' && bound ? bound.port : 0;
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
