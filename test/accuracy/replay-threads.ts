import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { Progress } from './progress.js';
import type { ReplayCell } from './replay-cells.js';
import type { Replay } from './replay-hashes.js';

export const startReplayThreads = (): Promise<Threads<ReplayCell, Replay>> =>
  Threads.start(new URL('./replay-thread.ts', import.meta.url));

/** One thread for each core; each makes one call after the other. */
export class Threads<Cell, Result> {
  private constructor(private readonly threads: readonly Worker[]) {}

  /** @param url of a thread that answers each cell with a result */
  static async start<Cell, Result>(url: URL): Promise<Threads<Cell, Result>> {
    const threads = Array.from({ length: availableParallelism() }, () => new Worker(url));
    await Promise.all(threads.map((thread) => once(thread, 'message')));
    return new Threads(threads);
  }

  get size(): number {
    return this.threads.length;
  }

  /** @param threadOf thread of the cell at an index, modulo their number @returns in the order of the cells */
  async runAll(title: string, cells: readonly Cell[], threadOf = (index: number): number => index): Promise<Result[]> {
    const results: Result[] = [];
    const progress = new Progress(title, cells.length);
    const work = async (thread: Worker, number: number) => {
      for (const [index, cell] of cells.entries()) {
        if (threadOf(index) % this.size !== number) continue;
        results[index] = await resultOf<Cell, Result>(thread, cell);
        progress.advance();
      }
    };
    await Promise.all(this.threads.map(work));
    progress.end();
    return results;
  }

  /** Makes these calls in every thread, so that what they synthesise is cached afterwards. */
  async warmUp(cells: readonly Cell[]): Promise<void> {
    const work = async (thread: Worker) => {
      for (const cell of cells) await resultOf<Cell, Result>(thread, cell);
    };
    await Promise.all(this.threads.map(work));
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.terminate()));
  }
}

async function resultOf<Cell, Result>(thread: Worker, cell: Cell): Promise<Result> {
  thread.postMessage(cell);
  const [result] = (await once(thread, 'message')) as [Result];
  return result;
}
