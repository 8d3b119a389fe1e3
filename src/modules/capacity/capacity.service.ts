import { createHmac } from 'node:crypto';
import { type BeforeApplicationShutdown, Inject, Injectable, Logger } from '@nestjs/common';
import { OutboundClient } from '../../../libs/outbound-http/index.js';
import {
  type AgentEndpoint,
  CallFailure,
  type CallLedger,
  type FailureCode,
  type JsonValue,
  platformOf,
  type ProductionCall,
  PROTOCOLS,
} from '../../../libs/simulation/index.js';
import { digitsOf } from '../../../libs/sip/index.js';
import type { AgentProvider } from '../../platform/config/agent-providers.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { KeyRing } from '../../platform/encryption/key-ring.js';
import { messageOf } from '../../platform/errors/message-of.js';
import { isSipAddress, originOf } from '../../platform/agent-address.js';
import { type AbandonedCall, CapacityRepository, MAX_END_FAILURES } from './capacity.repository.js';
import { handlePurpose } from './platform-call.entity.js';

/** Calls at once per credential of a platform that bills, unless the provider's setting says otherwise. */
const DEFAULT_CAPACITY = 5;
/** For one request that ends a call, in milliseconds. */
const END_TIMEOUT_MS = 10_000;

/** Where an agent is called, and whose settings have its capacity. */
export type ProviderEndpoint = AgentEndpoint & { readonly provider: AgentProvider; readonly number?: string };

type FindEndpoint = (agentId: string, protocol: string) => Promise<AgentEndpoint | undefined>;

/** A claimed call, or the test of a connection. */
export interface CallOfPlatform {
  readonly claimId: string;
  readonly agentId: string;
  readonly workspaceId: string;
  readonly protocol: string;
  readonly bills: boolean;
  /** Whose capacity it uses; null if it uses none. */
  readonly credential: string | null;
}

/** A claimed call, with the calls at once of its credential as the claim knew them. */
export interface ClaimedCapacity extends CallOfPlatform {
  readonly capacity: number | null;
}

/** Capacity that the test of a connection has; `release` is absent if it needs none. */
export interface ReservedCapacity {
  /** Absent if the platform does not bill. */
  readonly ledger?: CallLedger;
  /** Ends the call at the platform, if it may be open, and frees its capacity. Never rejects. */
  release?(): Promise<void>;
}

/** The platform answered that it carries no call: there is none to look for. */
const REFUSALS: ReadonlySet<FailureCode> = new Set([
  'rate_limited',
  'platform_busy',
  'platform_refused',
  'http_refused',
]);

/** The capacity of platforms: how many calls of a credential there are at once, and that each of them ends (decision 159). */
@Injectable()
export class CapacityService implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Capacity');
  /** Calls that this process has dialled, by claim. */
  private readonly dialled = new Map<string, { readonly endpoint: AgentEndpoint; handle?: JsonValue }>();
  private readonly releases = new Map<string, Promise<void>>();
  /** The end of the abandoned calls that were taken last. */
  private ending: Promise<void> | undefined;

  constructor(
    private readonly repository: CapacityRepository,
    private readonly client: OutboundClient,
    private readonly keyRing: KeyRing,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Stores what calls of the agent need, for claims. */
  async store(agentId: string, endpoint: ProviderEndpoint): Promise<void> {
    const needed = this.capacityOf(endpoint);
    if (needed) await this.repository.store(agentId, endpoint.protocol, needed.credential, needed.capacity);
    else await this.repository.forget(agentId, endpoint.protocol);
  }

  /**
   * Corrects what is stored if it differs from what the call needs.
   * @returns whether the call must not be dialled: it reserved no capacity of this credential, or more calls than it carries may have
   */
  async correct(call: ClaimedCapacity, endpoint: ProviderEndpoint): Promise<boolean> {
    const { credential = null, capacity = null } = this.capacityOf(endpoint) ?? {};
    if (credential === call.credential && capacity === call.capacity) return false;
    await this.store(call.agentId, endpoint);
    return credential !== call.credential || (capacity ?? Infinity) < (call.capacity ?? Infinity);
  }

  /** Capacity for the test of a connection, at once. @returns undefined if all of it is in use */
  async reserve(
    { id: agentId, workspaceId }: { readonly id: string; readonly workspaceId: string },
    endpoint: ProviderEndpoint,
    claimId: string,
    leaseMs: number,
  ): Promise<ReservedCapacity | undefined> {
    const needed = this.capacityOf(endpoint);
    if (!needed) return {};
    const { protocol } = endpoint;
    const { bills = false, medium } = PROTOCOLS.of(protocol);
    const call = { claimId, agentId, workspaceId, protocol, bills, ...needed };
    if (!(await this.repository.reserve({ ...call, medium, leaseMs }))) return undefined;
    const release = async () => {
      await this.release(call);
      this.forget(call);
    };
    return { ...(bills && { ledger: this.ledgerOf(claimId, endpoint) }), release };
  }

  /**
   * Notes that the attempt dials, before it does.
   * @returns undefined for a call that is not billed
   * @throws CallFailure if the paid attempts at the call are used up, or its capacity was lost
   */
  async dial({ claimId, bills }: CallOfPlatform, endpoint: AgentEndpoint): Promise<CallLedger | undefined> {
    if (!bills) return undefined;
    const known = await this.repository.dial(claimId);
    if (!known) throw new CallFailure('interrupted', 'its line was lost');
    if (known.paidAttempts >= known.maxPaidAttempts) throw new CallFailure('paid_attempts_used');
    return this.ledgerOf(claimId, endpoint);
  }

  /** Which calls of an account are of this service, by their ids in its records. */
  async own(credential: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const keys = await this.repository.own(ids.map((id) => ownKey(credential, id)));
    return new Set(ids.filter((id) => keys.has(ownKey(credential, id))));
  }

  /** Whether the number of a caller is one with which this service had a call at that time. */
  async isOwnCaller(number: string, { startedAt, endedAt }: Pick<ProductionCall, 'startedAt' | 'endedAt'>) {
    const digits = digitsOf(number.replace(/^(sips?|tel):|@.*$/gi, ''));
    return digits !== undefined && (await this.repository.isOwnNumber(digits, startedAt, endedAt));
  }

  private ledgerOf(claimId: string, endpoint: AgentEndpoint): CallLedger {
    const call: { endpoint: AgentEndpoint; handle?: JsonValue } = { endpoint };
    this.dialled.set(claimId, call);
    return {
      placed: async (handle, id) => {
        call.handle = handle;
        const sealed = this.keyRing.encrypt(JSON.stringify(handle), handlePurpose(claimId));
        const own = {
          ownKey: id === undefined ? null : ownKey(credentialOf(endpoint), id),
          caller: digitsOf(endpoint.line?.caller ?? '') ?? null,
        };
        if (!(await this.repository.placed(claimId, sealed, id ?? null, own))) {
          throw new CallFailure('interrupted', 'its line was lost');
        }
      },
      identified: (id) =>
        this.repository.identified(claimId, id, ownKey(credentialOf(endpoint), id)).catch((error: unknown) => {
          this.logger.warn(`The platform's id of attempt ${claimId} could not be stored: ${messageOf(error)}`);
        }),
      paid: (seconds) => this.repository.paid(claimId, seconds),
    };
  }

  /**
   * Ends the platform's call, if it may be open, and frees its capacity. Once per claim; never rejects: the sweep goes on
   * with what fails.
   * @param failure how the attempt ended; undefined if it is over without a failure, or not yet known
   */
  release(call: CallOfPlatform, failure?: FailureCode): Promise<void> {
    if (call.credential === null) return Promise.resolve();
    let release = this.releases.get(call.claimId);
    if (!release) {
      release = this.end(call, failure);
      this.releases.set(call.claimId, release);
    }
    return release;
  }

  /** Forgets a call that this process no longer executes. */
  forget({ claimId }: CallOfPlatform): void {
    this.dialled.delete(claimId);
    this.releases.delete(claimId);
  }

  private async end(call: CallOfPlatform, failure: FailureCode | undefined): Promise<void> {
    const dialled = this.dialled.get(call.claimId);
    const isRefused = failure !== undefined && REFUSALS.has(failure) && dialled?.handle === undefined;
    try {
      if (dialled && !isRefused) await this.hangUp(call, () => dialled.endpoint, dialled.handle);
      await this.repository.release(call.claimId);
    } catch (error) {
      await this.endFailed(call, error);
    }
  }

  /**
   * Ends calls of processes that died, or whose end failed before. Awaits no platform: until the sweep is over, the process
   * gives no sign of life.
   * @param endpointOf where the agent is reached now; undefined if it has no address
   * @returns how many calls could not be ended
   */
  async sweep(endpointOf: FindEndpoint): Promise<number> {
    await this.repository.forgetOver();
    if (!this.ending) {
      const abandoned = await this.repository.takeAbandoned();
      const ended = Promise.all(abandoned.map((call) => this.endAbandoned(call, endpointOf)));
      this.ending = ended.then(() => (this.ending = undefined));
    }
    return this.repository.countNotEnded();
  }

  /** What was begun needs the database. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.ending;
  }

  renew(calls: readonly CallOfPlatform[], leaseMs: number): Promise<void> {
    const claims = calls.filter(({ credential }) => credential !== null).map(({ claimId }) => claimId);
    return claims.length === 0 ? Promise.resolve() : this.repository.renew(claims, leaseMs);
  }

  private async endAbandoned(call: AbandonedCall, endpointOf: FindEndpoint): Promise<void> {
    const { claimId, agentId, protocol, state, handle } = call;
    try {
      if (call.bills && state !== 'reserved') {
        const opened = handle === null ? undefined : this.keyRing.decrypt(handle, handlePurpose(claimId));
        const known = opened === undefined ? undefined : (JSON.parse(opened) as JsonValue);
        await this.hangUp(call, () => endpointOf(agentId, protocol), known);
      }
      await this.repository.release(claimId);
    } catch (error) {
      await this.endFailed(call, error);
    }
  }

  /** @param handle undefined if it is not known @throws if the platform could not be asked */
  private async hangUp(
    call: Pick<CallOfPlatform, 'claimId' | 'workspaceId' | 'protocol'>,
    reach: () => AgentEndpoint | Promise<AgentEndpoint | undefined>,
    handle?: JsonValue,
  ): Promise<void> {
    const { end, find } = platformOf(call.protocol, call.workspaceId);
    if (!end || (handle === undefined && !find)) return;
    const endpoint = await reach();
    if (!endpoint) throw new Error('the agent has no address');
    const request = { endpoint, client: this.client, signal: AbortSignal.timeout(END_TIMEOUT_MS) };
    const known = handle ?? (await find?.(call.claimId, request)) ?? null;
    if (known !== null) await end(known, request);
  }

  private async endFailed(
    { claimId, agentId }: Pick<CallOfPlatform, 'claimId' | 'agentId'>,
    error: unknown,
  ): Promise<void> {
    try {
      const failures = await this.repository.endFailed(claimId);
      const what = `The platform could not be asked to end attempt ${claimId} of agent ${agentId}`;
      if (failures < MAX_END_FAILURES) this.logger.warn(`${what}: ${messageOf(error)}`);
      else this.logger.error(`${what} in ${failures} tries, and may bill it until its own limit: ${messageOf(error)}`);
    } catch (cause) {
      // Its lease expires, and the sweep ends it.
      this.logger.warn(`The capacity of attempt ${claimId} could not be freed: ${messageOf(cause)}`);
    }
  }

  private capacityOf(endpoint: ProviderEndpoint): { credential: string; capacity: number } | undefined {
    const { bills = false } = PROTOCOLS.of(endpoint.protocol);
    const { concurrency, sipTrunk } = this.settings.agentProviders[endpoint.provider];
    const channels = endpoint.number === undefined ? undefined : sipTrunk?.channels;
    const capacity = channels ?? concurrency ?? (bills ? DEFAULT_CAPACITY : undefined);
    return capacity === undefined ? undefined : { credential: credentialOf(endpoint), capacity };
  }
}

/** Names a call of this service in the records of a platform; without the credential's key it says nothing about either. */
const ownKey = (credential: string, id: string): string => createHmac('sha256', credential).update(id).digest('hex');

/** Names an account of a platform: agents of the same credential share its capacity, also over both media. */
export function credentialOf({ number, line, ...endpoint }: Omit<ProviderEndpoint, 'provider'>): string {
  // A trunk has its own credentials, whatever agents it calls.
  if (number !== undefined)
    return credentialOf({ ...endpoint, headers: {}, apiKey: JSON.stringify(line?.credentials) });
  const { protocol, url, apiKey = '', headers } = endpoint;
  const platform = [protocol, PROTOCOLS.of(protocol).twin ?? protocol].sort()[0]!;
  const host = isSipAddress(url) ? originOf(url) : new URL(url.replace(/\{\w+\}/g, 'x')).host;
  const secrets = Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1));
  // The key itself keys the hash: without it, a stored credential says nothing about it.
  return createHmac('sha256', JSON.stringify([apiKey, secrets]))
    .update(`${platform}\n${host}`)
    .digest('hex');
}
