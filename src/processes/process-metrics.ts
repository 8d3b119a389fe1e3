import type { ChildProcess } from 'node:child_process';
import { AggregatorRegistry, type Registry } from 'prom-client';

/** Metrics of one process as JSON, one entry per metric. */
export type MetricsJson = readonly object[];

/** How long a process may take to answer; a scrape shows the others without it. */
const TIMEOUT_MS = 2_000;

/** Sends a message to the supervisor. It may have ended a moment ago: then `disconnect` follows, and the error says nothing more. */
export const sendToSupervisor = (message: object): void =>
  void process.send?.(message, undefined, undefined, () => undefined);

/** Answers the supervisor's requests for the metrics of this process. */
export function offerMetrics(registry: Registry): void {
  process.on('message', ({ kind }: { kind?: string }) => {
    if (kind !== 'metrics') return;
    void registry.getMetricsAsJSON().then((metrics) => sendToSupervisor({ kind, metrics }));
  });
}

/** The metrics of a supervised process; none if it does not answer in time. */
export function metricsOf(child: ChildProcess): Promise<MetricsJson> {
  return new Promise((resolve) => {
    const settle = (metrics: MetricsJson) => {
      clearTimeout(timeout);
      child.off('message', receive);
      resolve(metrics);
    };
    const receive = ({ kind, metrics }: { kind?: string; metrics?: MetricsJson }) => {
      if (kind === 'metrics' && metrics) settle(metrics);
    };
    const timeout = setTimeout(() => settle([]), TIMEOUT_MS);
    child.on('message', receive);
    child.send({ kind: 'metrics' }, (error) => {
      if (error) settle([]);
    });
  });
}

/** The metrics of several processes in Prometheus format. Their labels differ, so nothing is summed or left out. */
export function mergeMetrics(processes: readonly MetricsJson[]): Promise<string> {
  const all = processes.map((metrics) => metrics.map((metric) => ({ ...metric, aggregator: 'first' })));
  return AggregatorRegistry.aggregate(all).metrics();
}
