import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The process that makes the load; see load-client.mjs. */
export class Load {
  constructor() {
    this.child = fork(fileURLToPath(new URL('load-client.mjs', import.meta.url)));
    this.waiting = new Map();
    this.count = 0;
    this.child.on('message', ({ id, result, error }) => {
      const { resolve, reject } = this.waiting.get(id);
      this.waiting.delete(id);
      if (error === undefined) resolve(result);
      else reject(new Error(error));
    });
    this.child.once('exit', () => {
      for (const { reject } of this.waiting.values()) reject(new Error('The load client ended'));
    });
  }

  /**
   * @param job.ports where to; the connections are spread evenly
   * @param job.requests taken in turn: `{ method, path, key, body? }`
   * @returns {Promise<{ rate: number, p50: number, p99: number, errors: Record<string, number> }>} requests per second
   *   that were answered 2xx, their latencies in milliseconds, and the other answers by status
   */
  measure(job) {
    const id = this.count++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.child.send({ id, job });
    });
  }

  close() {
    if (this.child.connected) this.child.disconnect();
  }
}
