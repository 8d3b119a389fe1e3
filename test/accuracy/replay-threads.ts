import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { Progress } from './progress.js';
import type { ReplayCell } from './replay-cells.js';
import type { Replay } from './replay-hashes.js';

/** One thread for each core; each makes one call after the other. */
export class ReplayThreads {
  private constructor(private readonly threads: readonly Worker[]) {}

  static async start(): Promise<ReplayThreads> {
    const url = new URL('./replay-thread.ts', import.meta.url);
    const threads = Array.from({ length: availableParallelism() }, () => new Worker(url));
    await Promise.all(threads.map((thread) => once(thread, 'message')));
    return new ReplayThreads(threads);
  }

  get size(): number {
    return this.threads.length;
  }

  /** @param threadOf thread of the cell at an index, modulo their number @returns in the order of the cells */
  async replayAll(
    title: string,
    cells: readonly ReplayCell[],
    threadOf = (index: number): number => index,
  ): Promise<Replay[]> {
    const replays: Replay[] = [];
    const progress = new Progress(title, cells.length);
    const work = async (thread: Worker, number: number) => {
      for (const [index, cell] of cells.entries()) {
        if (threadOf(index) % this.size !== number) continue;
        replays[index] = await replayIn(thread, cell);
        progress.advance();
      }
    };
    await Promise.all(this.threads.map(work));
    progress.end();
    return replays;
  }

  /** Makes these calls in every thread, so that what they synthesise is cached afterwards. */
  async warmUp(cells: readonly ReplayCell[]): Promise<void> {
    const work = async (thread: Worker) => {
      for (const cell of cells) await replayIn(thread, cell);
    };
    await Promise.all(this.threads.map(work));
  }

  async close(): Promise<void> {
    await Promise.all(this.threads.map((thread) => thread.terminate()));
  }
}

async function replayIn(thread: Worker, cell: ReplayCell): Promise<Replay> {
  thread.postMessage(cell);
  const [replay] = (await once(thread, 'message')) as [Replay];
  return replay;
}
