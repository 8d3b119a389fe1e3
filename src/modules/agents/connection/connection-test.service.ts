import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { OutboundClient } from '../../../../libs/outbound-http/index.js';
import { type ConnectionTestResult, testConnection } from '../../../../libs/simulation/index.js';
import type { Caller } from '../../../platform/access/caller.js';
import { Database } from '../../../platform/database/database.js';
import { conflict, DomainError } from '../../../platform/errors/domain-error.js';
import { CapacityService } from '../../capacity/capacity.service.js';
import { DialLimitsService } from '../../capacity/dial-limits.service.js';
import { NumbersService } from '../../capacity/numbers.service.js';
import { type AgentDescription, AgentsService } from '../agents.service.js';
import { ConnectionTestPolicy } from './connection-test-policy.js';
import { ConnectionTestRepository, type RefusedTest } from './connection-test.repository.js';
import { DiallingService } from './dialling.service.js';
import { type CalledEndpoint, ConnectionService } from './connection.service.js';

/** How much longer than its time-out a test counts as running, if its process dies; in milliseconds. */
const GRACE_MS = 5_000;
/** The longest wait for a turn on a trunk; in milliseconds. */
const TURN_MS = 5_000;
/** When to try again without capacity. */
const CAPACITY_RETRY_SECONDS = 10;

/** Calls agents once to see whether they can be reached. */
@Injectable()
export class ConnectionTestService {
  constructor(
    private readonly database: Database,
    private readonly repository: ConnectionTestRepository,
    private readonly policy: ConnectionTestPolicy,
    private readonly agents: AgentsService,
    private readonly connections: ConnectionService,
    private readonly client: OutboundClient,
    private readonly capacity: CapacityService,
    private readonly numbers: NumbersService,
    private readonly dialling: DiallingService,
    private readonly dialLimits: DialLimitsService,
  ) {}

  /**
   * Calls the agent and hangs up after its first words. The result is not part of a run.
   * @throws DomainError NOT_FOUND or FORBIDDEN for the agent; CONFLICT without an address; TOO_MANY_REQUESTS
   */
  async test(caller: Caller, id: string): Promise<ConnectionTestResult> {
    const agent = await this.agents.describe(caller, id);
    // Other processes must see that the test runs; and a request with an Idempotency-Key has a transaction.
    return this.database.withoutTransaction(async () => {
      const endpoint = await this.connections.endpoint(agent.id);
      if (!endpoint) throw conflict(this.connections.withoutAddress(agent));
      this.connections.requireNumber(agent, endpoint);
      const { perMinute, timeoutMs } = this.policy;
      const started = await this.repository.start(
        agent.workspaceId,
        agent.id,
        perMinute,
        TURN_MS + timeoutMs + GRACE_MS,
      );
      if (typeof started !== 'string') throw this.refusal(started);
      try {
        return await this.call(agent, endpoint);
      } finally {
        await this.repository.end(started);
      }
    });
  }

  private async call(agent: AgentDescription, endpoint: CalledEndpoint): Promise<ConnectionTestResult> {
    const { assistantId, phoneNumber, type } = agent;
    const callId = randomUUID();
    const { timeoutMs } = this.policy;
    const dialled = this.dialling.dial(endpoint, { assistantId, type, phoneNumber: phoneNumber ?? '', callId });
    if ('refusal' in dialled) throw conflict(`The agent is not called: ${dialled.refusal}`);
    const seconds = Math.ceil(timeoutMs / 1000);
    if (dialled.number !== undefined) await this.dialLimits.requireRoom(agent.workspaceId, { calls: 1, seconds });
    if (!(await this.dialLimits.turn(dialled, undefined, TURN_MS))) {
      throw this.refusal({ reason: 'pace', retryAfterSeconds: CAPACITY_RETRY_SECONDS });
    }
    const reserved = await this.capacity.reserve(agent, endpoint, callId, timeoutMs + GRACE_MS);
    if (!reserved) throw this.refusal({ reason: 'capacity', retryAfterSeconds: CAPACITY_RETRY_SECONDS });
    const { workspaceId } = agent;
    const { ledger, hungUp } = this.dialLimits.limit(reserved.ledger, { workspaceId, ...dialled, seconds });
    try {
      const answersAt = await this.numbers.leaseFor(agent, endpoint, callId);
      if (answersAt === null) throw this.refusal({ reason: 'numbers', retryAfterSeconds: CAPACITY_RETRY_SECONDS });
      const call = {
        client: this.client,
        workspaceId,
        assistantId,
        phoneNumber: phoneNumber ?? '',
        callId,
        ...(ledger && { ledger }),
        ...(answersAt && { answersAt }),
      };
      return await testConnection(dialled.endpoint, call, timeoutMs);
    } finally {
      hungUp();
      await reserved.release?.();
    }
  }

  private refusal({ reason, retryAfterSeconds }: RefusedTest): DomainError {
    const issue = {
      running: 'The agent is busy: its connection is being tested already',
      limit: `At most ${this.policy.perMinute} connections of a workspace are tested within a minute`,
      capacity:
        'The agent is busy: its platform carries as many calls of its key as it may (AGENT_PROVIDER_n_CONCURRENCY)',
      pace: 'The agent is busy: more calls wait for their turn on its trunk than begin within 5 s (SIP_CALLS_PER_SECOND)',
      numbers: 'All numbers of SIP_ACCOUNTS at which the agent can call are in use, or rest for 30 s after a call',
    }[reason];
    return new DomainError('TOO_MANY_REQUESTS', undefined, [issue], { retryAfterSeconds });
  }
}
