import { setTimeout as sleep } from 'node:timers/promises';
import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  type OnModuleDestroy,
} from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import {
  afterAttempt,
  type Attempt,
  unstartedCall,
  type CallResult,
  CallView,
  failure,
} from '../../../../libs/simulation/index.js';
import { SETTINGS } from '../../../platform/config/settings.module.js';
import type { Settings } from '../../../platform/config/settings.js';
import { isDatabaseUnavailable } from '../../../platform/database/failures.js';
import { messageOf } from '../../../platform/errors/message-of.js';
import { Notifications } from '../../../platform/database/notifications.js';
import type { JobContext } from '../../../platform/queue/job.js';
import { GroupCommit } from '../../../platform/queue/group-commit.js';
import { PrioritySemaphore } from '../../../platform/queue/priority-semaphore.js';
import { withRetry } from '../../../platform/queue/with-retry.js';
import { Queue } from '../../../platform/queue/queue.js';
import { QueueWorker } from '../../../platform/queue/queue-worker.js';
import { RUN_CANCELLED } from '../progress/channels.js';
import { CallExecutor } from './call-executor.js';
import {
  type Claim,
  type ClaimedCall,
  type EndedCall,
  endedCall,
  ExecutionRepository,
  type FreeLane,
  LEASE_MS,
} from './execution.repository.js';
import { LANE, laneKey, MAX_LANES } from './lane-job.js';
import { RunFinisher } from './run-finisher.js';

const RENEW_MS = LEASE_MS / 4;
/** First calls start at random within this time, for each call in progress: calls that start together stay together (decision 61). */
const START_SPREAD_MS = 2;
/** How long a lane goes on before it lets those that wait have a turn, in milliseconds. */
const TURN_MS = 5_000;
/** Calls that one statement ends at most, and the characters of their results, which may be long. */
const MAX_ENDED_CALLS = 100;
const MAX_ENDED_CHARACTERS = 4 * 1024 * 1024;

interface Held {
  readonly call: ClaimedCall;
  readonly abort: AbortController;
}

/** Carries out the calls of this process. */
@Injectable()
export class RunWorker implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Logger('Runs');
  /** Calls under way, by their claims. */
  private readonly held = new Map<string, Held>();
  /** Of hundreds of calls at once only a few may use the database, so that requests always find a connection. */
  private readonly database: PrioritySemaphore;
  /** By agent id, because claims of one agent wait for each other anyway. */
  private readonly claims = new LRUCache<string, GroupCommit<FreeLane, Claim>>({ max: 1_000 });
  private readonly ends: GroupCommit<EndedCall, boolean>;
  private isStopping = false;
  private renewing: NodeJS.Timeout | undefined;

  constructor(
    private readonly queue: Queue,
    private readonly worker: QueueWorker,
    private readonly repository: ExecutionRepository,
    private readonly executor: CallExecutor,
    private readonly finisher: RunFinisher,
    notifications: Notifications,
    @Inject(SETTINGS) { databasePoolSize }: Settings,
  ) {
    this.database = new PrioritySemaphore(Math.max(1, Math.floor(databasePoolSize / 2)));
    this.ends = new GroupCommit({
      maxItems: MAX_ENDED_CALLS,
      size: { of: ({ json }) => json.length, max: MAX_ENDED_CHARACTERS },
      concurrency: 2,
      execute: (calls) => withRetry(this.database, () => this.repository.end(calls)),
    });
    queue.handle(LANE, (lane, context) => this.lane(lane, context));
    queue.onSweep(() => this.sweep());
    notifications.subscribe(RUN_CANCELLED, (runId) => this.drop(({ call }) => call.runId === runId));
  }

  onApplicationBootstrap(): void {
    this.renewing = setInterval(() => void this.renew(), RENEW_MS);
    this.renewing.unref();
  }

  /** No further call is begun; those under way have the queue's grace time to end. */
  onModuleDestroy(): void {
    this.isStopping = true;
  }

  onApplicationShutdown(): void {
    clearInterval(this.renewing);
  }

  private async lane(job: { agentId: string; lane: number }, context: JobContext): Promise<void> {
    try {
      await this.carryOutCalls(job, context);
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      // The sweep makes new lanes as soon as it can: sooner than the queue would try this one again.
      this.logger.warn(`Call execution paused: database unavailable: ${messageOf(error)}`);
    }
  }

  private async carryOutCalls({ agentId, lane }: { agentId: string; lane: number }, { signal }: JobContext) {
    let until = performance.now() + TURN_MS;
    let previous: string | undefined;
    while (!this.isStopping && !signal.aborted) {
      if (performance.now() > until) {
        if (await this.worker.shouldYield(LANE.kind)) break;
        until += TURN_MS;
      }
      const claim = await this.claim(agentId, { previousRun: previous });
      if (previous !== undefined && claim.isPreviousOver) await this.finisher.finish(previous);
      if (!claim.call) return;
      await this.carryOut(claim.call, signal, previous === undefined);
      previous = claim.call.runId;
    }
    if (previous !== undefined && (await this.repository.isOver(previous))) await this.finisher.finish(previous);
    // At the end of the queue, so that the lanes of all agents come by turns.
    await this.queue.enqueue(LANE, { agentId, lane }, { jobKey: laneKey(agentId, lane), priority: lane });
  }

  private claim(agentId: string, lane: FreeLane): Promise<Claim> {
    let claims = this.claims.get(agentId);
    if (!claims) {
      claims = new GroupCommit({
        maxItems: MAX_LANES,
        execute: (lanes) => this.database.run(() => this.repository.claim(agentId, lanes)),
      });
      this.claims.set(agentId, claims);
    }
    return claims.add(lane);
  }

  /** @param isFirst whether its lane has just begun */
  private async carryOut(call: ClaimedCall, stop: AbortSignal, isFirst: boolean): Promise<void> {
    const abort = new AbortController();
    const stopped = () => abort.abort(new ShuttingDown());
    stop.addEventListener('abort', stopped, { once: true });
    if (stop.aborted) stopped();
    this.held.set(call.claimId, { call, abort });
    if (isFirst) await sleep(Math.random() * START_SPREAD_MS * this.held.size);
    const startedAt = new Date().toISOString();
    try {
      const result = await this.attempt(call, abort.signal);
      await this.recordSurely(call, result, startedAt);
    } catch (error) {
      const { reason } = abort.signal as { reason: unknown };
      if (reason instanceof LeaseLost) return;
      if (!(reason instanceof ShuttingDown)) throw error;
      await withRetry(this.database, () => this.repository.release(call));
    } finally {
      this.held.delete(call.claimId);
      stop.removeEventListener('abort', stopped);
    }
  }

  /** What goes wrong in the tester itself is a result, too: thrown, it would be tried again for ever. */
  private async attempt(call: ClaimedCall, signal: AbortSignal): Promise<CallResult> {
    try {
      return await this.executor.carryOut(call, signal);
    } catch (error) {
      if (signal.aborted || isDatabaseUnavailable(error)) throw error;
      this.logger.error(new Error(`Call ${call.id} could not be begun`, { cause: error }));
      return unstartedCall('none', failure('internal'));
    }
  }

  /** A result that the database refuses is a fault of the tester's: thrown, it would keep the call until its lease is over. */
  private async recordSurely(call: ClaimedCall, result: CallResult, startedAt: string): Promise<void> {
    try {
      await this.record(call, result, startedAt);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      this.logger.error(new Error(`The result of call ${call.id} cannot be stored`, { cause: error }));
      await this.record(call, unstartedCall('none', failure('internal', 'its result cannot be stored')), startedAt);
    }
  }

  private async record(call: ClaimedCall, result: CallResult, startedAt: string): Promise<void> {
    const mayGoOn = result.outcome === 'error' || result.outcome === 'invalid';
    const earlier = mayGoOn ? await withRetry(this.database, () => this.repository.attempts(call.id)) : [];
    const after = afterAttempt(result, earlier);
    const { outcome, failure: cause, reason } = after.next === 'end' ? after.result : result;
    const endedAt = new Date().toISOString();
    const attempt: Attempt = { outcome, failureCode: cause?.code ?? null, reason, startedAt, endedAt };
    if (after.next === 'retry') {
      await withRetry(this.database, () => this.repository.tryAgain(call, attempt, after.delayMs));
      return;
    }
    const latencies = CallView.of(after.result.timeline).latencies;
    const isOurs = await this.ends.add(endedCall(call, after.result, latencies, attempt));
    if (!isOurs) this.logger.warn(`The result of call ${call.id} came too late: it had been taken away`);
  }

  /** Keeps the claims of this process, and gives up what was taken away: cancelled, or thought dead. */
  private async renew(): Promise<void> {
    const calls = [...this.held.values()].map(({ call }) => call);
    if (calls.length === 0) return;
    try {
      const kept = await this.database.run(() => this.repository.renew(calls), { isUrgent: true });
      const asked = new Set(calls.map(({ claimId }) => claimId));
      this.drop(({ call }) => asked.has(call.claimId) && !kept.has(call.claimId));
    } catch (error) {
      this.logger.warn(`Claims on calls cannot be renewed: ${messageOf(error)}`);
    }
  }

  private drop(isConcerned: (held: Held) => boolean): void {
    for (const held of this.held.values()) if (isConcerned(held)) held.abort.abort(new LeaseLost());
  }

  private async sweep(): Promise<void> {
    await this.repository.sweep();
    for (const id of await this.repository.findOver()) await this.finisher.finish(id);
  }
}

/** Why a call is given up: somebody else decides on it now. */
class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** Why a call is given up: this process ends, and another one is to carry it out. */
class ShuttingDown extends Error {
  override readonly name = 'ShuttingDown';
}
