import { Logger } from '@nestjs/common';
import {
  afterAttempt,
  attemptOf,
  type CallResult,
  failure,
  type NextStep,
  responseLatencies,
  unstartedCall,
} from '../../../libs/simulation/index.js';
import { isDatabaseUnavailable } from '../../platform/database/failures.js';
import { GroupCommit } from '../../platform/queue/group-commit.js';
import type { PrioritySemaphore } from '../../../libs/concurrency/index.js';
import { withRetry } from '../../platform/queue/with-retry.js';
import { attemptResultJson } from './attempt-result.js';
import {
  type CallHistory,
  type ClaimedCall,
  type EndedCall,
  endedCall,
  type ExecutionRepository,
} from './execution.repository.js';

const NO_HISTORY: CallHistory = { attempts: [], isDerived: false, isPaidUp: false };

/** How long a call waits when its platform had no capacity for it and does not say how long, and at most, in milliseconds. */
const BUSY_MS = 5_000;
const MAX_BUSY_MS = 60_000;

/** Maximum number of calls that one statement ends, and of characters of their results. */
const MAX_ENDED_CALLS = 100;
const MAX_ENDED_CHARACTERS = 4 * 1024 * 1024;

/** Records how attempts at calls ended: the call ends, or is retried. */
export class AttemptRecorder {
  private readonly logger = new Logger('Runs');
  private readonly ends: GroupCommit<EndedCall, boolean>;

  /** @param database limits the connections in use */
  constructor(
    private readonly repository: ExecutionRepository,
    private readonly database: PrioritySemaphore,
  ) {
    this.ends = new GroupCommit({
      maxItems: MAX_ENDED_CALLS,
      size: { of: ({ json }) => json.length, max: MAX_ENDED_CHARACTERS },
      concurrency: 2,
      execute: (calls) => withRetry(database, () => repository.end(calls)),
    });
  }

  /** Records an internal error if the database rejects the result; otherwise the call would wait for its lease to expire. */
  async ended(call: ClaimedCall, result: CallResult, startedAt: string): Promise<void> {
    try {
      await this.record(call, result, startedAt);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      this.logger.error(new Error(`The result of call ${call.id} cannot be stored`, { cause: error }));
      await this.record(call, unstartedCall('none', failure('internal', 'its result cannot be stored')), startedAt);
    }
  }

  /** @param known what is known of the result */
  async interrupted(call: ClaimedCall, known: CallResult | undefined, startedAt: string): Promise<void> {
    const json = known && attemptResultJson(known);
    await withRetry(this.database, () => this.repository.release(call, startedAt, json));
  }

  private async record(call: ClaimedCall, result: CallResult, startedAt: string): Promise<void> {
    const busyMs = busyFor(result, call.credential !== null);
    // If its connection has changed, it was not dialled, and does not wait for the platform.
    const isDialled = result.versions.transport !== 'none';
    if (busyMs !== undefined) return withRetry(this.database, () => this.repository.wait(call, busyMs, isDialled));
    const mayRetry = result.outcome === 'error' || result.outcome === 'invalid';
    const history = mayRetry ? await withRetry(this.database, () => this.repository.history(call.id)) : undefined;
    const after = next(result, history);
    const times = { startedAt, endedAt: new Date().toISOString() };
    const attempt = attemptOf(after.next === 'end' ? after.result : result, times);
    if (after.next === 'retry') {
      const json = attemptResultJson(result);
      await withRetry(this.database, () => this.repository.retry(call, attempt, json, after.delayMs));
      return;
    }
    const latencies = responseLatencies(after.result);
    const isRecorded = await this.ends.add(endedCall(call, after.result, latencies, attempt));
    if (!isRecorded) this.logger.warn(`The result of call ${call.id} was discarded: its lease was lost`);
  }
}

/** A call that took place is judged again once: its recording does not change, nor what a real caller did. */
const next = (result: CallResult, { attempts, isDerived, isPaidUp }: CallHistory = NO_HISTORY): NextStep =>
  isDerived || (result.outcome === 'invalid' && result.versions.caller === 'recorded')
    ? { next: 'end', result }
    : afterAttempt(result, attempts, { isLast: isPaidUp });

/**
 * How long to wait for capacity, if the platform had none; undefined if it had some.
 * @param usesCapacity without it, too many requests need not mean that
 */
function busyFor({ failure: broken, answeredTurns }: CallResult, usesCapacity: boolean): number | undefined {
  const isBusy = broken?.code === 'platform_busy' || (usesCapacity && broken?.code === 'rate_limited');
  return broken && isBusy && answeredTurns === 0 ? Math.min(broken.retryAfterMs ?? BUSY_MS, MAX_BUSY_MS) : undefined;
}
