import cluster from 'node:cluster';
import type { Settings } from '../config/settings.js';

/** Whether this process was forked because of WEB_CONCURRENCY, and not by a process manager that uses cluster itself. */
export const isWorkerProcess = ({ webConcurrency }: Pick<Settings, 'webConcurrency'>): boolean =>
  webConcurrency > 1 && cluster.isWorker;
