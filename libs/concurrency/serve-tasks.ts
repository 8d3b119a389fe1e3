import { parentPort } from 'node:worker_threads';

/** The first message of a thread: its module is loaded. */
export const READY = 'ready';

/**
 * Makes this thread run the tasks of a `ThreadPool`. Tasks and results are plain data. An exception or a rejection ends the
 * thread.
 * @param moved buffers of a result that move to the other thread instead of being copied
 */
export function serveTasks<Task, Result>(
  work: (task: Task) => Result | Promise<Result>,
  moved: (result: Result) => readonly ArrayBuffer[] = () => [],
): void {
  if (!parentPort) throw new Error('serveTasks must be called in a worker thread');
  const port = parentPort;
  const run = async (task: Task): Promise<void> => {
    const result = await work(task);
    port.postMessage(result, moved(result));
  };
  port.on('message', (task: Task) => void run(task));
  port.postMessage(READY);
}
