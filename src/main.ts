import './bootstrap/environment.js';
import 'reflect-metadata';
import { requireFreePorts } from './bootstrap/free-ports.js';
import { fail } from './bootstrap/start-error.js';
import { endOnUncaught } from './bootstrap/uncaught.js';
import { mainHost } from './processes/main-host.js';
import { supervisedHost, supervisedName } from './processes/supervised-host.js';
import { databaseUrlWarnings } from './platform/config/database-url.js';
import { hostNote, settingWarnings } from './platform/config/setting-warnings.js';
import { readSettings } from './platform/config/settings.js';
import { createLogger } from './platform/observability/logger.js';

async function start(): Promise<void> {
  const settings = readSettings(process.env, process.stdout.isTTY);
  const log = createLogger(settings);
  const name = supervisedName();
  // Once, not by each process.
  if (name === undefined) {
    for (const warning of [...settingWarnings(process.env), ...databaseUrlWarnings(settings.databaseUrl)])
      log.warn(warning);
    const note = hostNote(process.env, settings);
    if (note !== undefined) log.info(note);
    await requireFreePorts(settings);
  }
  const isPrimary = name === undefined && settings.role === 'all';
  const logger = log.child({ name: name ?? (isPrimary ? 'primary' : settings.role) });
  endOnUncaught(logger);
  if (isPrimary) {
    // The primary process serves no requests, so it does not load the application.
    const { supervise } = await import('./processes/supervise.js');
    return supervise(settings, logger);
  }
  const host = name === undefined ? mainHost(settings, logger) : supervisedHost(name);
  const { serve } = await import('./bootstrap/serve.js');
  await serve(settings, logger, host);
}

await start().catch(fail);
