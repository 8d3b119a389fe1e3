import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import type { Caller } from '../../platform/access/caller.js';
import { requireOwned } from '../../platform/access/ownership.js';
import { Database } from '../../platform/database/database.js';
import { uuidOrNotFound } from '../../platform/database/ids.js';
import { listPage, type Page, type PageRequest } from '../../platform/database/page.js';
import { conflict } from '../../platform/errors/domain-error.js';
import { WorkspacesService } from '../workspaces/workspaces.service.js';
import { ApiKeyEntity } from './api-key.entity.js';
import { ApiKeysRepository } from './api-keys.repository.js';
import { ApiKeysService } from './api-keys.service.js';
import type { ApiKey, CreateApiKeyRequest, NewApiKey } from './dto/api-key.dtos.js';

/** Manages the API keys of a workspace over HTTP. */
@Injectable()
export class ApiKeySettingsService {
  constructor(
    private readonly database: Database,
    private readonly repository: ApiKeysRepository,
    private readonly apiKeys: ApiKeysService,
    private readonly workspaces: WorkspacesService,
  ) {}

  /** The new key belongs to the user who creates it. */
  async create(caller: Caller, input: CreateApiKeyRequest): Promise<NewApiKey> {
    const { apiKey, value } = await this.apiKeys.create({
      workspaceId: caller.workspaceId,
      userId: caller.userId,
      name: input.name,
      role: input.role ?? 'EDITOR',
      expiresAt: input.expiresAt == null ? null : new Date(input.expiresAt),
    });
    return { ...toResponse(apiKey), key: value };
  }

  async list(caller: Caller, query: PageRequest): Promise<Page<ApiKey>> {
    return listPage(query, toResponse, (rows) => this.repository.page(caller.workspaceId, rows));
  }

  /**
   * @throws DomainError NOT_FOUND, FORBIDDEN for another workspace's key, CONFLICT for the last ADMIN key, because
   *   without one no further keys could be created
   */
  async revoke(caller: Caller, id: string): Promise<void> {
    await this.database.transaction(async (manager) => {
      const where = { id: uuidOrNotFound(id), revokedAt: IsNull() };
      const key = requireOwned(caller, await manager.findOneBy(ApiKeyEntity, where));
      // Serialised, so that two admins cannot revoke each other's key at the same time.
      await this.workspaces.lock(caller.workspaceId);
      if (key.role === 'ADMIN' && !(await this.repository.hasOtherAdminKey(key))) {
        throw conflict('The last ADMIN key of a workspace cannot be revoked');
      }
      await this.apiKeys.revoke(key.id);
    });
  }
}

function toResponse(key: ApiKeyEntity): ApiKey {
  return {
    id: key.id,
    name: key.name,
    role: key.role,
    prefix: key.prefix,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    expiresAt: key.expiresAt?.toISOString() ?? null,
    createdAt: key.createdAt.toISOString(),
    createdByUserId: key.createdByUserId,
  };
}
