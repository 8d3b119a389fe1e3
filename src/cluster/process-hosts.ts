import type { Logger } from 'pino';
import { supervisorChannel } from '../platform/cluster/messages.js';
import type { Settings } from '../platform/config/settings.js';
import type { ProcessHost } from '../bootstrap/serve.js';
import { onEnd } from '../bootstrap/shutdown.js';
import { listening } from '../bootstrap/start-error.js';

/** The process that serves alone. */
export const onlyProcess = ({ metricsPort, host }: Settings, logger: Logger): ProcessHost => ({
  async offerMetrics(metrics) {
    if (metricsPort !== undefined) await listening(metrics.listen(metricsPort, host), 'METRICS_PORT', metricsPort);
  },
  ready: (address) => logger.info(`Listening on ${address}, Swagger page at ${address}/docs`),
  onEnd: (stop) => onEnd(process.env, (reason) => stop(reason, false)),
});

/** One of several: the supervisor speaks for all of them and tells each one when to end. */
export function workerProcess(channel = supervisorChannel): ProcessHost {
  // A terminal sends these to the whole group, and the supervisor decides what they mean. When the supervisor itself is
  // gone, Node ends this process.
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => undefined);
  // Listened for from the beginning: it may come before this process is ready.
  const retired = new Promise<void>((resolve) => {
    channel.onMessage(({ kind }) => {
      if (kind === 'retire') resolve();
    });
  });
  return {
    offerMetrics(metrics) {
      channel.onMessage((message) => {
        if (message.kind !== 'metrics') return;
        const { request } = message;
        metrics.registry.getMetricsAsJSON().then(
          (values) => channel.send({ kind: 'metrics', request, metrics: values }),
          // Not answering is the answer: the supervisor does not wait for long.
          () => undefined,
        );
      });
      return Promise.resolve();
    },
    ready: (address) => channel.send({ kind: 'ready', address }),
    onEnd(stop) {
      let isStopping = false;
      const once = (reason: string, gently: boolean) => {
        if (!isStopping) stop(reason, gently);
        isStopping = true;
      };
      process.on('SIGTERM', () => once('SIGTERM', false));
      void retired.then(() => once('another process takes its place', true));
    },
  };
}
