import type { Logger } from 'pino';
import type { Settings } from '../platform/config/settings.js';
import type { ProcessHost } from './serve.js';
import { onEnd } from './shutdown.js';
import { listening } from './start-error.js';

/** The host of a service that runs in one process. */
export const singleProcess = ({ metricsPort, host }: Settings, logger: Logger): ProcessHost => ({
  async offerMetrics(metrics) {
    if (metricsPort !== undefined) await listening(metrics.listen(metricsPort, host), 'METRICS_PORT', metricsPort);
  },
  ready: (address) => logger.info(`Listening on ${address}, Swagger page at ${address}/docs`),
  onEnd: (stop) => onEnd(process.env, (reason) => stop(reason, false)),
});
