import cluster from 'node:cluster';

/** Environment variable with the name of a process that the supervisor started. */
export const PROCESS_NAME = 'SUPERVISED_PROCESS';

/** Name of this process, such as `api-1` or `worker`; undefined unless a supervisor of this program started it. */
export const supervisedName = (): string | undefined => (process.connected ? process.env[PROCESS_NAME] : undefined);

/** Whether this process shares its port with others, not because of a process manager that uses Node's cluster itself. */
export const sharesPort = (): boolean => cluster.isWorker && supervisedName() !== undefined;
