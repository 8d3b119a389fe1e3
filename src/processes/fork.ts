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

const REQUESTS = 'requests';

/** A process of Node's cluster: all of them listen on one port. */
export const portProcess = (name: string): ProcessSpec => ({
  name,
  purpose: REQUESTS,
  fork() {
    const worker = cluster.fork({ ROLE: 'api', [PROCESS_NAME]: name });
    // The supervisor listens on the child process; an error event without a listener would end this process.
    worker.on('error', () => undefined);
    return worker.process;
  },
});

/** Not of Node's cluster, because a process manager may use that for this process. */
const ownProcess = (name: string, role: ProcessRole, purpose: string): ProcessSpec => ({
  name,
  purpose,
  fork() {
    const [, program = '', ...args] = process.argv;
    return fork(program, args, { env: { ...process.env, ROLE: role, [PROCESS_NAME]: name } });
  },
});

/** A process that serves HTTP, alone at its port. */
export const apiProcess = (): ProcessSpec => ownProcess('api', 'api', REQUESTS);

/** A process that runs jobs and calls. */
export const workerProcess = (name: string): ProcessSpec => ownProcess(name, 'worker', 'runs and webhook deliveries');
