import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { IsNull } from 'typeorm';
import { OutboundClient } from '../../../libs/outbound-http/index.js';
import { type Caller, covers } from '../../platform/access/caller.js';
import { requireOwned, requireOwnWorkspace } from '../../platform/access/ownership.js';
import type { AgentProvider } from '../../platform/config/agent-providers.js';
import { Database } from '../../platform/database/database.js';
import { maskCredential } from '../../platform/encryption/mask.js';
import {
  about,
  conflict,
  type DomainError,
  forbidden,
  invalidInput,
  notFound,
} from '../../platform/errors/domain-error.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { type Page, window } from '../../platform/database/page.js';
import { checkUrl } from '../../platform/outbound/check-url.js';
import { AgentEntity } from './agent.entity.js';
import { AgentSecrets } from './agent-secrets.js';
import { type AgentRow, AgentsRepository } from './agents.repository.js';
import type { CreateAgentRequest, ListAgentsQuery, UpdateAgentRequest } from './dto/agent.requests.js';
import type { Agent } from './dto/agent.response.js';
import { ErasedAgentsService } from './erased-agents.service.js';

export type { AgentType } from './agent.entity.js';

/** The fields of an agent that evaluations and runs use. */
export type AgentDescription = Pick<
  AgentEntity,
  | 'id'
  | 'workspaceId'
  | 'createdByUserId'
  | 'name'
  | 'type'
  | 'provider'
  | 'prompt'
  | 'assistantId'
  | 'phoneNumber'
  | 'phoneNumberId'
  | 'language'
  | 'isUsingDefaultApiKey'
  | 'callMonitoring'
>;

/** The agents of a workspace. */
@Injectable()
export class AgentsService {
  private readonly logger = new Logger('Agents');

  constructor(
    private readonly database: Database,
    private readonly repository: AgentsRepository,
    private readonly secrets: AgentSecrets,
    private readonly outbound: OutboundClient,
    private readonly erased: ErasedAgentsService,
  ) {}

  /**
   * @throws DomainError FORBIDDEN for another workspace's id, or for an EDITOR who would monitor with the default key; BAD_REQUEST if the agent would have no key, or for a
   *   `webhookUrl` that is not allowed
   */
  async create(caller: Caller, input: CreateAgentRequest): Promise<Agent> {
    requireOwnWorkspace(caller, input.workspaceId);
    if (input.callMonitoring && input.isUsingDefaultApiKey && !covers(caller.role, 'ADMIN')) {
      throw forbidden(`callMonitoring ${WITH_DEFAULT_KEY}`);
    }
    if (input.webhookUrl != null) checkUrl(this.outbound, 'webhookUrl', input.webhookUrl);
    const id = randomUUID();
    const owner = { id, workspaceId: caller.workspaceId, createdByUserId: caller.userId };
    const row = await this.repository.insert(owner, {
      provider: input.provider,
      type: input.type ?? null,
      promptType: input.promptType ?? null,
      name: input.name ?? null,
      apiKey: this.secrets.seal(id, 'apiKey', input.apiKey ?? null),
      assistantId: input.assistantId,
      language: input.language ?? null,
      phoneNumber: input.phoneNumber ?? null,
      phoneNumberId: input.phoneNumberId ?? null,
      prompt: input.prompt ?? null,
      callMonitoring: input.callMonitoring ?? false,
      isUsingDefaultApiKey: input.isUsingDefaultApiKey === undefined ? false : input.isUsingDefaultApiKey,
      webhookUrl: input.webhookUrl ?? null,
      webhookSecret: this.secrets.seal(id, 'webhookSecret', input.webhookSecret ?? null),
    });
    if (!row) throw noCredential(input.provider, input.isUsingDefaultApiKey);
    return this.toResponse(caller, row);
  }

  /** @throws DomainError FORBIDDEN if a VIEWER asks for deleted agents */
  async list(caller: Caller, query: ListAgentsQuery): Promise<Page<Agent>> {
    const { page, limit, offset } = window(query);
    const isDeleted = query.deleted === 'true';
    if (isDeleted && !covers(caller.role, 'EDITOR')) throw forbidden(about('deleted', 'requires an EDITOR key'));
    const filter = { ...query, isDeleted };
    const { rows, total } = await this.repository.page(caller.workspaceId, filter, { limit, offset });
    return { items: rows.map((row) => this.toResponse(caller, row)), total, page, limit };
  }

  /** @throws DomainError NOT_FOUND, or FORBIDDEN for an agent of another workspace */
  async get(caller: Caller, id: string): Promise<Agent> {
    return this.toResponse(caller, await this.find(caller, id));
  }

  /** Checks that the caller may use the agent. @throws DomainError as `get` does */
  async require(caller: Caller, id: string): Promise<void> {
    await this.find(caller, id);
  }

  /**
   * The fields of an agent that evaluations and runs use.
   * @param lock locks the agent until the transaction ends, which also serialises imports and starts of runs
   * @throws DomainError as `get` does
   */
  async describe(caller: Pick<Caller, 'workspaceId'>, id: string, { lock = false } = {}): Promise<AgentDescription> {
    const where = { id: uuidOrNotFound(id), deletedAt: IsNull() };
    const found = await this.database.manager.findOne(AgentEntity, {
      where,
      select: {
        id: true,
        workspaceId: true,
        createdByUserId: true,
        name: true,
        type: true,
        provider: true,
        assistantId: true,
        phoneNumber: true,
        phoneNumberId: true,
        language: true,
        prompt: true,
        isUsingDefaultApiKey: true,
        callMonitoring: true,
      },
      ...(lock && { lock: { mode: 'pessimistic_write' } }),
    });
    return requireOwned(caller, found);
  }

  /** Ids and names of all agents of the workspace, newest first, without deleted ones. */
  async names(caller: Caller): Promise<{ id: string; name: string | null }[]> {
    const where = { workspaceId: caller.workspaceId, deletedAt: IsNull() };
    const order = { createdAt: 'DESC', id: 'DESC' } as const;
    const rows = await this.database.manager.find(AgentEntity, { where, select: { id: true, name: true }, order });
    return rows.map(({ id, name }) => ({ id, name }));
  }

  /** Whether the agent was deleted. */
  async isDeleted(id: string): Promise<boolean> {
    return !(await this.database.manager.existsBy(AgentEntity, { id, deletedAt: IsNull() }));
  }

  /**
   * The agent's own webhook address and signing secret.
   * @returns undefined if the agent has no webhook address or was deleted
   */
  async findWebhook(id: string): Promise<{ url: string; secret: string | null } | undefined> {
    const row = await this.repository.find(id);
    if (!row?.webhookUrl) return undefined;
    return { url: row.webhookUrl, secret: this.secrets.open(row.id, 'webhookSecret', row.webhookSecret) };
  }

  /**
   * @throws DomainError as `get` does, and BAD_REQUEST as `create` does; FORBIDDEN for an EDITOR whose change would send a
   *   default key to the agent's connection, an address that no ADMIN has chosen for that key, or read other calls with it
   */
  async update(caller: Caller, id: string, changes: UpdateAgentRequest): Promise<Agent> {
    // Ciphertexts are bound to the lower-case id that the database returns.
    const agentId = uuidOrNotFound(id).toLowerCase();
    const { isUsingDefaultApiKey, provider, callMonitoring, assistantId } = changes;
    const affectsDefaultKey =
      isUsingDefaultApiKey === true || callMonitoring === true || provider !== undefined || assistantId !== undefined;
    if (!affectsDefaultKey || covers(caller.role, 'ADMIN')) return this.write(caller, agentId, changes);
    return this.database.transaction(async () => {
      // Locked first, because a statement does not see a connection that is set while it waits for the agent.
      const agent = await this.describe(caller, agentId, { lock: true });
      const field = newDefaultKey(agent, changes);
      if (field && (await this.repository.hasConnection(agentId))) {
        throw forbidden(`${field}, because the agent has a connection`);
      }
      const monitored = newMonitoring(agent, changes);
      if (monitored) throw forbidden(`${monitored} ${WITH_DEFAULT_KEY}`);
      return this.write(caller, agentId, changes);
    });
  }

  private async write(caller: Caller, agentId: string, changes: UpdateAgentRequest): Promise<Agent> {
    if (changes.webhookUrl != null) {
      // Whether the agent exists comes before rules about the values.
      await this.find(caller, agentId);
      checkUrl(this.outbound, 'webhookUrl', changes.webhookUrl);
    }
    const { apiKey, webhookSecret, ...plain } = changes;
    const sealed = {
      ...plain,
      ...(apiKey !== undefined && { apiKey: this.secrets.seal(agentId, 'apiKey', apiKey) }),
      ...(webhookSecret !== undefined && { webhookSecret: this.secrets.seal(agentId, 'webhookSecret', webhookSecret) }),
    };
    const row = await this.repository.update(agentId, caller.workspaceId, sealed);
    if (row) return this.toResponse(caller, row);
    // The reason is determined only on failure, because it costs more statements.
    return this.database.transaction(async () => {
      const { provider, isUsingDefaultApiKey } = await this.describe(caller, agentId, { lock: true });
      // It may have been deleted at the first statement and restored since.
      const locked = await this.repository.update(agentId, caller.workspaceId, sealed);
      if (locked) return this.toResponse(caller, locked);
      throw noCredential(
        changes.provider ?? provider,
        changes.isUsingDefaultApiKey === undefined ? isUsingDefaultApiKey : changes.isUsingDefaultApiKey,
      );
    });
  }

  /** Soft delete: its evaluations and runs stay readable. @throws DomainError as `get` does */
  async delete(caller: Caller, id: string): Promise<Agent> {
    const row = await this.find(caller, id);
    const deletion = await this.repository.softDelete(row.id);
    if (!deletion) throw notFound();
    return this.toResponse(caller, { ...row, ...deletion });
  }

  /**
   * Erases an agent, deleted or not, with everything that is stored of it. From then on nothing of it can be read; a job
   * deletes it later.
   * @throws DomainError FORBIDDEN unless the caller is an ADMIN, and as `get` does; CONFLICT while a run goes on
   */
  async erase(caller: Caller, id: string): Promise<Agent> {
    if (!covers(caller.role, 'ADMIN')) throw forbidden(about('permanently', 'requires an ADMIN key'));
    const row = await this.database.transaction(async () => {
      const found = requireOwned(caller, await this.repository.lockDeletedToo(uuidOrNotFound(id)));
      if (await this.repository.hasOpenRun(found.id)) {
        throw conflict('A run of the agent has not ended yet; cancel it first');
      }
      const marked = await this.repository.markErased(found.id);
      await this.erased.begin(found.id);
      return { ...found, ...marked };
    });
    const { workspaceId, userId, apiKeyId } = caller;
    this.logger.log(
      `Agent ${row.id} of workspace ${workspaceId} is erased at the request of user ${userId} with API key ${apiKeyId}`,
    );
    return this.toResponse(caller, row);
  }

  /**
   * Undoes a deletion: the agent has its connection, evaluations and runs again.
   * @throws DomainError as `get` does; CONFLICT if the agent is not deleted
   */
  async restore(caller: Caller, id: string): Promise<Agent> {
    const row = requireOwned(caller, await this.repository.findDeletedToo(uuidOrNotFound(id)));
    const restored = await this.repository.restore(row.id);
    if (!restored) throw conflict('The agent is not deleted');
    return this.toResponse(caller, { ...row, ...restored, deletedAt: null });
  }

  private async find(caller: Caller, id: string): Promise<AgentRow> {
    return requireOwned(caller, await this.repository.find(uuidOrNotFound(id)));
  }

  /** Own credentials in clear for roles that can write them; a default key is masked for everyone. */
  private toResponse(caller: Caller, row: AgentRow): Agent {
    const show = covers(caller.role, 'EDITOR') ? (clear: string) => clear : maskCredential;
    const webhookSecret = this.secrets.open(row.id, 'webhookSecret', row.webhookSecret);
    const apiKey = this.secrets.keyOf(row);
    return {
      provider: row.provider,
      type: row.type,
      promptType: row.promptType,
      id: row.id,
      name: row.name,
      created_at: row.createdAt.toISOString(),
      updated_at: row.updatedAt.toISOString(),
      // Not nullable in the contract: empty if the agent uses a default key that was deleted.
      apiKey: apiKey === null ? '' : row.defaultApiKey === null ? show(apiKey) : maskCredential(apiKey),
      assistantId: row.assistantId,
      createdByUserId: row.createdByUserId,
      deletedAt: row.deletedAt?.toISOString() ?? null,
      language: row.language,
      phoneNumber: row.phoneNumber,
      prompt: row.prompt,
      workspaceId: row.workspaceId,
      callMonitoring: row.callMonitoring,
      isUsingDefaultApiKey: row.isUsingDefaultApiKey,
      webhookUrl: row.webhookUrl,
      phoneNumberId: row.phoneNumberId,
      webhookSecret: webhookSecret === null ? null : show(webhookSecret),
    };
  }
}

/** What only an ADMIN may change because the agent would be called with another default key; undefined if it would not. */
function newDefaultKey(agent: AgentDescription, changes: UpdateAgentRequest): string | undefined {
  if (changes.isUsingDefaultApiKey) return 'isUsingDefaultApiKey may only be set to true by an ADMIN';
  const usesDefaultKey = changes.isUsingDefaultApiKey === undefined && agent.isUsingDefaultApiKey;
  const isMoved = changes.provider !== undefined && changes.provider !== agent.provider;
  return usesDefaultKey && isMoved
    ? 'provider may only be changed by an ADMIN while isUsingDefaultApiKey is true'
    : undefined;
}

const WITH_DEFAULT_KEY =
  'may only be set by an ADMIN while isUsingDefaultApiKey and callMonitoring are true: calls of real callers are read with the default key';

/** The field by which calls would be read with a default key that are not read yet; undefined if there is none. */
function newMonitoring(agent: AgentDescription, changes: UpdateAgentRequest): keyof AgentDescription | undefined {
  const after = (field: 'callMonitoring' | 'isUsingDefaultApiKey') =>
    changes[field] === undefined ? agent[field] : changes[field];
  if (!after('callMonitoring') || !after('isUsingDefaultApiKey')) return undefined;
  const fields = ['callMonitoring', 'isUsingDefaultApiKey', 'provider', 'assistantId'] as const;
  return fields.find((field) => changes[field] !== undefined && changes[field] !== agent[field]);
}

/** The error for an agent without a key. */
function noCredential(provider: AgentProvider, isUsingDefaultApiKey: boolean | null | undefined): DomainError {
  return isUsingDefaultApiKey
    ? invalidInput(about('apiKey', `must be given, because the workspace has no default key for ${provider}`))
    : invalidInput(about('apiKey', 'must be given unless isUsingDefaultApiKey is true'));
}
