import type { Logger } from 'pino';
import type { Settings } from '../platform/config/settings.js';
import type { ProcessHost } from '../bootstrap/serve.js';
import { onEnd } from '../bootstrap/shutdown.js';
import { fail, listening } from '../bootstrap/start-error.js';
import { serveMetrics } from '../platform/observability/metrics.js';

/** The host of a process that an administrator started: `ROLE=api` or `ROLE=worker`. */
export function mainHost({ metricsPort, host }: Settings, logger: Logger): ProcessHost {
  return {
    isFirst: true,
    async offerMetrics({ registry }) {
      if (metricsPort === undefined) return;
      await listening(
        serveMetrics(metricsPort, host, () => registry.metrics()),
        'METRICS_PORT',
        metricsPort,
      );
    },
    ready(address) {
      logger.info(address === undefined ? 'Running jobs and calls' : listens(address));
    },
    onEnd: (stop) => onEnd(process.env, stop),
    isAbandoned: false,
    onDatabaseLost: fail,
  };
}

export const listens = (address: string) => `Listening on ${address}, Swagger page at ${address}/docs`;
