import cluster from 'node:cluster';

/** Environment variable with the name of a process that the supervisor started. */
export const PROCESS_NAME = 'SUPERVISED_PROCESS';

/**
 * Name of this process, such as `api-1` or `worker`; undefined unless a supervisor of this program started it. The supervisor
 * may have ended since: `connected` is false then, and undefined where there was none.
 */
export const supervisedName = (): string | undefined =>
  (process.connected as boolean | undefined) === undefined ? undefined : process.env[PROCESS_NAME];

/** Whether this process shares its port with others, not because of a process manager that uses Node's cluster itself. */
export const sharesPort = (): boolean => cluster.isWorker && supervisedName() !== undefined;
