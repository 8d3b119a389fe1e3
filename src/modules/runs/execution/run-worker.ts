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
  attemptOf,
  unstartedCall,
  type CallResult,
  CallView,
  failure,
  warmUp,
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
import { attemptResultJson } from '../attempt-result.js';
import { ConnectionService } from '../../agents/connection/connection.service.js';
import { type CallEvents, CallExecutor, OtherMedium } from './call-executor.js';
import {
  type Claim,
  type ClaimedCall,
  type EndedCall,
  endedCall,
  ExecutionRepository,
  type FreeSlot,
  LEASE_MS,
} from './execution.repository.js';
import { FairSlots } from './fair-slots.js';
import { MAX_SLOTS, MEDIA, type Medium, type SlotJob, slotKey, SLOTS } from './slot-job.js';
import { RunFinisher } from './run-finisher.js';

const RENEW_MS = LEASE_MS / 4;
/**
 * First calls of slots start after a random delay of up to this time per call in progress: calls that start together stay
 * synchronised (decision 61).
 */
const START_SPREAD_MS = 2;
/**
 * How long a parked job waits in the queue, in milliseconds, unless this process resumes it: only another process may have
 * room earlier. Longer when there are many, so that a workspace causes at most 20 attempts per second.
 */
const PARKED_MS = 5_000;
const PARKED_MS_PER_JOB = 50;
/** How long a slot job runs before it yields to waiting jobs, in milliseconds. */
const TIME_SLICE_MS = 5_000;
/** Maximum number of calls that one statement ends, and of characters of their results. */
const MAX_ENDED_CALLS = 100;
const MAX_ENDED_CHARACTERS = 4 * 1024 * 1024;

interface HeldCall {
  readonly call: ClaimedCall;
  readonly abort: AbortController;
}

/** Runs slot jobs: executes the calls that this process claims and records their results. */
@Injectable()
export class RunWorker implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Logger('Runs');
  /** Calls in progress, by claim id. */
  private readonly held = new Map<string, HeldCall>();
  private readonly slots: Readonly<Record<Medium, FairSlots>>;
  /** Limits the connections that concurrent calls use, so that some remain for requests. */
  private readonly database: PrioritySemaphore;
  /** By medium and agent id, because claims of one agent are serialised anyway. */
  private readonly claims = new LRUCache<string, GroupCommit<FreeSlot, Claim>>({ max: 1_000 });
  private readonly ends: GroupCommit<EndedCall, boolean>;
  private isStopping = false;
  private warmedUp: Promise<void> | undefined;
  private renewing: NodeJS.Timeout | undefined;

  constructor(
    private readonly queue: Queue,
    private readonly worker: QueueWorker,
    private readonly repository: ExecutionRepository,
    private readonly executor: CallExecutor,
    private readonly finisher: RunFinisher,
    private readonly connections: ConnectionService,
    notifications: Notifications,
    @Inject(SETTINGS) { databasePoolSize }: Settings,
  ) {
    const fairSlots = (medium: Medium) => new FairSlots(worker.concurrency(SLOTS[medium].kind));
    this.slots = { text: fairSlots('text'), sound: fairSlots('sound') };
    this.database = new PrioritySemaphore(Math.max(1, Math.floor(databasePoolSize / 2)));
    this.ends = new GroupCommit({
      maxItems: MAX_ENDED_CALLS,
      size: { of: ({ json }) => json.length, max: MAX_ENDED_CHARACTERS },
      concurrency: 2,
      execute: (calls) => withRetry(this.database, () => this.repository.end(calls)),
    });
    for (const medium of MEDIA) queue.handle(SLOTS[medium], (job, context) => this.runSlot(medium, job, context));
    queue.onSweep(() => this.sweep());
    notifications.subscribe(RUN_CANCELLED, (runId) => this.drop(({ call }) => call.runId === runId));
  }

  onApplicationBootstrap(): void {
    this.renewing = setInterval(() => void this.renew(), RENEW_MS);
    this.renewing.unref();
  }

  /** Starts no further calls; those in progress have the queue's grace period to end. */
  onModuleDestroy(): void {
    this.isStopping = true;
  }

  onApplicationShutdown(): void {
    clearInterval(this.renewing);
  }

  private async runSlot(medium: Medium, job: SlotJob, context: JobContext): Promise<void> {
    // Not at start, because most processes of a test never execute a call.
    this.warmedUp ??= warmUp().catch((error: unknown) => {
      this.logger.warn(`The latency of the first calls may include compilation: ${messageOf(error)}`);
    });
    await this.warmedUp;
    try {
      const slots = this.slots[medium];
      if (!slots.take(job)) return await this.park(medium, job);
      let resumed: SlotJob[] = [];
      let isUnfinished = false;
      try {
        isUnfinished = await this.runCalls(medium, job, context);
      } finally {
        resumed = slots.release(job);
      }
      for (const parked of resumed) await this.enqueue(medium, parked);
      // Behind them and the jobs of other workspaces, so that agents take turns.
      if (isUnfinished) await this.enqueue(medium, job);
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error;
      // The sweep enqueues new slot jobs sooner than the queue would retry this one.
      this.logger.warn(`Call execution paused: database unavailable: ${messageOf(error)}`);
    }
  }

  private enqueue(medium: Medium, { agentId, workspaceId, slot }: SlotJob, runAt?: Date): Promise<void> {
    const payload = { agentId, ...(workspaceId !== undefined && { workspaceId }), slot };
    return this.queue.enqueue(SLOTS[medium], payload, {
      jobKey: slotKey(medium, agentId, slot),
      priority: slot,
      ...(runAt && { runAt }),
    });
  }

  /** Ends the job of a workspace that has its share of the slots. It stays in the queue in case this process dies. */
  private async park(medium: Medium, job: SlotJob): Promise<void> {
    const slots = this.slots[medium];
    const delay = Math.max(PARKED_MS, slots.parkedBeside(job) * PARKED_MS_PER_JOB);
    await this.enqueue(medium, job, new Date(Date.now() + delay));
    if (!slots.park(job)) await this.enqueue(medium, job);
  }

  /** @returns whether calls may be left */
  private async runCalls(medium: Medium, job: SlotJob, context: JobContext): Promise<boolean> {
    const { agentId } = job;
    const { signal } = context;
    let until = performance.now() + TIME_SLICE_MS;
    let previousRun: string | undefined;
    let isFirst = true;
    while (!this.isStopping && !signal.aborted) {
      if (performance.now() > until) {
        if (this.slots[medium].parkedBeside(job) > 0 || (await this.worker.shouldYield(SLOTS[medium].kind))) break;
        until += TIME_SLICE_MS;
      }
      const claim = await this.claim(medium, agentId, { previousRun });
      if (previousRun !== undefined && claim.isPreviousRunOver) await this.finisher.finish(previousRun);
      if (!claim.call) return false;
      const next = await this.runCall(claim.call, job, context, { spreadStart: isFirst });
      if (next === 'other-slot') return false;
      previousRun = next === 'ended' ? claim.call.runId : undefined;
      isFirst = false;
    }
    if (previousRun !== undefined) await this.finishIfOver(previousRun);
    return true;
  }

  /**
   * Executes a call until its slot is free: a call with sound is checked and judged after that, beside the next one.
   * @returns `detached` if the call has not ended; `other-slot` if it needs a slot of the other kind
   */
  private async runCall(
    call: ClaimedCall,
    job: SlotJob,
    { signal, shutdown, detach }: JobContext,
    { spreadStart }: { spreadStart: boolean },
  ): Promise<'ended' | 'detached' | 'other-slot'> {
    let hangUp = () => {};
    const hungUp = new Promise<'detached'>((resolve) => (hangUp = () => resolve('detached')));
    const stops = call.medium === 'sound' ? [signal, shutdown] : [signal];
    const ended = this.execute(call, job.slot, stops, { spreadStart, onHangUp: hangUp });
    const next = await Promise.race([ended, hungUp]);
    if (next === 'detached') detach(this.completed(call, job, ended));
    return next;
  }

  /** Continues after a call that ended without a slot. Never rejects. */
  private async completed({ runId, medium }: ClaimedCall, job: SlotJob, ended: Promise<unknown>): Promise<void> {
    try {
      await ended;
      await this.finishIfOver(runId);
      // The agent has room for another call.
      if (!this.isStopping) await this.enqueue(medium, job);
    } catch (error) {
      // Its lease expires, and the sweep continues.
      this.logger[isDatabaseUnavailable(error) ? 'warn' : 'error'](
        new Error(`A call of run ${runId} could not be completed`, { cause: error }),
      );
    }
  }

  private async finishIfOver(runId: string): Promise<void> {
    if (await this.repository.isOver(runId)) await this.finisher.finish(runId);
  }

  private claim(medium: Medium, agentId: string, slot: FreeSlot): Promise<Claim> {
    const key = `${medium} ${agentId}`;
    let claims = this.claims.get(key);
    if (!claims) {
      claims = new GroupCommit({
        maxItems: MAX_SLOTS,
        execute: (slots) => this.database.run(() => this.repository.claim(agentId, medium, slots)),
      });
      this.claims.set(key, claims);
    }
    return claims.add(slot);
  }

  /**
   * @param slot number of the slot that the call was claimed for
   * @param stops any of them interrupts the call
   * @param spreadStart delays the call at random, for the first call of a slot job
   */
  private async execute(
    call: ClaimedCall,
    slot: number,
    stops: readonly AbortSignal[],
    { spreadStart, onHangUp }: { spreadStart: boolean; onHangUp: () => void },
  ): Promise<'ended' | 'other-slot'> {
    const abort = new AbortController();
    const stopped = () => abort.abort(new ShuttingDown());
    for (const stop of stops) {
      stop.addEventListener('abort', stopped, { once: true });
      if (stop.aborted) stopped();
    }
    this.held.set(call.claimId, { call, abort });
    if (spreadStart) await sleep(Math.random() * START_SPREAD_MS * this.held.size);
    const startedAt = new Date().toISOString();
    let interrupted: CallResult | undefined;
    try {
      const onAborted = (known: CallResult) => (interrupted = known);
      const result = await this.attempt(call, abort.signal, { onAborted, onHangUp });
      await this.recordOrFail(call, result, startedAt);
    } catch (error) {
      const { reason } = abort.signal as { reason: unknown };
      if (error instanceof OtherMedium) {
        await withRetry(this.database, () => this.repository.handOver(call, error.medium, slot));
        return 'other-slot';
      }
      if (reason instanceof LeaseLost) return 'ended';
      if (!(reason instanceof ShuttingDown)) throw error;
      const json = interrupted && attemptResultJson(interrupted);
      await withRetry(this.database, () => this.repository.release(call, startedAt, json));
    } finally {
      this.held.delete(call.claimId);
      for (const stop of stops) stop.removeEventListener('abort', stopped);
    }
    return 'ended';
  }

  /** Returns internal errors as results: rethrown, they would be retried forever. */
  private async attempt(call: ClaimedCall, signal: AbortSignal, events: CallEvents): Promise<CallResult> {
    try {
      return await this.executor.execute(call, signal, events);
    } catch (error) {
      if (error instanceof OtherMedium || signal.aborted || isDatabaseUnavailable(error)) throw error;
      this.logger.error(new Error(`Call ${call.id} could not be started`, { cause: error }));
      return unstartedCall('none', failure('internal'));
    }
  }

  /** Records an internal error if the database rejects the result; otherwise the call would wait for its lease to expire. */
  private async recordOrFail(call: ClaimedCall, result: CallResult, startedAt: string): Promise<void> {
    try {
      await this.record(call, result, startedAt);
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error;
      this.logger.error(new Error(`The result of call ${call.id} cannot be stored`, { cause: error }));
      await this.record(call, unstartedCall('none', failure('internal', 'its result cannot be stored')), startedAt);
    }
  }

  private async record(call: ClaimedCall, result: CallResult, startedAt: string): Promise<void> {
    const mayRetry = result.outcome === 'error' || result.outcome === 'invalid';
    const earlier = mayRetry ? await withRetry(this.database, () => this.repository.attempts(call.id)) : [];
    const after = afterAttempt(result, earlier.filter(wasNotInterrupted));
    const times = { startedAt, endedAt: new Date().toISOString() };
    const attempt = attemptOf(after.next === 'end' ? after.result : result, times);
    if (after.next === 'retry') {
      const json = attemptResultJson(result);
      await withRetry(this.database, () => this.repository.retry(call, attempt, json, after.delayMs));
      return;
    }
    const latencies = latenciesOf(after.result);
    const isRecorded = await this.ends.add(endedCall(call, after.result, latencies, attempt));
    if (!isRecorded) this.logger.warn(`The result of call ${call.id} was discarded: its lease was lost`);
  }

  /** Renews the leases of this process, and aborts calls that were cancelled or claimed by another process. */
  private async renew(): Promise<void> {
    const calls = [...this.held.values()].map(({ call }) => call);
    if (calls.length === 0) return;
    try {
      const renewed = await this.database.run(() => this.repository.renew(calls), { isUrgent: true });
      const requested = new Set(calls.map(({ claimId }) => claimId));
      this.drop(({ call }) => requested.has(call.claimId) && !renewed.has(call.claimId));
    } catch (error) {
      this.logger.warn(`Leases of calls could not be renewed: ${messageOf(error)}`);
    }
  }

  private drop(matches: (held: HeldCall) => boolean): void {
    for (const held of this.held.values()) if (matches(held)) held.abort.abort(new LeaseLost());
  }

  private async sweep(): Promise<void> {
    await this.repository.sweep(({ provider, protocol }) => this.connections.mediumOf(provider, protocol));
    for (const id of await this.repository.findOver()) await this.finisher.finish(id);
  }
}

/** In milliseconds: with sound as heard, which its entries alone do not show. */
function latenciesOf({ timeline, voice }: CallResult): readonly number[] {
  if (!voice) return CallView.of(timeline).latencies;
  return voice.voice.latencies.flatMap(({ heardMs, answered }) => (answered && heardMs !== null ? [heardMs] : []));
}

/** An interrupted attempt says nothing about the agent and is not one of the retries. */
const wasNotInterrupted = ({ failureCode }: Attempt): boolean => failureCode !== 'interrupted';

/** Abort reason: the call was cancelled or claimed by another process. */
class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** Abort reason: this process is shutting down, and another one will execute the call. */
class ShuttingDown extends Error {
  override readonly name = 'ShuttingDown';
}
