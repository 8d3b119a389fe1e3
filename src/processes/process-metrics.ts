import type { ChildProcess } from 'node:child_process';
import { AggregatorRegistry, type Registry } from 'prom-client';

/** Metrics of one process as JSON, one entry per metric. */
export type MetricsJson = readonly object[];

/** How long a process may take to answer; a scrape shows the others without it. */
const TIMEOUT_MS = 2_000;

/** Answers the supervisor's requests for the metrics of this process. */
export function offerMetricsTo(supervisor: NodeJS.Process, registry: Registry): void {
  supervisor.on('message', ({ kind }: { kind?: string }) => {
    if (kind !== 'metrics') return;
    void registry.getMetricsAsJSON().then((metrics) => supervisor.send?.({ kind, metrics }));
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
