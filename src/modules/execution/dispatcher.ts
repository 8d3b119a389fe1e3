import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { isDatabaseUnavailable } from '../../platform/database/failures.js';
import { Notifications } from '../../platform/database/notifications.js';
import { messageOf } from '../../platform/errors/message-of.js';
import { GroupCommit } from '../../platform/queue/group-commit.js';
import type { Medium } from '../runs/call.entity.js';
import { CALLS_DUE, keptSlots, MEDIA } from '../runs/runs.service.js';
import { CallConnections } from './call-connections.js';
import { CallRunner } from './call-runner.js';
import { type ClaimedCall, ExecutionRepository, type FreeSlots } from './execution.repository.js';
import { RunFinisher } from '../run-ends/run-finisher.service.js';

/** How late a call may start that is not announced, for instance a retry, in milliseconds. */
const POLL_MS = 1_000;
/** From the start of a claim to that of the next one, in milliseconds: slots that get free in it share a claim. */
const PAUSE_MS = 10;
/** Calls of a medium that one claim takes at most. */
const MAX_CLAIMED = 50;
/** Runs that one statement looks at. */
const MAX_RUNS = 1_000;
/** On shutdown: how long calls may continue, and how long they may take to be handed back, in milliseconds. */
const GRACE_MS = 5_000;
const HAND_BACK_MS = 3_000;

/** The slots of this process for calls of a medium. */
interface Slots {
  readonly total: number;
  /** Workspaces of the calls that hold one, by claim. */
  readonly held: Map<string, string>;
  /** Slots that calls have left and none has taken since. */
  left: number;
}

/** Claims due calls for the free slots of this process, and runs them. */
@Injectable()
export class Dispatcher implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger('Runs');
  private readonly slots: Readonly<Record<Medium, Slots>>;
  private readonly calls = new Set<Promise<void>>();
  /** Calls that have not ended, by run. */
  private readonly ofRun = new Map<string, number>();
  /** Finds the runs that are over, with one statement for calls that end together. */
  private readonly overRuns: GroupCommit<string, boolean>;
  /** Between the start and the shutdown of the process, if it runs calls. */
  private isOpen = false;
  /** A claim was asked for since the latest one began. */
  private isClaimDue = false;
  /** The database was unavailable for the last claim. */
  private isPaused = false;
  private claiming: Promise<void> | undefined;
  private polling: NodeJS.Timeout | undefined;
  private stopped: Promise<void> | undefined;

  constructor(
    private readonly repository: ExecutionRepository,
    private readonly runner: CallRunner,
    private readonly finisher: RunFinisher,
    private readonly connections: CallConnections,
    notifications: Notifications,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    const slots = (total: number): Slots => ({ total, held: new Map(), left: 0 });
    this.slots = { text: slots(settings.workerConcurrency), voice: slots(settings.voiceConcurrency) };
    this.overRuns = new GroupCommit({
      maxItems: MAX_RUNS,
      execute: (runIds) => connections.run(() => repository.areOver(runIds)),
    });
    notifications.subscribe(CALLS_DUE, () => this.ask());
  }

  onApplicationBootstrap(): void {
    if (this.settings.role === 'api') return;
    this.isOpen = true;
    this.polling = setInterval(() => this.ask(), POLL_MS);
    this.ask();
  }

  onModuleDestroy(): void {
    this.isOpen = false;
    clearInterval(this.polling);
    this.stopped = this.stop();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stopped;
  }

  /** Claims no more calls. Those in progress have a grace period, but no voice call that is still connected would end in it. */
  private async stop(): Promise<void> {
    this.runner.shutDown(({ call, isJudged }) => call.medium === 'voice' && !isJudged);
    const timers = new AbortController();
    const pause = (ms: number) => sleep(ms, undefined, { signal: timers.signal }).catch(() => undefined);
    const ended = (async () => {
      await this.claiming;
      while (this.calls.size > 0) await Promise.all(this.calls);
      timers.abort();
    })();
    await Promise.race([ended, pause(GRACE_MS)]);
    this.runner.shutDown(() => true);
    await Promise.race([ended, pause(HAND_BACK_MS)]);
    timers.abort();
  }

  /** Claims calls if slots are free. One claim at a time. */
  private ask(): void {
    this.isClaimDue = true;
    if (!this.isOpen || this.claiming) return;
    this.claiming = this.claimWhileDue().finally(() => {
      this.claiming = undefined;
      // It may have been asked for after the loop had ended.
      if (this.isClaimDue && this.isOpen) this.ask();
    });
  }

  private async claimWhileDue(): Promise<void> {
    // Slots that get free in the same turn of the event loop share the first claim.
    await setImmediate();
    while (this.isClaimDue && this.isOpen) {
      this.isClaimDue = false;
      const free = this.freeSlots();
      // The next call that ends asks.
      if (free.length === 0) return;
      await Promise.all([this.claim(free), sleep(PAUSE_MS)]);
    }
  }

  private freeSlots(): FreeSlots[] {
    return MEDIA.flatMap((medium) => {
      const { total, held } = this.slots[medium];
      const free = total - held.size;
      if (free <= 0) return [];
      const count = Math.min(free, MAX_CLAIMED);
      const kept = Math.max(0, keptSlots(total) - (free - count));
      return [{ medium, count, kept, holders: [...new Set(held.values())] }];
    });
  }

  private async claim(free: readonly FreeSlots[]): Promise<void> {
    try {
      const calls = await this.connections.run(() => this.repository.claim(free));
      this.isPaused = false;
      for (const call of calls) this.start(call);
      for (const { medium, count } of free) {
        // What no call has taken is idle, and the next calls in it start together.
        if (calls.filter((call) => call.medium === medium).length < count) this.slots[medium].left = 0;
      }
      // A claim may leave calls that the next one finds.
      if (calls.length > 0) this.isClaimDue = true;
    } catch (error) {
      if (!isDatabaseUnavailable(error)) this.logger.error(new Error('Calls could not be claimed', { cause: error }));
      else if (!this.isPaused) {
        this.isPaused = true;
        this.logger.warn(`Call execution paused: database unavailable: ${messageOf(error)}`);
      }
    }
  }

  private start(call: ClaimedCall): void {
    const slots = this.slots[call.medium];
    const isSpread = slots.left === 0;
    slots.left = Math.max(0, slots.left - 1);
    slots.held.set(call.claimId, call.workspaceId);
    this.ofRun.set(call.runId, (this.ofRun.get(call.runId) ?? 0) + 1);
    const work = this.run(call, isSpread).finally(() => this.calls.delete(work));
    this.calls.add(work);
    if (!this.isOpen) this.runner.shutDown((held) => held.call === call);
  }

  /** Never rejects. */
  private async run(call: ClaimedCall, isSpread: boolean): Promise<void> {
    const { claimId, medium, runId } = call;
    const leave = () => {
      const slots = this.slots[medium];
      if (!slots.held.delete(claimId)) return;
      slots.left++;
      this.ask();
    };
    try {
      let isLast = false;
      await this.runner.run(call, { isSpread, onHangUp: leave }).finally(() => {
        leave();
        isLast = this.leaveRun(runId);
      });
      if (isLast && (await this.overRuns.add(runId))) await this.finisher.finish(runId);
      // Its agent has room for another call, which matters if the slot was left at the hang-up.
      if (medium === 'voice') this.ask();
    } catch (error) {
      // Its lease expires, or the sweep finishes its run.
      this.logger[isDatabaseUnavailable(error) ? 'warn' : 'error'](
        new Error(`A call of run ${runId} could not be completed`, { cause: error }),
      );
    }
  }

  /** @returns whether this process has no other call of the run: otherwise the run is not over, and the last of them looks */
  private leaveRun(runId: string): boolean {
    const left = this.ofRun.get(runId)! - 1;
    if (left > 0) this.ofRun.set(runId, left);
    else this.ofRun.delete(runId);
    return left === 0;
  }
}
