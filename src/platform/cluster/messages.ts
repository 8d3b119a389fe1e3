import cluster from 'node:cluster';
import type { Registry } from 'prom-client';
import type { Settings } from '../config/settings.js';
import type { Beginning, SharedCount } from '../throttling/counter-link.js';

/** A counter to add to, as it goes from a worker process to the supervisor. */
export type CountQuestion = readonly [key: string, points: number, beginning: Beginning];

/** The metrics of one process as JSON. */
export type ProcessMetrics = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** What a worker process says to the supervisor. */
export type ToSupervisor =
  | { readonly kind: 'ready'; readonly address: string }
  | { readonly kind: 'count'; readonly batch: number; readonly questions: readonly CountQuestion[] }
  | { readonly kind: 'metrics'; readonly request: number; readonly metrics: ProcessMetrics };

/** What the supervisor says to a worker process. */
export type ToWorker =
  | { readonly kind: 'counted'; readonly batch: number; readonly counts: readonly SharedCount[] }
  | { readonly kind: 'metrics'; readonly request: number }
  /** End once every request under way and every kept connection has had its answer: another process serves. */
  | { readonly kind: 'retire' };

/** The supervisor as a worker process sees it. */
export interface SupervisorChannel {
  send(message: ToSupervisor): void;
  onMessage(listener: (message: ToWorker) => void): void;
}

/** Whether this process is one of the several that serve under a supervisor. */
export const isWorkerProcess = ({ webConcurrency }: Pick<Settings, 'webConcurrency'>): boolean =>
  // Alone, it may well be a worker in somebody else's cluster, such as a process manager's.
  webConcurrency > 1 && cluster.isWorker;

/** The way to the supervisor of this process. Without it there is nothing to say: Node ends the process at once. */
export const supervisorChannel: SupervisorChannel = {
  send: (message) => void process.send?.(message, undefined, undefined, () => undefined),
  onMessage: (listener) => void process.on('message', listener),
};
