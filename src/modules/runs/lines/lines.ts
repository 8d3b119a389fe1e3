import { createHmac } from 'node:crypto';
import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { OutboundClient } from '../../../../libs/outbound-http/index.js';
import {
  type AgentEndpoint,
  CallFailure,
  type CallLedger,
  type FailureCode,
  type JsonValue,
  platformOf,
  PROTOCOLS,
} from '../../../../libs/simulation/index.js';
import { SETTINGS } from '../../../platform/config/settings.module.js';
import type { Settings } from '../../../platform/config/settings.js';
import { KeyRing } from '../../../platform/encryption/key-ring.js';
import { messageOf } from '../../../platform/errors/message-of.js';
import { Queue } from '../../../platform/queue/queue.js';
import type { AgentProvider } from '../../../platform/config/agent-providers.js';
import type { AgentDescription } from '../../agents/agents.service.js';
import { ConnectionTestLines, type LineOfTest } from '../../agents/connection/connection-test-lines.service.js';
import { ConnectionService } from '../../agents/connection/connection.service.js';
import type { Medium } from '../call.entity.js';
import { SLOTS } from '../slot-job.js';
import { type AbandonedCall, LinesRepository, MAX_END_FAILURES } from './lines.repository.js';
import { handlePurpose } from './platform-call.entity.js';

/** Calls at once per credential of a platform that bills, unless the provider's setting says otherwise. */
const DEFAULT_LIMIT = 5;
/** How long it is remembered which lines an agent uses, in milliseconds; every call compares them with its connection. */
const REMEMBER_MS = 2_000;
/** For one request that ends a call, in milliseconds. */
const END_TIMEOUT_MS = 10_000;

/** The lines that calls of an agent use. */
export interface LineRule {
  readonly protocol: string;
  readonly credential: string;
  /** Calls at once. */
  readonly limit: number;
}

/** A claimed call; `line`: the credential whose line it has. */
export interface CallOnLine {
  readonly claimId: string;
  readonly agentId: string;
  readonly workspaceId: string;
  readonly protocol: string;
  readonly bills: boolean;
  readonly line: string | null;
}

/** The platform answered that it carries no call: there is none to look for. */
const REFUSALS: ReadonlySet<FailureCode> = new Set([
  'rate_limited',
  'platform_busy',
  'platform_refused',
  'http_refused',
]);

/** The lines of platforms: how many calls of a credential there are at once, and that each of them ends (decision 159). */
@Injectable()
export class Lines implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Lines');
  private readonly rules = new LRUCache<string, { readonly rule: LineRule | undefined }>({
    max: 1_000,
    ttl: REMEMBER_MS,
  });
  /** Calls that this process has dialled, by claim, with their handles. */
  private readonly dialled = new Map<string, { handle?: JsonValue }>();
  private readonly releases = new Map<string, Promise<void>>();
  /** The end of the abandoned calls that were taken last. */
  private ending: Promise<void> | undefined;

  constructor(
    private readonly repository: LinesRepository,
    private readonly connections: ConnectionService,
    private readonly client: OutboundClient,
    private readonly keyRing: KeyRing,
    private readonly queue: Queue,
    @Inject(SETTINGS) private readonly settings: Settings,
    tests: ConnectionTestLines,
  ) {
    tests.take = (...test) => this.takeForTest(...test);
  }

  /** The lines that calls of the agent over this medium need; undefined if they need none. */
  async ruleOf(agentId: string, medium: Medium): Promise<LineRule | undefined> {
    const key = `${medium} ${agentId}`;
    const known = this.rules.get(key);
    if (known) return known.rule;
    const found = await this.connections.endpointOver(agentId, medium);
    const rule = found && this.rule(found.provider, found.endpoint);
    this.rules.set(key, { rule });
    return rule;
  }

  /** Why the call must not begin now: what its claim found of its agent no longer holds. */
  async staleness(call: CallOnLine, endpoint: AgentEndpoint, medium: Medium): Promise<string | undefined> {
    if (call.line === null && !call.bills) return undefined;
    const found = await this.connections.endpointOver(call.agentId, medium);
    const rule = found && this.rule(found.provider, endpoint);
    if ((rule?.credential ?? null) === call.line) return undefined;
    this.rules.delete(`${medium} ${call.agentId}`);
    return 'its connection has changed';
  }

  /**
   * Notes that the attempt dials, before it does.
   * @returns undefined for a call that is not billed
   * @throws CallFailure if the paid attempts at the call are used up, or the line was lost
   */
  async dial({ claimId, bills }: CallOnLine): Promise<CallLedger | undefined> {
    if (!bills) return undefined;
    const known = await this.repository.dial(claimId);
    if (!known) throw new CallFailure('interrupted', 'its line was lost');
    if (known.paidAttempts >= known.maxPaidAttempts) throw new CallFailure('paid_attempts_used');
    return this.ledgerOf(claimId);
  }

  /** A line for the test of a connection, at once or not at all. */
  private async takeForTest(
    { id: agentId, workspaceId, provider }: AgentDescription,
    endpoint: AgentEndpoint,
    claimId: string,
    leaseMs: number,
  ): Promise<LineOfTest | undefined> {
    const rule = this.rule(provider, endpoint);
    if (!rule) return {};
    const { protocol, credential: line } = rule;
    const { bills = false, medium } = PROTOCOLS.of(protocol);
    const call = { claimId, agentId, workspaceId, protocol, bills, line };
    if (!(await this.repository.takeForTest({ ...call, medium, limit: rule.limit, leaseMs }))) return undefined;
    const release = async () => {
      await this.release(call);
      this.forget(call);
    };
    return { line: { ...(bills && { ledger: this.ledgerOf(claimId) }), release } };
  }

  private ledgerOf(claimId: string): CallLedger {
    const call: { handle?: JsonValue } = {};
    this.dialled.set(claimId, call);
    return {
      placed: async (handle, id) => {
        call.handle = handle;
        const sealed = this.keyRing.encrypt(JSON.stringify(handle), handlePurpose(claimId));
        if (!(await this.repository.placed(claimId, sealed, id ?? null))) {
          throw new CallFailure('interrupted', 'its line was lost');
        }
      },
      identified: (id) =>
        this.repository.identified(claimId, id).catch((error: unknown) => {
          this.logger.warn(`The platform's id of attempt ${claimId} could not be stored: ${messageOf(error)}`);
        }),
      paid: (seconds) => this.repository.paid(claimId, seconds),
    };
  }

  /**
   * Ends the platform's call, if it may be open, and frees the line. Once per claim; never rejects: the sweep goes on with
   * what fails.
   * @param failure how the attempt ended; undefined if it is over without a failure, or not yet known
   */
  release(call: CallOnLine, failure?: FailureCode): Promise<void> {
    if (call.line === null) return Promise.resolve();
    let release = this.releases.get(call.claimId);
    if (!release) {
      release = this.end(call, failure);
      this.releases.set(call.claimId, release);
    }
    return release;
  }

  /** Forgets a call that this process no longer executes. */
  forget({ claimId }: CallOnLine): void {
    this.dialled.delete(claimId);
    this.releases.delete(claimId);
  }

  private async end(call: CallOnLine, failure: FailureCode | undefined): Promise<void> {
    const dialled = this.dialled.get(call.claimId);
    const isRefused = failure !== undefined && REFUSALS.has(failure) && dialled?.handle === undefined;
    try {
      if (dialled && !isRefused) await this.hangUp(call, dialled.handle);
      await this.free(call.claimId);
    } catch (error) {
      await this.endFailed(call, error);
    }
  }

  /**
   * Ends calls of processes that died, or whose end failed before. Awaits no platform: until the sweep is over, the process
   * gives no sign of life.
   * @returns how many calls could not be ended
   */
  async sweep(): Promise<number> {
    await this.repository.endHopeless();
    if (!this.ending) {
      const abandoned = await this.repository.takeAbandoned();
      const ended = Promise.all(abandoned.map((call) => this.endAbandoned(call)));
      this.ending = ended.then(() => (this.ending = undefined));
    }
    return this.repository.unended();
  }

  /** What was begun needs the database. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.ending;
  }

  renew(calls: readonly CallOnLine[], leaseMs: number): Promise<void> {
    const claims = calls.filter(({ line }) => line !== null).map(({ claimId }) => claimId);
    return claims.length === 0 ? Promise.resolve() : this.repository.renew(claims, leaseMs);
  }

  private async endAbandoned(call: AbandonedCall): Promise<void> {
    const { claimId, state, handle } = call;
    try {
      if (call.bills && state !== 'line') {
        const opened = handle === null ? undefined : this.keyRing.decrypt(handle, handlePurpose(claimId));
        await this.hangUp(call, opened === undefined ? undefined : (JSON.parse(opened) as JsonValue));
      }
      await this.free(claimId);
    } catch (error) {
      await this.endFailed(call, error);
    }
  }

  /** @param handle undefined if it is not known @throws if the platform could not be asked */
  private async hangUp(
    call: Pick<CallOnLine, 'claimId' | 'agentId' | 'workspaceId' | 'protocol'>,
    handle?: JsonValue,
  ): Promise<void> {
    const { end, find } = platformOf(call.protocol, call.workspaceId);
    if (!end || (handle === undefined && !find)) return;
    const endpoint = await this.connections.endpoint(call.agentId, call.protocol);
    if (!endpoint) throw new Error('the agent has no address');
    const request = { endpoint, client: this.client, signal: AbortSignal.timeout(END_TIMEOUT_MS) };
    const known = handle ?? (await find?.(call.claimId, request)) ?? null;
    if (known !== null) await end(known, request);
  }

  private async free(claimId: string): Promise<void> {
    const next = await this.repository.release(claimId);
    if (!next) return;
    const { agentId, workspaceId, medium } = next;
    await this.queue.enqueue(SLOTS[medium], { agentId, workspaceId, slot: 0 }, { jobKey: `line:${claimId}` });
  }

  private async endFailed(
    { claimId, agentId }: Pick<CallOnLine, 'claimId' | 'agentId'>,
    error: unknown,
  ): Promise<void> {
    try {
      const failures = await this.repository.endFailed(claimId);
      const what = `The platform could not be asked to end attempt ${claimId} of agent ${agentId}`;
      if (failures < MAX_END_FAILURES) this.logger.warn(`${what}: ${messageOf(error)}`);
      else this.logger.error(`${what} in ${failures} tries, and may bill it until its own limit: ${messageOf(error)}`);
    } catch (cause) {
      // Its lease expires, and the sweep ends it.
      this.logger.warn(`Line of attempt ${claimId} could not be freed: ${messageOf(cause)}`);
    }
  }

  private rule(provider: AgentProvider, endpoint: AgentEndpoint): LineRule | undefined {
    const { protocol } = endpoint;
    const { bills = false } = PROTOCOLS.of(protocol);
    const limit = this.settings.agentProviders[provider].concurrency ?? (bills ? DEFAULT_LIMIT : undefined);
    return limit === undefined ? undefined : { protocol, credential: credentialOf(endpoint), limit };
  }
}

/** Names an account of a platform: agents of the same credential share its lines, also over both media. */
export function credentialOf({ protocol, url, apiKey = '', headers }: AgentEndpoint): string {
  const platform = [protocol, PROTOCOLS.of(protocol).twin ?? protocol].sort()[0]!;
  const { host } = new URL(url.replace(/\{\w+\}/g, 'x'));
  const secrets = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  // The key itself keys the hash: without it, a stored credential says nothing about it.
  return createHmac('sha256', JSON.stringify([apiKey, secrets]))
    .update(`${platform}\n${host}`)
    .digest('hex');
}
