import type { Worker } from 'node:cluster';
import { AggregatorRegistry } from 'prom-client';
import type { ProcessMetrics } from '../platform/cluster/messages.js';
import { tell } from './supervisor.js';

/** How long a process may take to say its metrics, in milliseconds; one that takes longer is left out this time. */
const ANSWER_MS = 1_000;

/** Where a process serves, and the process. */
export interface Serving {
  readonly slot: number;
  readonly worker: Worker;
}

/**
 * The metrics of all processes in one page. Each process's carry the number of its place as the label `process`, so
 * that Prometheus sees the counters of a replaced process begin anew, instead of a sum that falls.
 */
export class ClusterMetrics {
  private requests = 0;
  private readonly waiting = new Map<number, (metrics: ProcessMetrics) => void>();

  /** In the format of Prometheus. */
  async read(serving: readonly Serving[]): Promise<string> {
    const pages = await Promise.all(serving.map((one) => this.ask(one)));
    return AggregatorRegistry.aggregate(pages).metrics();
  }

  receive(request: number, metrics: ProcessMetrics): void {
    this.waiting.get(request)?.(metrics);
  }

  private async ask({ slot, worker }: Serving): Promise<ProcessMetrics> {
    const request = (this.requests += 1);
    const metrics = await new Promise<ProcessMetrics>((resolve) => {
      const late = setTimeout(() => resolve([]), ANSWER_MS);
      this.waiting.set(request, (answer) => {
        clearTimeout(late);
        resolve(answer);
      });
      tell(worker, { kind: 'metrics', request });
    });
    this.waiting.delete(request);
    for (const { values } of metrics) {
      for (const value of values) value.labels = { ...value.labels, process: String(slot) };
    }
    return metrics;
  }
}
