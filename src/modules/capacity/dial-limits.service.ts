import { setTimeout as sleep } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { CallFailure, type CallLedger } from '../../../libs/simulation/index.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { conflict } from '../../platform/errors/domain-error.js';
import { DialLimitsRepository, type DialUsage } from './dial-limits.repository.js';

/** A call that dials. */
export interface DiallingCall {
  readonly workspaceId: string;
  /** Absent if what rings is not a telephone number. */
  readonly number?: string;
  /** The most that it can last. */
  readonly seconds: number;
}

/** How many calls to telephone numbers there are: of a trunk in a second, and of a workspace on a day. */
@Injectable()
export class DialLimitsService {
  constructor(
    private readonly repository: DialLimitsRepository,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws DomainError CONFLICT if the calls of a plan are more than a workspace has left today */
  async requireRoom(workspaceId: string, { calls, seconds }: DialUsage): Promise<void> {
    const used = await this.repository.used(workspaceId);
    const { callsPerDay, minutesPerDay } = this.settings.telephone;
    const [usedMinutes, minutes] = [Math.ceil(used.seconds / 60), Math.ceil(seconds / 60)];
    if (used.calls + calls > callsPerDay) {
      throw conflict(beyond('SIP_CALLS_PER_DAY', 'calls to telephone numbers', callsPerDay, used.calls, calls));
    }
    if (used.seconds + seconds > minutesPerDay * 60) {
      throw conflict(beyond('SIP_MINUTES_PER_DAY', 'minutes of such calls', minutesPerDay, usedMinutes, minutes));
    }
  }

  /**
   * Waits for the turn of a call on its trunk, before its attempt begins to dial: while it dials, the time to answer runs.
   * @param mostMs the longest wait; by default any
   * @returns whether it is its turn @throws the signal's reason
   */
  async turn({ trunk }: { readonly trunk?: string }, signal?: AbortSignal, mostMs?: number): Promise<boolean> {
    if (trunk === undefined) return true;
    const pauseMs = Math.ceil(1000 / this.settings.telephone.callsPerSecond);
    const waitMs = await this.repository.next(trunk, pauseMs, mostMs ?? null);
    if (waitMs !== undefined && waitMs > 0) await sleep(waitMs, undefined, signal && { signal });
    return waitMs !== undefined;
  }

  /**
   * The ledger that counts a call before it dials: it throws `dial_limit`.
   * @returns also what to call when the call has hung up; a second time has no effect
   */
  limit(ledger: CallLedger | undefined, call: DiallingCall): { ledger: CallLedger | undefined; hungUp: () => void } {
    const { number } = call;
    if (!ledger || number === undefined) return { ledger, hungUp: () => undefined };
    let begun: Promise<Begun> | undefined;
    const placed: CallLedger['placed'] = async (...handle) => {
      begun ??= this.begin(call);
      await begun;
      await ledger.placed(...handle);
    };
    let isOver = false;
    const hungUp = () => {
      const endedAt = performance.now();
      if (!isOver) begun?.then((counted) => this.ended(call, counted, endedAt)).catch(() => undefined);
      isOver = true;
    };
    return { ledger: { ...ledger, placed }, hungUp };
  }

  private async begin({ workspaceId, seconds }: DiallingCall): Promise<Begun> {
    const { callsPerDay, minutesPerDay } = this.settings.telephone;
    const limits = { calls: callsPerDay, seconds: minutesPerDay * 60 };
    const day = await this.repository.take(workspaceId, seconds, limits);
    if (day !== undefined) return { day, startedAt: performance.now() };
    throw new CallFailure(
      'dial_limit',
      'the calls or minutes of today are used (SIP_CALLS_PER_DAY, SIP_MINUTES_PER_DAY)',
    );
  }

  /** Without it, the call counts as the longest that it could be. */
  private async ended(
    { workspaceId, seconds }: DiallingCall,
    { day, startedAt }: Begun,
    endedAt: number,
  ): Promise<void> {
    const unused = Math.floor(seconds - (endedAt - startedAt) / 1000);
    if (unused > 0) await this.repository.giveBack(workspaceId, day, unused);
  }
}

interface Begun {
  /** In UTC. */
  readonly day: string;
  /** On the clock of `performance`. */
  readonly startedAt: number;
}

const beyond = (setting: string, what: string, limit: number, used: number, wanted: number): string =>
  `A workspace may have ${limit} ${what} on a day in UTC (${setting}): ${used} are used today, and the run has up to ${wanted}`;
