import { type ChildProcess, fork } from 'node:child_process';
import cluster from 'node:cluster';
import type { ProcessRole } from '../platform/config/settings.js';
import { PROCESS_NAME } from '../platform/supervised-process.js';

/** How a process is started. */
export interface ProcessSpec {
  /** Unique, for logs and metrics. */
  readonly name: string;
  /** What is interrupted while the process is down, for the log. */
  readonly purpose: string;
  fork(): ChildProcess;
}

/** A process of Node's cluster: all of them listen on one port. */
export const portProcess = (name: string): ProcessSpec => ({
  name,
  purpose: 'requests',
  fork() {
    const worker = cluster.fork({ ROLE: 'api', [PROCESS_NAME]: name });
    // The supervisor listens on the child process; an error event without a listener would end this process.
    worker.on('error', () => undefined);
    return worker.process;
  },
});

/** A process that runs jobs and calls. Not of Node's cluster, because a process manager may use that for this process. */
export const workerProcess = (name: string): ProcessSpec => ({
  name,
  purpose: 'runs and webhook deliveries',
  fork() {
    const role: ProcessRole = 'worker';
    const [, program = '', ...args] = process.argv;
    return fork(program, args, { env: { ...process.env, ROLE: role, [PROCESS_NAME]: name } });
  },
});
