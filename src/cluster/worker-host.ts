import { AggregatorRegistry } from 'prom-client';
import type { ProcessHost } from '../bootstrap/serve.js';

/** The host of one of several processes. Node ends it when the primary process is gone. */
export function workerHost(): ProcessHost {
  // A terminal sends these to the whole process group; the primary process decides what they mean.
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => undefined);
  // From the beginning, because it may arrive before this process is ready.
  const retired = new Promise<void>((resolve) => {
    process.on('message', ({ kind }: { kind?: string }) => {
      if (kind === 'retire') resolve();
    });
  });
  return {
    offerMetrics({ registry }) {
      // Keeps the processes apart: a sum would fall when one is replaced, which looks like a reset of all counters.
      registry.setDefaultLabels({ process: process.env['PROCESS_NUMBER'] ?? '' });
      AggregatorRegistry.setRegistries(registry);
      // Answers the primary process's requests for metrics.
      new AggregatorRegistry();
      return Promise.resolve();
    },
    ready: (address) => void process.send?.({ kind: 'ready', address }),
    onEnd(stop) {
      process.once('SIGTERM', () => stop('SIGTERM', false));
      void retired.then(() => stop('replaced by another process', true));
    },
  };
}
