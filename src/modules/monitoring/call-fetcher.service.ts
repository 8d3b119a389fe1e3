import { createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { OutboundClient } from '../../../libs/outbound-http/index.js';
import {
  CallFailure,
  type Failure,
  FAILURES,
  type ListedCalls,
  platformOf,
  type ProductionCall,
  type ProductionCalls,
  type RecordsRequest,
} from '../../../libs/simulation/index.js';
import { Clock } from '../../platform/clock.js';
import { DomainError } from '../../platform/errors/domain-error.js';
import { messageOf } from '../../platform/errors/message-of.js';
import { defineJob } from '../../platform/queue/job.js';
import { inBatches } from '../../platform/queue/in-batches.js';
import { Queue } from '../../platform/queue/queue.js';
import { type AgentDescription, AgentsService } from '../agents/agents.service.js';
import { type CalledEndpoint, ConnectionService } from '../agents/connection/connection.service.js';
import { CapacityService, credentialOf } from '../capacity/capacity.service.js';
import { ProductionDays } from '../production-days/production-days.service.js';
import { WebhooksService } from '../webhooks/webhooks.service.js';
import type { FetchedOutcome } from './fetched-call.entity.js';
import { judgedAs, type RecordsSource, SoundFetcher } from './sound-fetcher.service.js';
import { type ClaimedAgent, type Fetched, MonitoringRepository } from './monitoring.repository.js';

const EVERY_MS = 60_000;
/** By so much earlier or later, so that agents do not stay in step. */
const JITTER_MS = 10_000;
/** Agents of one process at once, each of another credential. */
const MOST_AGENTS = 8;
const LEASE_MS = 120_000;
/** How long an agent is fetched before others of its credential have their turn. */
const TURN_MS = 30_000;
/** The most requests of a credential are four in a second. */
const GAP_MS = 250;
/** Calls may be listed so much later than they ended. */
const OVERLAP_MS = 10 * 60_000;
/** Older calls are not taken: a platform lists those that changed of late, though they may be taken and forgotten. */
const OLDEST_MS = 31 * 24 * 60 * 60_000;
/** When the record of a call that has no words, or cannot be read, is read again; then it is left. */
const AGAIN_MS = [60_000, 5 * 60_000, 15 * 60_000];
const MOST_AGAIN = 50;
/** Statuses that are about the credential, not about one record. */
const STOPS: ReadonlySet<number> = new Set([401, 403, 429]);
/** Failures that are about one record. */
const OF_RECORD: ReadonlySet<string> = new Set(['bad_response', 'answer_too_large', 'thread_ended']);
/** This many requests in a row that fail otherwise are about the platform, unless it has been so for half an hour. */
const MOST_BROKEN = 5;
const MOST_FAILURES = 5;
const LONGEST_PAUSE_MS = 15 * 60_000;
/** As long as which calls are ours. */
const KEPT_DAYS = 40;

/** Deletes what is known of old calls. Daily. */
const PRUNE = defineJob<object>({ name: 'monitoring.prune', kind: 'maintenance', cron: '37 4 * * *' });

/** A call whose record is to be read; `readings` if it was before. */
interface DueCall {
  readonly id: string;
  readonly endedAt: Date;
  readonly readings?: number;
}

/** What is needed to read the records of an agent. */
interface Source extends RecordsSource {
  readonly assistantId: string;
  readonly credential: string;
  readonly account: string;
  /** For the words of its calls. */
  readonly request: RecordsRequest;
}

/** Fetches production calls of monitored agents from the records of their platforms. */
@Injectable()
export class CallFetcher implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Monitoring');
  private readonly over = new AbortController();
  private readonly fetching = new Set<Promise<void>>();
  /** Agents that are fetched. */
  private busy = 0;
  /** When a credential may send its next request, by `performance.now`. */
  private readonly freeAt = new Map<string, number>();

  constructor(
    private readonly repository: MonitoringRepository,
    private readonly agents: AgentsService,
    private readonly connections: ConnectionService,
    private readonly capacity: CapacityService,
    private readonly webhooks: WebhooksService,
    private readonly client: OutboundClient,
    private readonly sounds: SoundFetcher,
    private readonly clock: Clock,
    @Inject(ProductionDays) private readonly production: ProductionCalls,
    queue: Queue,
  ) {
    queue.onSweep(() => this.begin());
    queue.handle(PRUNE, async (_, { signal }) => {
      await inBatches(() => this.repository.prune(KEPT_DAYS), signal);
    });
  }

  /** What was begun needs the database. */
  async beforeApplicationShutdown(): Promise<void> {
    this.over.abort(new Error('The service stops'));
    await Promise.all(this.fetching);
  }

  /** Begins to fetch what is due, and does not wait for it. */
  async begin(): Promise<void> {
    await this.repository.followAgents();
    if (this.over.signal.aborted) return;
    this.start(this.sounds.giveUp(), 'Calls without a recording');
    // Recordings take long: the words of other agents do not wait for them.
    const free = MOST_AGENTS - (this.busy - this.sounds.busy);
    for (const agent of free > 0 ? await this.repository.claim(free, LEASE_MS) : []) {
      this.busy++;
      this.start(
        this.fetch(agent).finally(() => this.busy--),
        `Calls of agent ${agent.agentId}`,
      );
    }
  }

  private start(begun: Promise<void>, what: string): void {
    const work: Promise<void> = begun
      .catch((error: unknown) => this.logger.error(`${what}: ${messageOf(error)}`))
      .finally(() => this.fetching.delete(work));
    this.fetching.add(work);
  }

  /** Waits for what was begun. */
  async settled(): Promise<void> {
    await Promise.all(this.fetching);
  }

  private async fetch(agent: ClaimedAgent): Promise<void> {
    const source = await this.sourceOf(agent);
    const { credential = null, account = null } = typeof source === 'string' ? {} : source;
    const end = (fetched: Omit<Fetched, 'credential' | 'account'>) =>
      this.repository.release(agent, { ...fetched, credential, account });
    const same = { message: null, fetchedUntil: null, dueAt: this.next(), failures: 0 };
    if (typeof source === 'string') return end({ ...same, state: 'unavailable', message: source });
    // A new key resumes; one that was refused is not tried again.
    if (agent.state === 'invalid_credential' && agent.credential === credential) {
      return end({ ...same, state: 'invalid_credential', message: agent.message });
    }
    try {
      if (agent.state === 'starting')
        await this.production.begin({ id: agent.agentId, workspaceId: agent.workspaceId });
      const { until, isComplete } = await this.step(source);
      const isAll = isComplete && (await this.sounds.fetch(source, this.clock.now() + TURN_MS));
      await end({
        ...{ ...same, state: 'healthy', fetchedUntil: until },
        ...(!isAll && { dueAt: new Date(this.clock.now()) }),
      });
    } catch (error) {
      if (this.over.signal.aborted) return;
      if (source.request.signal.aborted && !(error instanceof CallFailure)) {
        const message = `The platform took longer than ${LEASE_MS / 1_000} s`;
        return end({ ...same, state: 'unavailable', message });
      }
      if (error instanceof DomainError) {
        const [issue] = error.issues ?? [];
        const message = `The calls of the agent cannot be judged: ${issue?.message ?? error.message}`;
        return end({ ...same, state: 'unavailable', message });
      }
      if (!(error instanceof CallFailure)) throw error;
      await this.failed(agent, error.failure, end);
    }
  }

  private async failed(
    { agentId, workspaceId, failures, state }: ClaimedAgent,
    failure: Failure,
    end: (fetched: Omit<Fetched, 'credential' | 'account'>) => Promise<void>,
  ): Promise<void> {
    const { code, status, retryAfterMs = 0 } = failure;
    const message = ofRecords(failure);
    const pauseMs = Math.min(LONGEST_PAUSE_MS, EVERY_MS * 2 ** failures);
    const dueAt = new Date(this.clock.now() + Math.max(pauseMs, retryAfterMs));
    const common = { message, fetchedUntil: null, dueAt, failures: failures + 1 };
    if (status !== 401 && status !== 403) {
      return end({ ...common, state: code === 'rate_limited' ? 'rate_limited' : 'unavailable' });
    }
    await end({ ...common, dueAt: this.next(), failures: 0, state: 'invalid_credential' });
    if (state === 'invalid_credential') return;
    const agent = await this.found({ agentId, workspaceId });
    const data = { agentId, agentName: agent?.name ?? null, message };
    await this.webhooks.emit({ workspaceId, agentId, type: 'monitoring.paused', data });
  }

  /** @returns why the agent's calls cannot be fetched */
  private async sourceOf(agent: ClaimedAgent): Promise<Source | string> {
    const { agentId, workspaceId } = agent;
    const [found, endpoint] = await Promise.all([this.found(agent), this.connections.endpoint(agentId)]);
    if (!found || !endpoint) return 'The agent has no address';
    const { records } = platformOf(endpoint.protocol, workspaceId);
    if (!records) return WITHOUT_RECORDS;
    const credential = credentialOf(endpoint);
    const requestFor = (timeoutMs: number): RecordsRequest => {
      // Each request listens to it.
      const signal = AbortSignal.any([this.over.signal, AbortSignal.timeout(timeoutMs)]);
      setMaxListeners(0, signal);
      return { endpoint, client: this.client, signal, turn: () => this.turn(credential, signal) };
    };
    const account = accountOf(endpoint, found);
    const { assistantId } = found;
    return { agent, records, assistantId, credential, account, request: requestFor(LEASE_MS), requestFor };
  }

  /** Undefined: it was deleted. */
  private found({ agentId, workspaceId }: Pick<ClaimedAgent, 'agentId' | 'workspaceId'>) {
    return this.agents.describe({ workspaceId }, agentId).catch((error: unknown) => {
      if (error instanceof DomainError) return undefined;
      throw error;
    });
  }

  /** Lists the calls that have ended since the last time, and takes those that are not known. */
  private async step(source: Source): Promise<{ until: Date; isComplete: boolean }> {
    const { agent, account, records, assistantId, request } = source;
    const startedAt = this.clock.now();
    // The calls of another agent of a platform begin now, as those of an agent that is switched on.
    const known = agent.account === null || agent.account === account ? agent.fetchedUntil.getTime() : startedAt;
    // A platform with many calls lists a part of the window, which may end before what was known.
    for (let from = Math.min(known, startedAt) - OVERLAP_MS; ;) {
      const listed = await records.list({ assistantId, from, until: startedAt }, request);
      if (!(await this.takeListed(source, listed, startedAt))) return { until: new Date(known), isComplete: false };
      if (listed.until >= startedAt) return { until: new Date(Math.max(known, listed.until)), isComplete: true };
      from = listed.until;
    }
  }

  /** @returns whether all of them were taken in time */
  private async takeListed(
    source: Source,
    { items, malformed, isCut, until }: ListedCalls,
    startedAt: number,
  ): Promise<boolean> {
    const { agent } = source;
    const endedAt = new Date(until);
    const moment = { platformId: endedAt.toISOString(), endedAt };
    if (isCut) await this.repository.note(agent.agentId, moment, 'malformed', { issue: UNLISTED });
    if (malformed > 0)
      this.logger.warn(`The platform listed ${malformed} calls of agent ${agent.agentId} without an id`);
    const isKnown = await this.repository.known(
      agent.agentId,
      items.map(({ id }) => id),
    );
    const fresh = items
      .filter(({ id, endedAt }) => !isKnown.has(id) && (endedAt ?? startedAt) > startedAt - OLDEST_MS)
      .map(({ id, endedAt }): DueCall => ({ id, endedAt: new Date(endedAt ?? startedAt) }))
      .sort((a, b) => a.endedAt.getTime() - b.endedAt.getTime());
    const again = await this.repository.again(agent.agentId, MOST_AGAIN);
    const due: DueCall[] = [...again, ...fresh];
    const own = await this.capacity.own(
      source.credential,
      due.map(({ id }) => id),
    );
    const broken: (() => Promise<void>)[] = [];
    let readable = 0;
    for (const call of due) {
      // Where it stops, the next turn goes on: what was taken is known by then.
      if (this.clock.now() - startedAt > TURN_MS) return false;
      try {
        await this.take(source, call, own.has(call.id));
        readable++;
      } catch (error) {
        if (!(error instanceof CallFailure)) {
          await this.notJudged(source, call, error);
          continue;
        }
        if (STOPS.has(error.failure.status ?? 0)) throw error;
        const note = () => this.unreadable(source, call, ofRecords(error.failure));
        if (OF_RECORD.has(error.failure.code)) await note();
        else if (broken.push(note) >= MOST_BROKEN && readable === 0 && agent.failures < MOST_FAILURES) throw error;
      }
    }
    for (const note of broken) await note();
    return true;
  }

  private async take(source: Source, call: DueCall, isOwn: boolean): Promise<void> {
    const { agent, records, request } = source;
    const note = (outcome: FetchedOutcome, dueAt: Date | null = null, awaitsSound = false) =>
      this.repository.note(agent.agentId, { platformId: call.id, endedAt: call.endedAt }, outcome, {
        dueAt,
        awaitsSound,
      });
    if (isOwn) return note('own');
    if (!isSampled(call.id, agent.samplePercent)) return note('sampled_out');
    const found = await records.get(call.id, request);
    if (found && (await this.isOwn(found))) return note('own');
    if (!found || found.said === null) {
      const dueAt = this.againAt(call);
      return note(dueAt ? 'awaited' : 'no_words', dueAt);
    }
    const soundAt = this.sounds.dueAt(source, found);
    const taken = await this.production.take(judgedAs(agent), found, soundAt !== null);
    // A process may have died before it noted that a sound is awaited.
    if (soundAt && (taken === 'awaited' || taken === 'known')) return note('awaited', soundAt, true);
    await note(taken === 'known' ? 'judged' : taken);
  }

  /** By its mark, or its caller's number. */
  private async isOwn(call: ProductionCall): Promise<boolean> {
    if (call.attemptId !== null) return true;
    return call.callerNumber !== null && this.capacity.isOwnCaller(call.callerNumber, call);
  }

  private async unreadable({ agent }: Pick<Source, 'agent'>, call: DueCall, issue: string): Promise<void> {
    const dueAt = this.againAt(call);
    const noted = { platformId: call.id, endedAt: call.endedAt };
    await this.repository.note(agent.agentId, noted, dueAt ? 'awaited' : 'malformed', { issue, dueAt });
  }

  /** What is wrong with one call does not stop the others. @throws the error if it is about more than the call */
  private async notJudged({ agent }: Source, call: DueCall, error: unknown): Promise<void> {
    if (this.over.signal.aborted || error instanceof DomainError) throw error;
    this.logger.error(`Call ${call.id} of agent ${agent.agentId} could not be judged: ${messageOf(error)}`);
    await this.unreadable({ agent }, call, 'It could not be judged: an error of this service');
  }

  private againAt({ readings = 0 }: DueCall): Date | null {
    const pauseMs = AGAIN_MS[readings];
    return pauseMs === undefined ? null : new Date(this.clock.now() + pauseMs);
  }

  /** Waits until a credential may send its next request. */
  private async turn(credential: string, signal: AbortSignal): Promise<void> {
    const now = performance.now();
    const at = Math.max(now, this.freeAt.get(credential) ?? 0);
    this.freeAt.set(credential, at + GAP_MS);
    if (this.freeAt.size > 1_000) this.freeAt.delete(this.freeAt.keys().next().value!);
    await sleep(at - now, undefined, { signal });
  }

  private next(): Date {
    return new Date(this.clock.now() + EVERY_MS + (2 * Math.random() - 1) * JITTER_MS);
  }
}

const UNLISTED =
  'More calls ended at this moment than the platform can list: send those that are missing with POST /agents/{id}/calls/import';

export const WITHOUT_RECORDS =
  'The platform of the agent keeps no records of calls: send them with POST /agents/{id}/calls/import';

const REWORDED: Readonly<Record<string, string>> = {
  platform_refused: 'The platform refused to give the records of its calls',
  bad_response: 'The answer of the platform cannot be used',
};

/** What a failure says where the platform was asked for records, and no agent was called. */
function ofRecords({ code, message }: Pick<Failure, 'code' | 'message'>): string {
  const [, , sentence] = FAILURES[code];
  const reworded = REWORDED[code] ?? sentence.replace(/\bagent\b/, 'platform');
  return message.startsWith(sentence) ? reworded + message.slice(sentence.length) : message;
}

/** Names an agent of a platform, whatever its key is. */
const accountOf = ({ protocol, url }: CalledEndpoint, { assistantId }: Pick<AgentDescription, 'assistantId'>): string =>
  createHash('sha256')
    .update(JSON.stringify([protocol.split('-')[0], new URL(url).host, assistantId]))
    .digest('hex');

/** The same calls are in the sample, whenever they are read. */
export function isSampled(id: string, percent: number): boolean {
  return createHash('sha256').update(id).digest().readUInt32BE() < (percent / 100) * 2 ** 32;
}
