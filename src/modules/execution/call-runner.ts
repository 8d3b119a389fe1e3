import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import {
  CallFailure,
  type CallResult,
  callThreadEvents,
  failure,
  type ThreadDeath,
  unstartedCall,
  warmUp,
} from '../../../libs/simulation/index.js';
import { isDatabaseUnavailable } from '../../platform/database/failures.js';
import { Notifications } from '../../platform/database/notifications.js';
import { messageOf } from '../../platform/errors/message-of.js';
import { during } from '../../platform/observability/activity.js';
import { CapacityService } from '../capacity/capacity.service.js';
import { RUN_CANCELLED } from '../runs/runs.service.js';
import { AttemptRecorder } from './attempt-recorder.js';
import { CallConnections } from './call-connections.js';
import { type CallEvents, CallExecutor } from './call-executor.js';
import { CallMetrics } from './call-metrics.js';
import { type ClaimedCall, ExecutionRepository, LEASE_MS } from './execution.repository.js';

const RENEW_MS = LEASE_MS / 4;
/**
 * Calls in slots that were idle start after a random delay of up to this time per call in progress: calls that start together
 * stay synchronised (decision 61).
 */
const START_SPREAD_MS = 2;

/** A call in progress. */
export interface HeldCall {
  readonly call: ClaimedCall;
  readonly abort: AbortController;
  /** Whether no agent is called, or no longer: it is only checked and judged. */
  isJudged: boolean;
}

interface Run {
  /** Delays the start at random. */
  readonly isSpread: boolean;
  /** A voice call has hung up, and is checked and judged after that. */
  readonly onHangUp: () => void;
}

/** Executes the calls that this process has claimed, holds their leases, and records their results. */
@Injectable()
export class CallRunner implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('Runs');
  /** By claim id. */
  private readonly held = new Map<string, HeldCall>();
  private readonly recorder: AttemptRecorder;
  private warmedUp: Promise<void> | undefined;
  private renewing: NodeJS.Timeout | undefined;

  constructor(
    private readonly repository: ExecutionRepository,
    private readonly executor: CallExecutor,
    private readonly metrics: CallMetrics,
    private readonly capacity: CapacityService,
    private readonly connections: CallConnections,
    notifications: Notifications,
  ) {
    this.recorder = new AttemptRecorder(repository, connections);
    notifications.subscribe(RUN_CANCELLED, (runId) => {
      if (runId !== undefined) this.drop(({ call }) => call.runId === runId);
      // After a reconnection, cancellations may have been missed: renewing finds them.
      else void this.renew();
    });
  }

  onApplicationBootstrap(): void {
    this.renewing = setInterval(() => void this.renew(), RENEW_MS);
    this.renewing.unref();
    callThreadEvents.on('death', this.onThreadDeath);
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

  /**
   * Executes a claimed call and records how it ended. A call that was cancelled, or claimed by another process, ends silently.
   * @throws database errors; then its lease expires
   */
  run(call: ClaimedCall, run: Run): Promise<void> {
    const held: HeldCall = { call, abort: new AbortController(), isJudged: false };
    this.held.set(call.claimId, held);
    return during({ callId: call.id, runId: call.runId }, () => this.execute(held, run));
  }

  /** Interrupts those of the calls in progress, and hands them back. */
  shutDown(matches: (held: HeldCall) => boolean): void {
    for (const held of this.held.values()) if (matches(held)) held.abort.abort(new ShuttingDown());
  }

  private async execute(held: HeldCall, { isSpread, onHangUp }: Run): Promise<void> {
    const { call, abort } = held;
    let startedAt = new Date().toISOString();
    let interrupted: CallResult | undefined;
    try {
      await this.warmUp();
      if (isSpread) await sleep(Math.random() * START_SPREAD_MS * this.held.size);
      startedAt = new Date().toISOString();
      abort.signal.throwIfAborted();
      const result = await this.attempt(call, abort.signal, {
        onAborted: (known) => (interrupted = known),
        onHangUp: () => {
          held.isJudged = true;
          void this.capacity.release(call);
          onHangUp();
        },
        onJudged: () => (held.isJudged = true),
      });
      // The platform's call has ended before another one is dialled.
      await this.capacity.release(call, result.failure?.code);
      await this.recorder.ended(call, result, startedAt);
    } catch (error) {
      const { reason } = abort.signal as { reason: unknown };
      const isHandedBack = reason instanceof ShuttingDown;
      // At once: the process may end before the platform has answered, and a billed call waits for its end anyway.
      const handedBack = isHandedBack ? this.recorder.interrupted(call, interrupted, startedAt) : undefined;
      await Promise.all([this.capacity.release(call), handedBack]);
      if (!isHandedBack && !(reason instanceof LeaseLost)) throw error;
    } finally {
      this.held.delete(call.claimId);
      this.capacity.forget(call);
    }
  }

  /** Not at start, because most processes of a test never execute a call. */
  private warmUp(): Promise<void> {
    this.warmedUp ??= warmUp().catch((error: unknown) => {
      this.logger.warn(`The latency of the first calls may include compilation: ${messageOf(error)}`);
    });
    return this.warmedUp;
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
      const renewed = await this.connections.run(
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
}

/** Abort reason: the call was cancelled or claimed by another process. */
class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** Abort reason: this process is shutting down, and another one will execute the call. */
class ShuttingDown extends Error {
  override readonly name = 'ShuttingDown';
}
