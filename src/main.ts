import 'reflect-metadata';
import { fail } from './bootstrap/start-error.js';
import { isWorkerProcess } from './platform/cluster/worker-process.js';
import { readSettings } from './platform/config/settings.js';
import { createLogger } from './platform/observability/logger.js';

async function start(): Promise<void> {
  const settings = readSettings(process.env, process.stdout.isTTY);
  const logger = createLogger(settings);
  if (settings.webConcurrency > 1 && !isWorkerProcess(settings)) {
    // The primary process serves no requests, so it does not load the application.
    const { supervise } = await import('./cluster/supervise.js');
    return supervise(settings, logger);
  }
  const { serve } = await import('./bootstrap/serve.js');
  const { singleProcess } = await import('./bootstrap/single-process.js');
  const { workerHost } = await import('./cluster/worker-host.js');
  await serve(settings, logger, isWorkerProcess(settings) ? workerHost() : singleProcess(settings, logger));
}

await start().catch(fail);
