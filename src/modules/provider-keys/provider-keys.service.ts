import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/access/caller.js';
import { type AgentProvider, isAgentProvider } from '../../platform/config/agent-providers.js';
import { Database } from '../../platform/database/database.js';
import { type Page, type PageRequest, window } from '../../platform/database/page.js';
import { KeyRing } from '../../platform/encryption/key-ring.js';
import { notFound } from '../../platform/errors/domain-error.js';
import type { ProviderKey } from './dto/provider-key.dtos.js';
import { ProviderKeyEntity, providerKeyPurpose } from './provider-key.entity.js';

/** The default credentials of a workspace at its agent providers. */
@Injectable()
export class ProviderKeysService {
  constructor(
    private readonly database: Database,
    private readonly keyRing: KeyRing,
  ) {}

  async list({ workspaceId }: Caller, query: PageRequest): Promise<Page<ProviderKey>> {
    const { page, limit, offset } = window(query);
    const [rows, total] = await this.database.manager.findAndCount(ProviderKeyEntity, {
      where: { workspaceId },
      order: { updatedAt: 'DESC', provider: 'ASC' },
      take: limit,
      skip: offset,
    });
    return { items: rows.map(toResponse), total, page, limit };
  }

  /** Sets the default key for agents with `isUsingDefaultApiKey`. @throws DomainError NOT_FOUND */
  async set({ workspaceId }: Caller, provider: string, apiKey: string): Promise<ProviderKey> {
    const known = providerOrNotFound(provider);
    // In one transaction, so that the key cannot be deleted before it is read.
    return this.database.transaction(async (manager) => {
      await this.put(workspaceId, known, apiKey);
      return toResponse(await manager.findOneByOrFail(ProviderKeyEntity, { workspaceId, provider: known }));
    });
  }

  async put(workspaceId: string, provider: AgentProvider, apiKey: string): Promise<void> {
    const sealed = this.keyRing.encrypt(apiKey, providerKeyPurpose(workspaceId, provider));
    const values = { workspaceId, provider, apiKey: sealed, updatedAt: new Date() };
    await this.database.manager.upsert(ProviderKeyEntity, values, ['workspaceId', 'provider']);
  }

  /** @throws DomainError NOT_FOUND if there is none */
  async delete({ workspaceId }: Caller, provider: string): Promise<void> {
    const where = { workspaceId, provider: providerOrNotFound(provider) };
    const { affected } = await this.database.manager.delete(ProviderKeyEntity, where);
    if (!affected) throw notFound();
  }

  /** The default key in clear; undefined if there is none. */
  async find(workspaceId: string, provider: AgentProvider): Promise<string | undefined> {
    const row = await this.database.manager.findOneBy(ProviderKeyEntity, { workspaceId, provider });
    return row ? this.open(workspaceId, provider, row.apiKey) : undefined;
  }

  /** Decrypts a stored key. */
  open(workspaceId: string, provider: string, sealed: string): string {
    return this.keyRing.decrypt(sealed, providerKeyPurpose(workspaceId, provider));
  }
}

function providerOrNotFound(provider: string): AgentProvider {
  if (!isAgentProvider(provider)) throw notFound();
  return provider;
}

function toResponse({ provider, updatedAt }: ProviderKeyEntity): ProviderKey {
  return { provider, updatedAt: updatedAt.toISOString() };
}
