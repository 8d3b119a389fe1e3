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
import { PrioritySemaphore } from '../../../../libs/concurrency/index.js';
import {
  CallFailure,
  type CallResult,
  failure,
  callThreadEvents,
  type ThreadDeath,
  unstartedCall,
  warmUp,
} from '../../../../libs/simulation/index.js';
import { SETTINGS } from '../../../platform/config/settings.module.js';
import type { Settings } from '../../../platform/config/settings.js';
import { isDatabaseUnavailable } from '../../../platform/database/failures.js';
import { messageOf } from '../../../platform/errors/message-of.js';
import { Notifications } from '../../../platform/database/notifications.js';
import { during } from '../../../platform/observability/activity.js';
import type { JobContext } from '../../../platform/queue/job.js';
import { GroupCommit } from '../../../platform/queue/group-commit.js';
import { Queue } from '../../../platform/queue/queue.js';
import { QueueWorker } from '../../../platform/queue/queue-worker.js';
import { ConnectionService } from '../../agents/connection/connection.service.js';
import { CapacityService } from '../../capacity/capacity.service.js';
import { MEDIA, type Medium } from '../call.entity.js';
import { RUN_CANCELLED } from '../runs.repository.js';
import { AttemptRecorder } from './attempt-recorder.js';
import { type CallEvents, CallExecutor } from './call-executor.js';
import { CallMetrics } from './call-metrics.js';
import { type Claim, type ClaimedCall, ExecutionRepository, type FreeSlot, LEASE_MS } from './execution.repository.js';
import { FairSlots } from './fair-slots.js';
import { MAX_SLOTS, type SlotJob, slotKey, SLOTS } from '../slot-job.js';
import { RunFinisher } from '../run-ends/run-finisher.service.js';
import { UndecidedCalls } from './undecided-calls.repository.js';

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
  private readonly recorder: AttemptRecorder;
  private isStopping = false;
  private warmedUp: Promise<void> | undefined;
  private renewing: NodeJS.Timeout | undefined;

  constructor(
    private readonly queue: Queue,
    private readonly worker: QueueWorker,
    private readonly repository: ExecutionRepository,
    private readonly executor: CallExecutor,
    private readonly finisher: RunFinisher,
    private readonly undecided: UndecidedCalls,
    private readonly metrics: CallMetrics,
    private readonly capacity: CapacityService,
    private readonly connections: ConnectionService,
    notifications: Notifications,
    @Inject(SETTINGS) { databasePoolSize }: Settings,
  ) {
    const fairSlots = (medium: Medium) => new FairSlots(worker.concurrency(SLOTS[medium].kind));
    this.slots = { text: fairSlots('text'), voice: fairSlots('voice') };
    this.database = new PrioritySemaphore(Math.max(1, Math.floor(databasePoolSize / 2)));
    this.recorder = new AttemptRecorder(repository, this.database);
    for (const medium of MEDIA) queue.handle(SLOTS[medium], (job, context) => this.runSlot(medium, job, context));
    queue.onSweep(() => this.sweep());
    capacity.onFreed(({ medium, ...agent }) => this.enqueue(medium, { ...agent, slot: 0 }));
    notifications.subscribe(RUN_CANCELLED, (runId) => this.drop(({ call }) => call.runId === runId));
  }

  onApplicationBootstrap(): void {
    this.renewing = setInterval(() => void this.renew(), RENEW_MS);
    this.renewing.unref();
    callThreadEvents.on('death', this.onThreadDeath);
  }

  /** Starts no further calls; those in progress have the queue's grace period to end. */
  onModuleDestroy(): void {
    this.isStopping = true;
  }

  onApplicationShutdown(): void {
    clearInterval(this.renewing);
    callThreadEvents.off('death', this.onThreadDeath);
  }

  /** Its calls are tried again; those of a connection test are named by the id that the agent received. */
  private readonly onThreadDeath = ({ callIds, cause }: ThreadDeath): void => {
    this.metrics.countThreadDeath();
    const ids = callIds.map((callId) => this.held.get(callId)?.call.id ?? callId);
    this.logger.error(new Error(`The thread of the calls ${ids.join(', ') || '(none)'} ended`, { cause }));
  };

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
      if (!isFirst && !this.slots[medium].mayContinue(job)) break;
      if (performance.now() > until) {
        if (this.slots[medium].parkedBeside(job) > 0 || (await this.worker.shouldYield(SLOTS[medium].kind))) break;
        until += TIME_SLICE_MS;
      }
      const claim = await this.claim(medium, agentId, { previousRun });
      if (previousRun !== undefined && claim.isPreviousRunOver) await this.finisher.finish(previousRun);
      if (!claim.call) return false;
      const next = await this.runCall(claim.call, job, context, { spreadStart: isFirst });
      previousRun = next === 'ended' ? claim.call.runId : undefined;
      isFirst = false;
    }
    if (previousRun !== undefined) await this.finishIfOver(previousRun);
    return true;
  }

  /**
   * Executes a call until its slot is free: a voice call is checked and judged after that, beside the next one.
   * @returns `detached` if the call has not ended
   */
  private async runCall(
    call: ClaimedCall,
    job: SlotJob,
    { signal, shutdown, detach }: JobContext,
    { spreadStart }: { spreadStart: boolean },
  ): Promise<'ended' | 'detached'> {
    let hangUp = () => {};
    const hungUp = new Promise<'detached'>((resolve) => (hangUp = () => resolve('detached')));
    const stops = call.medium === 'voice' ? [signal, shutdown] : [signal];
    const names = { callId: call.id, runId: call.runId };
    const ended = during(names, () => this.execute(call, stops, { spreadStart, onHangUp: hangUp }));
    const next = await Promise.race([ended.then(() => 'ended' as const), hungUp]);
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
   * @param stops any of them interrupts the call
   * @param spreadStart delays the call at random, for the first call of a slot job
   */
  private async execute(
    call: ClaimedCall,
    stops: readonly AbortSignal[],
    { spreadStart, onHangUp }: { spreadStart: boolean; onHangUp: () => void },
  ): Promise<void> {
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
      const freeCapacity = () => {
        void this.capacity.release(call);
        onHangUp();
      };
      const result = await this.attempt(call, abort.signal, { onAborted, onHangUp: freeCapacity });
      // The platform's call has ended before another one is dialled.
      await this.capacity.release(call, result.failure?.code);
      await this.recorder.ended(call, result, startedAt);
    } catch (error) {
      await this.capacity.release(call);
      const { reason } = abort.signal as { reason: unknown };
      if (reason instanceof LeaseLost) return;
      if (!(reason instanceof ShuttingDown)) throw error;
      await this.recorder.interrupted(call, interrupted, startedAt);
    } finally {
      this.held.delete(call.claimId);
      this.capacity.forget(call);
      for (const stop of stops) stop.removeEventListener('abort', stopped);
    }
  }

  /** Returns internal errors as results: rethrown, they would be retried forever. */
  private async attempt(call: ClaimedCall, signal: AbortSignal, events: CallEvents): Promise<CallResult> {
    try {
      return await this.executor.execute(call, signal, events);
    } catch (error) {
      if (signal.aborted || isDatabaseUnavailable(error)) throw error;
      if (error instanceof CallFailure) return unstartedCall('none', error.failure);
      this.logger.error(new Error(`Call ${call.id} could not be started`, { cause: error }));
      return unstartedCall('none', failure('internal'));
    }
  }

  /** Renews the leases of this process, and aborts calls that were cancelled or claimed by another process. */
  private async renew(): Promise<void> {
    const calls = [...this.held.values()].map(({ call }) => call);
    if (calls.length === 0) return;
    try {
      const renewed = await this.database.run(
        async () => {
          await this.capacity.renew(calls, LEASE_MS);
          return this.repository.renew(calls);
        },
        { isUrgent: true },
      );
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
    await this.undecided.decide();
    await this.repository.endHopeless();
    this.metrics.setUnended(
      await this.capacity.sweep((agentId, protocol) => this.connections.endpoint(agentId, protocol)),
    );
    this.metrics.setWaiting(await this.repository.sweep());
    for (const id of await this.repository.findOver()) await this.finisher.finish(id);
  }
}

/** Abort reason: the call was cancelled or claimed by another process. */
class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** Abort reason: this process is shutting down, and another one will execute the call. */
class ShuttingDown extends Error {
  override readonly name = 'ShuttingDown';
}
