import { availableParallelism } from 'node:os';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { ThreadLimitExceeded, ThreadPool } from '../../../../libs/concurrency/index.js';
import { DomainError, invalidInput } from '../../../platform/errors/domain-error.js';
import type { CheckedFile } from './check-file.js';
import type { ImportOutcome, ImportTask } from './import-thread.js';

/** Leaves a processor to everything else. */
const MAX_THREADS = Math.max(1, Math.min(2, availableParallelism() - 1));
/** Several times what a valid file of 10 MiB needs. */
const HEAP_MIB = 192;
/** Several times what a valid file of 10 MiB takes, in milliseconds. */
const TIMEOUT_MS = 15_000;
const IDLE_MS = 30_000;

/** A file as the import gets it: validated, or the reason why that was impossible. */
export type ReadFile = { readonly file: CheckedFile } | { readonly error: DomainError };

/** Parses and validates files in worker threads (decision 70). */
@Injectable()
export class ImportThreads implements OnApplicationShutdown {
  private readonly pool = new ThreadPool<ImportTask, ImportOutcome>({
    entry: new URL('./import-thread.js', import.meta.url),
    threads: MAX_THREADS,
    heapMiB: HEAP_MIB,
    timeoutMs: TIMEOUT_MS,
    idleMs: IDLE_MS,
  });

  /** An invalid file is a result and no exception. The bytes move to the thread: the caller can no longer read them. */
  async read(task: ImportTask): Promise<ReadFile> {
    try {
      const outcome = await this.pool.run(task, [task.bytes.buffer]);
      if ('file' in outcome) return outcome;
      const { code, issues } = outcome.refusal;
      return { error: new DomainError(code, undefined, issues) };
    } catch (error) {
      if (!(error instanceof ThreadLimitExceeded)) throw error;
      return { error: errorOf(error) };
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.close();
  }
}

const errorOf = ({ limit }: ThreadLimitExceeded): DomainError =>
  limit === 'memory'
    ? new DomainError('PAYLOAD_TOO_LARGE', undefined, ['body takes too much memory to check'])
    : invalidInput('body takes too long to check');
