import 'reflect-metadata';
import { isWorkerProcess } from './platform/cluster/messages.js';
import { readSettings } from './platform/config/settings.js';
import { createLogger } from './platform/observability/logger.js';
import { fail } from './bootstrap/start-error.js';

async function start(): Promise<void> {
  const settings = readSettings(process.env, process.stdout.isTTY);
  const logger = createLogger(settings);
  if (settings.webConcurrency > 1 && !isWorkerProcess(settings)) {
    // This process serves nothing itself, so it does not load what it takes to serve.
    const { supervise } = await import('./cluster/supervise.js');
    return supervise(settings, logger);
  }
  const { serve } = await import('./bootstrap/serve.js');
  const { onlyProcess, workerProcess } = await import('./cluster/process-hosts.js');
  await serve(settings, logger, isWorkerProcess(settings) ? workerProcess() : onlyProcess(settings, logger));
}

await start().catch(fail);
