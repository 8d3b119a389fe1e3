import { Injectable } from '@nestjs/common';
import { PROTOCOLS } from '../../../libs/simulation/index.js';
import type { Caller } from '../../platform/access/caller.js';
import { covers, readsWords } from '../../platform/access/caller.js';
import { Clock } from '../../platform/clock.js';
import { Database } from '../../platform/database/database.js';
import { about, conflict, forbidden, invalidInput } from '../../platform/errors/domain-error.js';
import { type AgentDescription, AgentsService } from '../agents/agents.service.js';
import { ConnectionService } from '../agents/connection/connection.service.js';
import { DEFAULT_JUDGING } from '../production-days/production-days.service.js';
import { WITHOUT_RECORDS } from './call-fetcher.service.js';
import { COUNTED_AS } from './fetched-call.entity.js';
import type { BackfillRequest, FetchedCounts, Monitoring, PutMonitoringRequest } from './dto/monitoring.dtos.js';
import { MonitoringRepository, type MonitoringSettings } from './monitoring.repository.js';

const DAY_MS = 24 * 60 * 60_000;
const MAX_DAYS = 30;
const MOST_ISSUES = 20;
const MOST_PENDING = 100;

const DEFAULTS: MonitoringSettings = {
  ...{ ...DEFAULT_JUDGING, redact: [...DEFAULT_JUDGING.redact] },
  samplePercent: 100,
  recordings: 'measure_only',
};
const COUNTS = { ...COUNTED_AS, failed: 'failed' } as const;
const NONE = Object.fromEntries(Object.values(COUNTS).map((name) => [name, 0])) as Record<keyof FetchedCounts, 0>;

/** What customers see and set of the monitoring of an agent. */
@Injectable()
export class MonitoringService {
  constructor(
    private readonly database: Database,
    private readonly repository: MonitoringRepository,
    private readonly agents: AgentsService,
    private readonly connections: ConnectionService,
    private readonly clock: Clock,
  ) {}

  /** @throws DomainError NOT_FOUND or FORBIDDEN for the agent */
  async get(caller: Caller, agentId: string): Promise<Monitoring> {
    const agent = await this.agents.describe(caller, agentId);
    const { id, callMonitoring } = agent;
    const today = this.today();
    const [row, reason, counts, pending, issues] = await Promise.all([
      this.repository.find(id),
      this.unreadable(agent),
      this.repository.counts(id, today),
      this.repository.pending(id, dayOf(today.getTime()), MOST_PENDING),
      // They may quote the record.
      readsWords(caller, 'production') ? this.repository.issues(id, MOST_ISSUES) : [],
    ]);
    const { state: stored = 'off', message: said = null, lastFetchedAt = null, ...settings } = row ?? {};
    // The next sweep notices that it was switched on or off.
    const isBegun = callMonitoring && stored !== 'off' && stored !== 'starting';
    const next = reason === undefined ? 'starting' : 'unavailable';
    const state = !callMonitoring ? 'off' : isBegun ? stored : next;
    const message = isBegun ? said : (reason ?? null);
    return {
      ...{ state, message, lastFetchedAt: lastFetchedAt?.toISOString() ?? null, ...DEFAULTS, ...settings },
      today: { ...NONE, ...Object.fromEntries(counts.map(([outcome, count]) => [COUNTS[outcome], count])) },
      pendingEvaluations: pending.map((one) => ({ ...one, countsFrom: dayOf(today.getTime() + DAY_MS) })),
      issues: issues.map(({ endedAt, ...issue }) => ({ ...issue, endedAt: endedAt.toISOString() })),
    };
  }

  /** @throws DomainError as `get` does; CONFLICT if the platform has no records; FORBIDDEN for an EDITOR if the agent uses a default key, or `recordings` is `keep` */
  async put(caller: Caller, agentId: string, settings: PutMonitoringRequest): Promise<Monitoring> {
    return this.database.transaction(async () => {
      const agent = await this.lock(caller, agentId);
      if (settings.recordings === 'keep' && !covers(caller.role, 'ADMIN')) {
        throw forbidden('recordings: only an ADMIN may have the recordings of real callers kept');
      }
      const given = Object.entries(settings).filter(([, value]) => value !== undefined);
      await this.repository.put(agent.id, agent.workspaceId, { ...DEFAULTS, ...Object.fromEntries(given) });
      return this.get(caller, agentId);
    });
  }

  /** Fetches calls of the past. @throws DomainError as `put` does; CONFLICT while it is off; BAD_REQUEST */
  async backfill(caller: Caller, agentId: string, { from }: BackfillRequest): Promise<Monitoring> {
    return this.database.transaction(async () => {
      const agent = await this.lock(caller, agentId);
      const since = Date.parse(from);
      const now = this.clock.now();
      if (since > now) throw invalidInput(about('from', 'must not be in the future'));
      if (since < now - MAX_DAYS * DAY_MS) throw invalidInput(about('from', `must be at most ${MAX_DAYS} days ago`));
      if (!(await this.repository.backfill(agent.id, new Date(since)))) {
        throw conflict('callMonitoring of the agent is false: switch it on first');
      }
      return this.get(caller, agentId);
    });
  }

  private async lock(caller: Caller, agentId: string): Promise<AgentDescription> {
    const agent = await this.agents.describe(caller, agentId, { lock: true });
    if (agent.isUsingDefaultApiKey && !covers(caller.role, 'ADMIN')) {
      throw forbidden(
        'isUsingDefaultApiKey is true: only an ADMIN may decide which calls are read with the default key',
      );
    }
    const reason = await this.unreadable(agent);
    if (reason !== undefined) throw conflict(reason);
    return agent;
  }

  /** @returns why calls of the agent cannot be fetched, whatever its platform answers */
  private async unreadable(agent: AgentDescription): Promise<string | undefined> {
    const endpoint = await this.connections.endpoint(agent.id);
    if (!endpoint) return this.connections.withoutAddress(agent);
    return PROTOCOLS.of(endpoint.protocol).records ? undefined : WITHOUT_RECORDS;
  }

  private today(): Date {
    return new Date(Math.floor(this.clock.now() / DAY_MS) * DAY_MS);
  }
}

/** YYYY-MM-DD. */
const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
