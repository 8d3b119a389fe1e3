import type { ProcessHost } from '../bootstrap/serve.js';
import { offerMetricsTo } from './process-metrics.js';

/**
 * The host of a process that a supervisor started. Create it first: the process ends in order when its supervisor has ended,
 * also while it is still starting.
 * @param name of this process
 */
export function supervisedHost(name: string): ProcessHost {
  let isAbandoned = !process.connected;
  const abandoned = new Promise<void>((resolve) => {
    if (isAbandoned) resolve();
    process.once('disconnect', () => resolve());
  });
  void abandoned.then(() => (isAbandoned = true));
  // A terminal sends these to the whole process group; the supervisor decides what they mean.
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
      registry.setDefaultLabels({ process: name });
      offerMetricsTo(process, registry);
      return Promise.resolve();
    },
    ready: (address) => void process.send?.({ kind: 'ready', address }),
    onEnd(stop) {
      process.once('SIGTERM', () => stop('SIGTERM', false));
      void retired.then(() => stop('replaced by another process', true));
      void abandoned.then(() => stop('its supervisor has ended', false));
    },
    get isAbandoned() {
      return isAbandoned;
    },
  };
}
