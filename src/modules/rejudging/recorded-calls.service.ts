import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { abortable, ThreadPool } from '../../../libs/concurrency/index.js';
import { type CallResult, failure, unstartedCall } from '../../../libs/simulation/index.js';
import { RecordingsService } from '../recordings/recordings.service.js';
import type { Judged } from '../runs/runs.service.js';
import { RecordedCallsRepository } from './recorded-calls.repository.js';
import type { RemeasureOutcome, RemeasureTask } from './remeasure-thread.js';

/** One at a time: the processor is needed for calls, and nobody waits for a single call. */
const THREADS = 1;
/** Several times what a call of an hour needs. */
const HEAP_MIB = 1_024;
/** Several times what a call of an hour takes, in milliseconds. */
const TIMEOUT_MS = 120_000;
const IDLE_MS = 30_000;

/** Judges recorded calls again, in a thread: the latencies of text calls must not contain it. */
@Injectable()
export class RecordedCalls implements OnApplicationShutdown {
  private readonly pool = new ThreadPool<RemeasureTask, RemeasureOutcome>({
    entry: new URL('./remeasure-thread.js', import.meta.url),
    threads: THREADS,
    heapMiB: HEAP_MIB,
    timeoutMs: TIMEOUT_MS,
    idleMs: IDLE_MS,
  });

  constructor(
    private readonly repository: RecordedCallsRepository,
    private readonly recordings: RecordingsService,
  ) {}

  /**
   * The result of the call that a call of a derived run judges again, computed from its recording. Without one the result is
   * the failure `not_remeasured`.
   * @throws the signal's reason
   */
  async remeasure(callId: string, judged: Judged, signal: AbortSignal): Promise<CallResult> {
    const source = await this.repository.find(callId);
    const paths = source && this.recordings.pathsOf(source.recording);
    if (!paths) return notRemeasured('it was deleted');
    const { result: recorded, earlier } = source;
    const task = { ...judged, recorded, earlier, audio: paths.audio, facts: paths.facts };
    const outcome = await abortable(this.pool.run(task), signal);
    return 'result' in outcome ? outcome.result : notRemeasured(outcome.refusal);
  }

  /** The result that a call of a derived run judges again; undefined if it was deleted. */
  result(callId: string): Promise<CallResult | undefined> {
    return this.repository.result(callId);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.close();
  }
}

const notRemeasured = (why: string): CallResult => unstartedCall('none', failure('not_remeasured', why));
