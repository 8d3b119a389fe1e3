import type { ProcessHost } from '../bootstrap/serve.js';
import { offerMetrics, sendToSupervisor } from './process-metrics.js';

/** Environment variable with the name of a process that the supervisor started. */
export const PROCESS_NAME = 'SUPERVISED_PROCESS';

/**
 * Name of this process, `api` or `worker`; undefined unless a supervisor of this program started it. The supervisor may have
 * ended since: `connected` is false then, and undefined where there was none.
 */
export const supervisedName = (): string | undefined =>
  (process.connected as boolean | undefined) === undefined ? undefined : process.env[PROCESS_NAME];

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
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  return {
    // The API starts first, and says what is true of both.
    isFirst: name === 'api',
    offerMetrics({ registry }) {
      // Keeps the processes apart: a sum would fall when one is replaced, which looks like a reset of all counters.
      registry.setDefaultLabels({ process: name });
      offerMetrics(registry);
      return Promise.resolve();
    },
    ready: (address) => sendToSupervisor({ kind: 'ready', address }),
    onEnd(stop) {
      process.once('SIGTERM', () => stop('SIGTERM'));
      void abandoned.then(() => stop('its supervisor has ended'));
    },
    get isAbandoned() {
      return isAbandoned;
    },
  };
}
