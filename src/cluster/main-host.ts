import type { Logger } from 'pino';
import type { Settings } from '../platform/config/settings.js';
import type { ProcessHost } from '../bootstrap/serve.js';
import { onEnd } from '../bootstrap/shutdown.js';
import { fail, listening } from '../bootstrap/start-error.js';
import { serveMetrics } from '../platform/observability/metrics.js';
import { workerProcess } from './fork.js';
import { Supervisor } from './supervisor.js';

/**
 * The host of a process that an administrator started. With the role `all` a worker process runs beside it, so that no
 * request delays a measurement.
 */
export function mainHost({ role, metricsPort, host }: Settings, logger: Logger): ProcessHost {
  const supervisor = new Supervisor(logger);
  const hasWorker = role === 'all';
  return {
    async offerMetrics({ registry }) {
      if (metricsPort === undefined) return;
      if (hasWorker) registry.setDefaultLabels({ process: 'api' });
      const read = () => (hasWorker ? supervisor.metrics(registry) : registry.metrics());
      await listening(serveMetrics(metricsPort, host, read), 'METRICS_PORT', metricsPort);
    },
    ready(address) {
      logger.info(
        address === undefined ? 'Running jobs and calls' : `Listening on ${address}, Swagger page at ${address}/docs`,
      );
      // Not earlier: it would slow down the start of the API.
      if (hasWorker) void supervisor.keep(workerProcess('worker'));
    },
    onEnd: (stop) => onEnd(process.env, (reason) => stop(reason, false)),
    stopOthers: () => supervisor.stop(),
    onDatabaseLost: fail,
  };
}
