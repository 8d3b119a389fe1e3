import { Inject, Injectable } from '@nestjs/common';
import { OutboundClient } from '../../../../libs/outbound-http/index.js';
import type { TranscriptionEquipment } from '../../../../libs/run-plan/index.js';
import {
  type AgentEndpoint,
  agentUrl,
  type Medium,
  type ProtocolName,
  PROTOCOLS,
  reportsTools,
  type TranscriptionMode,
} from '../../../../libs/simulation/index.js';
import { type Caller, covers } from '../../../platform/access/caller.js';
import type { AgentProvider } from '../../../platform/config/agent-providers.js';
import { SETTINGS } from '../../../platform/config/settings.module.js';
import type { Settings } from '../../../platform/config/settings.js';
import { Database } from '../../../platform/database/database.js';
import { KeyRing } from '../../../platform/encryption/key-ring.js';
import { about, conflict, forbidden, invalidInput, notFound } from '../../../platform/errors/domain-error.js';
import { callsTester, NumbersService } from '../../capacity/numbers.service.js';
import { AgentSecrets } from '../agent-secrets.js';
import { type AgentDescription, AgentsService } from '../agents.service.js';
import { type ConnectionSecrets, connectionSecretsPurpose } from './agent-connection.entity.js';
import type { CalledEndpoint } from './called-endpoint.js';
import { ConnectionCheck } from './connection-rules.js';
import {
  BY_NUMBER,
  type Dialled,
  type DiallingRefusal,
  DiallingService,
  isDialled,
  withoutTrunk,
} from './dialling.service.js';
import { type CalledAgent, ConnectionRepository, type ConnectionRow } from './connection.repository.js';
import type { Connection, PutConnectionRequest } from './dto/connection.dtos.js';
import {
  type AvailableProtocols,
  chooseProtocol,
  type ProtocolChoice,
  reachableBy,
  twinOf,
} from './protocol-choice.js';

export type { CalledEndpoint, ProtocolChoice };

/** The protocol of planned calls, and what transcribes the agent's audio. */
export interface PlannedConnection extends ProtocolChoice {
  readonly transcription: TranscriptionEquipment;
  /** Whether the backend of the agent reports its tool calls. */
  readonly reportsTools: boolean;
  /** Those of the agent's own connection, without secret ones. */
  readonly connectionOptions: AgentEndpoint['options'];
  /** Of the address, such as `wss:`. */
  readonly scheme?: string | undefined;
}

/** How agents are reached: by a connection of their own, else by the settings for their provider. */
@Injectable()
export class ConnectionService {
  constructor(
    private readonly database: Database,
    private readonly repository: ConnectionRepository,
    private readonly agents: AgentsService,
    private readonly agentSecrets: AgentSecrets,
    private readonly keyRing: KeyRing,
    private readonly outbound: OutboundClient,
    private readonly numbers: NumbersService,
    private readonly dialling: DiallingService,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** @throws DomainError NOT_FOUND or FORBIDDEN for the agent; NOT_FOUND if it has no address */
  async get(caller: Caller, id: string): Promise<Connection> {
    return this.read(await this.agents.describe(caller, id));
  }

  /**
   * Replaces the connection.
   * @throws DomainError as `get` does; FORBIDDEN for an EDITOR if the agent uses a default key; BAD_REQUEST; CONFLICT if the
   *   default key would be sent to another platform
   */
  async put(caller: Caller, id: string, input: PutConnectionRequest): Promise<Connection> {
    return this.database.transaction(async () => {
      const agent = await this.lock(caller, id);
      const stored = await this.repository.find(agent.id);
      const { protocol = 'chat-completions', headers = {}, firstSpeaker = null, options = {} } = input;
      const url = input.url ?? PROTOCOLS.of(protocol).defaultUrl ?? (isDialled(protocol) ? BY_NUMBER : undefined);
      if (url === undefined) throw invalidInput(about('url', `is required: ${protocol} has no default address`));
      const reached = this.dialling.reach(agent.provider, url);
      if (!reached) throw invalidInput(about('url', withoutTrunk(agent.provider)));
      const before = stored && this.dialling.reach(agent.provider, stored.url);
      const previous = before && { url: before.url, options: stored.options, secrets: this.open(stored) };
      const given = { url: reached.url, headers, options };
      const checked = new ConnectionCheck(given, PROTOCOLS.of(protocol), this.outbound, previous);
      const [issue, ...more] = checked.issues;
      if (issue !== undefined) throw invalidInput(issue, ...more);
      this.requireKeyFor(agent, protocol, checked.options);
      const secrets = this.keyRing.encrypt(JSON.stringify(checked.secrets), connectionSecretsPurpose(agent.id));
      await this.repository.put({ agentId: agent.id, protocol, url, firstSpeaker, options: checked.options, secrets });
      return this.read(agent);
    });
  }

  /**
   * Deletes the connection, after which the settings for the provider apply.
   * @returns the connection as it was
   * @throws DomainError as `put` does
   */
  async delete(caller: Caller, id: string): Promise<Connection> {
    return this.database.transaction(async () => {
      const agent = await this.lock(caller, id);
      const connection = await this.read(agent);
      await this.repository.delete(agent.id);
      return connection;
    });
  }

  /**
   * Where and with which credentials calls reach the agent now, deleted or not; undefined if it has no address.
   * @param wanted protocol of the calls; the agent's first one if it is not given, and if the agent no longer has it
   */
  async endpoint(agentId: string, wanted?: ProtocolName): Promise<CalledEndpoint | undefined> {
    const agent = await this.repository.findCalled(agentId);
    return agent && this.endpointOf(agent, wanted);
  }

  private endpointOf(agent: CalledAgent, wanted?: ProtocolName): CalledEndpoint | undefined {
    const { provider, connection, phoneNumber: ownNumber, phoneNumberId } = agent;
    const { mode: transcription } = this.transcriptionOf(provider, connection?.options);
    const reachable = reachableBy(this.available(provider, connection?.protocol ?? null));
    const protocol = reachable.find((name) => name === wanted) ?? reachable[0]!;
    if (!connection) {
      const apiKey = this.agentSecrets.keyOf(agent) ?? undefined;
      const { url, isVendors } = this.addressOf(provider, protocol);
      const reached = url === undefined ? undefined : this.dialling.reach(provider, url);
      if (!reached) return undefined;
      // An address that was set belongs to the operator, not to the workspace.
      const shown = isVendors ? {} : { shownUrl: `${provider}_URL` };
      const common = {
        provider,
        protocol,
        ownNumber,
        phoneNumberId,
        headers: {},
        firstSpeaker: null,
        options: {},
        transcription,
      };
      return { ...common, ...shown, ...reached, ...(apiKey !== undefined && { apiKey }) };
    }
    const { url, firstSpeaker, options } = connection;
    const reached = this.dialling.reach(provider, url);
    if (!reached) return undefined;
    const secrets = this.open(connection);
    const given = { ...options, ...secrets.options };
    const isKeyKept = agent.defaultApiKey !== null && this.otherPlatform(provider, protocol, options) !== undefined;
    const apiKey = isKeyKept ? undefined : (this.agentSecrets.keyOf(agent) ?? undefined);
    return {
      provider,
      protocol,
      ownNumber,
      ...reached,
      headers: Object.fromEntries(Object.entries(secrets.headers).map(([name, value]) => [name.toLowerCase(), value])),
      firstSpeaker,
      options: protocol === connection.protocol ? given : optionsOf(protocol, given),
      transcription,
      phoneNumberId,
      ...(apiKey !== undefined && { apiKey }),
    };
  }

  /** Options of the agent's own connection, without secret ones. */
  async optionsOf(agentId: string): Promise<AgentEndpoint['options']> {
    return (await this.repository.find(agentId))?.options ?? {};
  }

  /** Whose words of an agent count on voice calls that the service does not make; `off` if it was erased. */
  async transcription(agentId: string): Promise<TranscriptionMode> {
    const agent = await this.repository.findCalled(agentId);
    return agent ? this.transcriptionOf(agent.provider, agent.connection?.options).mode : 'off';
  }

  /**
   * Decides on the protocol of an agent's calls (decision 105).
   * @param own protocol of the agent's own connection; null without one
   * @param medium that the calls must have
   * @throws DomainError CONFLICT if the agent has no protocol of that medium
   */
  decide(provider: AgentProvider, own: ProtocolName | null, medium?: Medium | null): ProtocolChoice {
    const choice = chooseProtocol(this.available(provider, own), medium);
    if ('refusal' in choice) throw conflict(choice.refusal);
    return choice;
  }

  /** Says that an agent has no address, and how to set one. */
  withoutAddress({ provider }: Pick<AgentDescription, 'provider'>): string {
    return `The agent has no address: set its connection (PUT /agents/{id}/connection), or ${provider}_URL for all agents of ${provider}, or ${provider}_SIP_TRUNK for their telephone numbers`;
  }

  /**
   * What calls to each of these numbers dial.
   * @returns undefined for a protocol that dials nothing, and for an agent without an address
   */
  async dial(
    { id, assistantId, type }: AgentDescription,
    protocol: ProtocolName,
    numbers: readonly string[],
  ): Promise<(Dialled | DiallingRefusal)[] | undefined> {
    const endpoint = isDialled(protocol) ? await this.endpoint(id, protocol) : undefined;
    return (
      endpoint &&
      numbers.map((phoneNumber) => this.dialling.dial(endpoint, { assistantId, type, phoneNumber, callId: '' }))
    );
  }

  /** Whose words of the agent count on its voice calls: the connection says so, else the provider's setting. */
  private transcriptionOf(provider: AgentProvider, options: Readonly<Record<string, unknown>> = {}) {
    const own = options['transcription'] as TranscriptionMode | undefined;
    const setting = { mode: this.settings.agentProviders[provider].transcription, source: `${provider}_TRANSCRIPTION` };
    return own === undefined ? setting : { mode: own, source: "the option of the agent's connection" };
  }

  /**
   * The protocol of calls that are planned now.
   * @param medium that they must have
   * @throws DomainError CONFLICT as `decide` does, if the agent has no address that may be called, and if the default key
   *   would be sent to another platform
   */
  async choose(agent: AgentDescription, medium: Medium | null): Promise<PlannedConnection> {
    const { id, provider, assistantId } = agent;
    const connection = await this.repository.find(id);
    if (connection) this.requireKeyFor(agent, connection.protocol, connection.options);
    const choice = this.decide(provider, connection?.protocol ?? null, medium);
    const { url } = connection ?? this.addressOf(provider, choice.protocol);
    const reached = url === undefined ? undefined : this.dialling.reach(provider, url);
    if (url === undefined || !reached) throw conflict(this.withoutAddress({ provider }));
    this.requireNumber(agent, { protocol: choice.protocol, url: reached.url, options: connection?.options ?? {} });
    // Host names are checked when they are resolved, for the call.
    if (this.outbound.check(agentUrl(url, { assistantId, phoneNumber: '', callId: '' })) !== 'ADDRESS_REFUSED') {
      const { baseUrl, isAlways = false } = this.settings.transcription ?? {};
      const host = baseUrl === undefined ? undefined : new URL(baseUrl).host;
      const transcription = { ...this.transcriptionOf(provider, connection?.options), host, isAlways };
      const connectionOptions = connection?.options ?? {};
      const scheme = /^[a-z]+:/i.exec(reached.url)?.[0].toLowerCase();
      return { ...choice, transcription, reportsTools: reportsTools(connectionOptions), connectionOptions, scheme };
    }
    const whose = connection
      ? 'The agent cannot be called: its address'
      : `Agents of ${provider} cannot be called: their address (${provider}_URL)`;
    throw conflict(`${whose} is not public; to allow it, add its network to OUTBOUND_ALLOWED_NETWORKS`);
  }

  /** @throws DomainError CONFLICT if the agent calls the tester, and cannot be asked to, or has no number to call */
  requireNumber(
    agent: Pick<AgentDescription, 'type' | 'phoneNumber' | 'phoneNumberId'>,
    { protocol, url, options }: Pick<AgentEndpoint, 'protocol' | 'url' | 'options'>,
  ): void {
    const { calledBy } = PROTOCOLS.of(protocol);
    if (!callsTester(agent.type, protocol) || !calledBy) return;
    const refused = (cure: string) =>
      conflict(`The agent is to call the tester (type OUTBOUND over ${protocol}): ${cure}`);
    if (!this.numbers.areAt(url))
      throw refused('set SIP_ACCOUNTS to numbers of the trunk that is the url of its connection');
    const field = calledBy(options);
    if (field === undefined) throw refused('set the option trigger of its connection');
    const missing = (['phoneNumber', field] as const).find((name) => !agent[name]);
    if (missing) throw refused(`set ${missing} of the agent, the number from which it calls`);
  }

  private available(provider: AgentProvider, own: ProtocolName | null): AvailableProtocols {
    const { protocol, textProtocol } = this.settings.agentProviders[provider];
    return { own, provider: protocol, text: textProtocol, settings: provider };
  }

  /** Where agents without a connection are called over a protocol of their provider. */
  private addressOf(provider: AgentProvider, protocol: ProtocolName): { url: string | undefined; isVendors: boolean } {
    const { url, sipTrunk } = this.settings.agentProviders[provider];
    if (url === undefined && sipTrunk && isDialled(protocol)) return { url: BY_NUMBER, isVendors: false };
    return { url: url ?? PROTOCOLS.of(protocol).defaultUrl, isVendors: url === undefined };
  }

  /** A protocol of the platform that would get the apiKey, if that is not the provider's. */
  private otherPlatform(
    provider: AgentProvider,
    protocol: ProtocolName,
    given: AgentEndpoint['options'],
  ): ProtocolName | undefined {
    const { defaultUrl, options } = PROTOCOLS.of(protocol);
    const receivers = Object.entries(options).map(([name, { receivesSecrets }]) => receivesSecrets?.(given[name]));
    const { protocol: first, textProtocol } = this.settings.agentProviders[provider];
    const own = [undefined, first, textProtocol, twinOf(first), twinOf(textProtocol)];
    return [defaultUrl === undefined ? undefined : protocol, ...receivers].find((one) => !own.includes(one));
  }

  /** @throws DomainError CONFLICT if the agent uses the default key of its provider, and another platform would get it */
  private requireKeyFor(
    { provider, isUsingDefaultApiKey }: AgentDescription,
    protocol: ProtocolName,
    options: AgentEndpoint['options'],
  ): void {
    const other = isUsingDefaultApiKey ? this.otherPlatform(provider, protocol, options) : undefined;
    if (other === undefined) return;
    throw conflict(
      `The default key of ${provider} is not for ${PROTOCOLS.of(other).title}: give the agent an apiKey and set isUsingDefaultApiKey to false, or set ${provider}_PROTOCOL to ${other}`,
    );
  }

  /** The locked agent, if the caller may change its connection: a default key is only sent where an ADMIN says. */
  private async lock(caller: Caller, id: string): Promise<AgentDescription> {
    const agent = await this.agents.describe(caller, id, { lock: true });
    if (agent.isUsingDefaultApiKey && !covers(caller.role, 'ADMIN')) {
      throw forbidden('isUsingDefaultApiKey is true: only an ADMIN may decide where the default key is sent');
    }
    return agent;
  }

  private async read({ id, provider }: AgentDescription): Promise<Connection> {
    const row = await this.repository.find(id);
    return row ? this.toResponse(row) : this.ofProvider(provider);
  }

  private ofProvider(provider: AgentProvider): Connection {
    const { protocol } = this.settings.agentProviders[provider];
    const { url, isVendors } = this.addressOf(provider, protocol);
    if (url === undefined) throw notFound();
    const { firstSpeaker } = PROTOCOLS.of(protocol);
    const where = isVendors ? ({ url, address: 'vendor' } as const) : ({ url: null, address: 'setting' } as const);
    return { protocol, ...where, headers: {}, firstSpeaker, options: {}, source: 'provider' };
  }

  private toResponse(row: ConnectionRow): Connection {
    const { protocol, url, options } = row;
    const secrets = this.open(row);
    const firstSpeaker = row.firstSpeaker ?? PROTOCOLS.of(protocol).firstSpeaker;
    const secretOptions = namesOf(secrets.options);
    return {
      protocol,
      url,
      address: url === PROTOCOLS.of(protocol).defaultUrl ? 'vendor' : 'own',
      headers: namesOf(secrets.headers),
      firstSpeaker,
      options: { ...options, ...secretOptions },
      source: 'agent',
    };
  }

  private open({ agentId, secrets }: ConnectionRow): ConnectionSecrets {
    return JSON.parse(this.keyRing.decrypt(secrets, connectionSecretsPurpose(agentId))) as ConnectionSecrets;
  }
}

/** Those options of the twin's connection that the protocol knows. */
function optionsOf(protocol: ProtocolName, given: AgentEndpoint['options']): AgentEndpoint['options'] {
  const { options } = PROTOCOLS.of(protocol);
  const isKnown = (name: string, value: unknown) =>
    Object.hasOwn(options, name) && options[name]?.violation(value) === undefined;
  return Object.fromEntries(Object.entries(given).filter(([name, value]) => isKnown(name, value)));
}

/** Each name with null in place of its value. */
const namesOf = (values: object): Record<string, null> =>
  Object.fromEntries(Object.keys(values).map((name) => [name, null]));
