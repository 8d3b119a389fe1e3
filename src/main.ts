import 'reflect-metadata';
import { requireFreePorts } from './bootstrap/free-ports.js';
import { fail } from './bootstrap/start-error.js';
import { supervisedHost } from './cluster/supervised-host.js';
import { supervisedName } from './platform/supervised-process.js';
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
  if (name !== undefined) {
    const host = supervisedHost(name);
    const { serve } = await import('./bootstrap/serve.js');
    return serve(settings, log.child({ name }), host);
  }
  if (settings.webConcurrency > 1) {
    // The primary process serves no requests, so it does not load the application.
    const { supervise } = await import('./cluster/supervise.js');
    return supervise(settings, log.child({ name: 'primary' }));
  }
  const { serve } = await import('./bootstrap/serve.js');
  const { mainHost } = await import('./cluster/main-host.js');
  const role = settings.role === 'all' ? 'api' : settings.role;
  const logger = log.child({ name: role });
  await serve({ ...settings, role }, logger, mainHost(settings, logger));
}

await start().catch(fail);
