import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import {
  CallFailure,
  type CallSound,
  type MonitoredAgent,
  type ProductionCall,
  type ProductionCalls,
  type Records,
  type RecordsRequest,
} from '../../../libs/simulation/index.js';
import { Clock } from '../../platform/clock.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { DomainError } from '../../platform/errors/domain-error.js';
import { messageOf } from '../../platform/errors/message-of.js';
import { ProductionDays } from '../production-days/production-days.service.js';
import { RecordingUploadsService } from '../recordings/recording-uploads.service.js';
import type { FetchedOutcome } from './fetched-call.entity.js';
import {
  type AwaitedSound,
  type ClaimedAgent,
  type MonitoredCalls,
  MonitoringRepository,
} from './monitoring.repository.js';

const MINUTE_MS = 60_000;
/** When a recording that is awaited is asked for, after the end of its call; then its words decide. */
const ASKED_MS = [1, 5, 15, 60, 120, 180, 240, 300, 360].map((minutes) => minutes * MINUTE_MS);
/** Reading a record and its recording, in milliseconds. */
const DOWNLOAD_MS = 5 * MINUTE_MS;
/** Renewed while recordings are fetched and measured. */
const LEASE_MS = 2 * MINUTE_MS;
/** Failures that stay as they are. */
const OF_RECORDING: ReadonlySet<string> = new Set(['bad_response', 'answer_too_large', 'address_refused']);
const NONE_CAME = 'No recording came within six hours of the end of the call';
/** Recordings of a process that are on disk at once. */
const MOST_SOUNDS = 4;
/** Recordings that are asked for in a turn. */
const MOST_AT_ONCE = 20;
/** Calls of agents that are not fetched any more, which are given up at once. */
const MOST_GIVEN_UP = 20;

/** The records of an agent. */
export interface RecordsSource {
  readonly agent: ClaimedAgent;
  readonly records: Records;
  /** For one call. */
  readonly requestFor: (timeoutMs: number) => RecordsRequest;
}

/** An agent as the judge of its calls knows it. */
export const judgedAs = ({ agentId, workspaceId, redact, judge, maxJudgedPerDay }: MonitoredCalls): MonitoredAgent => ({
  id: agentId,
  workspaceId,
  judging: { redact, judge, maxJudgedPerDay },
});

/** Fetches the recordings of production calls whose words are known, and ends the calls. */
@Injectable()
export class SoundFetcher {
  private readonly logger = new Logger('Monitoring');
  private taken = 0;
  private isGivingUp = false;

  constructor(
    private readonly repository: MonitoringRepository,
    private readonly uploads: RecordingUploadsService,
    private readonly clock: Clock,
    @Inject(ProductionDays) private readonly production: ProductionCalls,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Agents whose recordings are fetched now. */
  get busy(): number {
    return this.taken;
  }

  /** When the recording of a call is asked for; null if its words decide. */
  dueAt(source: RecordsSource, { recording, endedAt }: ProductionCall): Date | null {
    if (!this.isWanted(source) || recording === 'none') return null;
    return (recording === 'awaited' && this.nextAt(endedAt)) || new Date(this.clock.now());
  }

  /**
   * Ends calls whose recordings are there, or come no more.
   * @param until when it begins no further one, by the clock
   * @returns whether it was begun with all of them
   */
  async fetch(source: RecordsSource, until: number): Promise<boolean> {
    const { agent } = source;
    if (this.taken >= MOST_SOUNDS) return true;
    this.taken++;
    const renew = () => this.repository.renew(agent.agentId, LEASE_MS);
    const renewal = setInterval(() => void renew().catch(() => undefined), LEASE_MS / 3);
    try {
      await renew();
      const due = await this.repository.sounds(agent.agentId, MOST_AT_ONCE);
      for (const call of due) {
        if (this.clock.now() > until) return false;
        await this.take(source, call);
      }
      return due.length < MOST_AT_ONCE;
    } finally {
      clearInterval(renewal);
      this.taken--;
    }
  }

  /** The words of calls decide whose recording is not asked for any more, for instance because the agent was switched off. */
  async giveUp(): Promise<void> {
    if (this.isGivingUp) return;
    this.isGivingUp = true;
    try {
      for (const { call, ...agent } of await this.repository.abandonedSounds(ASKED_MS.at(-1)!, MOST_GIVEN_UP)) {
        await this.end(agent, call, { unmeasured: NONE_CAME }).catch((error: unknown) =>
          this.logger.error(`Call ${call.id} of agent ${agent.agentId}: ${messageOf(error)}`),
        );
      }
    } finally {
      this.isGivingUp = false;
    }
  }

  private isWanted({ agent, records }: Omit<RecordsSource, 'requestFor'>): boolean {
    return this.settings.recordings && agent.recordings !== 'none' && records.recording !== undefined;
  }

  private async take({ agent, records, requestFor }: RecordsSource, call: AwaitedSound): Promise<void> {
    if (call.isOver) return this.note(agent, call, 'judged');
    if (!this.isWanted({ agent, records }))
      return this.end(agent, call, { unmeasured: 'Recordings are not fetched any more' });
    const file = randomUUID();
    const request = requestFor(DOWNLOAD_MS);
    try {
      const found = await records.get(call.id, request);
      if (!found?.said)
        return await this.end(agent, call, { unmeasured: 'The platform has no record of the call any more' });
      const sound = await this.uploads.write(file, (take) => records.recording!(call.id, request, take));
      const isKept = agent.recordings === 'keep';
      if (sound.found === 'taken') await this.end(agent, call, { call: found, file: sound.path, isKept });
      else if (sound.found === 'awaited') await this.later(agent, call, NONE_CAME);
      else await this.end(agent, call, { unmeasured: 'The platform has no recording of the call' });
    } catch (error) {
      await this.failed(agent, call, request.signal, error);
    } finally {
      await this.uploads.discard(file);
    }
  }

  /** Calls whose recording cannot be read are decided by their words. @throws what is about more than the recording */
  private async failed(agent: MonitoredCalls, call: AwaitedSound, signal: AbortSignal, error: unknown): Promise<void> {
    const isLate = signal.aborted && (signal.reason as Error).name === 'TimeoutError';
    if (isLate) return this.later(agent, call, `The recording did not arrive within ${DOWNLOAD_MS / 1_000} s`);
    if (signal.aborted) throw error;
    if (error instanceof CallFailure) {
      const { code, status, message } = error.failure;
      if (status === 401 || status === 429) throw error;
      return OF_RECORDING.has(code) ? this.end(agent, call, { unmeasured: message }) : this.later(agent, call, message);
    }
    if (error instanceof DomainError && error.code === 'NOT_FOUND') throw error;
    this.logger.error(`The sound of call ${call.id} of agent ${agent.agentId}: ${messageOf(error)}`);
    await this.later(agent, call, 'The recording could not be measured: an error of this service');
  }

  /** Asks again, or does not any more. */
  private async later(agent: MonitoredCalls, call: AwaitedSound, unmeasured: string): Promise<void> {
    const dueAt = this.nextAt(call.endedAt.getTime());
    if (dueAt === null) return this.end(agent, call, { unmeasured });
    await this.note(agent, call, 'awaited', { dueAt, awaitsSound: true });
  }

  private async end(agent: MonitoredCalls, call: AwaitedSound, sound: CallSound): Promise<void> {
    await this.production.end(judgedAs(agent), call.id, sound);
    await this.note(agent, call, 'judged');
  }

  private note(
    { agentId }: MonitoredCalls,
    { id: platformId, endedAt }: AwaitedSound,
    ...rest: [outcome: FetchedOutcome, more?: { readonly dueAt: Date; readonly awaitsSound: true }]
  ): Promise<void> {
    return this.repository.note(agentId, { platformId, endedAt }, ...rest);
  }

  private nextAt(endedAt: number): Date | null {
    const now = this.clock.now();
    const afterMs = ASKED_MS.find((ms) => endedAt + ms > now);
    return afterMs === undefined ? null : new Date(endedAt + afterMs);
  }
}
