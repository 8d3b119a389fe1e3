import 'reflect-metadata';
import { createApp } from './app.setup.js';
import { isPlainError, messageOf, openFoundation, StartError } from './foundation.js';
import { FirstKeyService } from './modules/api-keys/first-key.service.js';
import { isGeneratedKey } from './modules/api-keys/key-format.js';
import { readSettings } from './platform/config/settings.js';
import { createLogger } from './platform/observability/logger.js';
import { Readiness } from './platform/observability/readiness.js';
import { drain, onEnd } from './shutdown.js';
import { welcome } from './welcome.js';

async function start(): Promise<void> {
  const settings = readSettings(process.env, process.stdout.isTTY);
  const logger = createLogger(settings);
  const foundation = await openFoundation(settings, logger);
  const { nest, metrics } = await createApp(foundation, logger).catch(async (error: unknown) => {
    await foundation.release();
    throw error;
  });
  const server = nest.getHttpServer();

  const stop = async () => {
    nest.get(Readiness).isShuttingDown = true;
    await drain(server, logger);
    await nest.close();
    // Last: requests and jobs under way needed the database until now.
    await foundation.release();
  };
  try {
    if (settings.role !== 'worker') await listen(nest.listen(settings.port, settings.host), 'PORT', settings.port);
    if (settings.metricsPort !== undefined) {
      await listen(metrics.listen(settings.metricsPort, settings.host), 'METRICS_PORT', settings.metricsPort);
    }
    // After the ports: a start that fails on one must not leave a first key behind that nobody was shown.
    if (settings.bootstrapApiKey !== undefined && !isGeneratedKey(settings.bootstrapApiKey)) {
      logger.warn('BOOTSTRAP_API_KEY has not the form of a generated key, so a secret scanner will not recognise it');
    }
    const firstKey = await nest.get(FirstKeyService).bootstrap(settings.bootstrapApiKey);
    const address = addressOf(settings.host, server.address());
    logger.info(`Listening on ${address}, Swagger page at ${address}/docs`);
    if (firstKey && settings.bootstrapApiKey === undefined) process.stdout.write(welcome(address, firstKey));
  } catch (error) {
    await stop();
    throw error;
  }

  onEnd(process.env, (reason) => {
    logger.info(`Shutting down (${reason})`);
    stop().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  });
}

async function listen(listening: Promise<unknown>, setting: string, port: number): Promise<void> {
  try {
    await listening;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EADDRNOTAVAIL') {
      throw new StartError('HOST is no address of this machine. Set HOST to one of its own, or to 0.0.0.0', { cause });
    }
    const reason =
      (cause as NodeJS.ErrnoException).code === 'EADDRINUSE' ? 'is in use by another process' : messageOf(cause);
    throw new StartError(`${setting}=${port} ${reason}. Set ${setting} to another port`, { cause });
  }
}

function addressOf(host: string, bound: ReturnType<import('node:net').Server['address']>): string {
  const port = typeof bound === 'object' && bound ? bound.port : 0;
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

function fail(error: unknown): never {
  process.stderr.write(
    isPlainError(error) ? `${error.message}\n` : `${error instanceof Error ? error.stack : String(error)}\n`,
  );
  process.exit(1);
}

await start().catch(fail);
