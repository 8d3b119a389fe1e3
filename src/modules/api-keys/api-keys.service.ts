import { randomUUID } from 'node:crypto';
import { types } from 'node:util';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Identity, Role } from '../../platform/access/caller.js';
import { Clock } from '../../platform/clock.js';
import { SETTINGS } from '../../platform/config/settings.module.js';
import type { Settings } from '../../platform/config/settings.js';
import { Database } from '../../platform/database/database.js';
import { Notifications } from '../../platform/database/notifications.js';
import { notFound } from '../../platform/errors/domain-error.js';
import { ApiKeyEntity } from './api-key.entity.js';
import { ApiKeysRepository, type KeyRow } from './api-keys.repository.js';
import { generateKey, hashKey, isAcceptableKey, keyPrefix } from './key-format.js';

/** Notification sent by triggers on `api_keys` and `workspaces` whenever a key's identity changes. */
export const KEYS_CHANGED = 'api_keys_changed';
const CACHE_SIZE = 10_000;

interface CachedKey {
  readonly identity: Identity;
  /** Milliseconds since the epoch; Infinity for a key that does not expire. */
  readonly expiresAt: number;
}

const INVALID: Identity = { kind: 'invalid' };
const EXPIRED: Identity = { kind: 'expired' };

export interface NewApiKey {
  readonly workspaceId: string;
  readonly userId: string;
  readonly name: string;
  readonly role: Role;
  readonly expiresAt?: Date | null;
  /** A value chosen by the administrator instead of a generated one. */
  readonly value?: string | undefined;
}

/** Creates and revokes API keys, and identifies the key of each request. */
@Injectable()
export class ApiKeysService implements OnModuleInit {
  private readonly cache = new LRUCache<string, CachedKey>({ max: CACHE_SIZE });
  private readonly lookups = new Map<string, Promise<CachedKey>>();

  constructor(
    private readonly database: Database,
    private readonly repository: ApiKeysRepository,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {
    notifications.subscribe(KEYS_CHANGED, () => this.forget());
  }

  onModuleInit(): void {
    this.forget();
  }

  /** The identity of a key, synchronously if it is cached. Never rejects: errors become the identity `unknown`. */
  identify(key: string): Identity | Promise<Identity> {
    if (!isAcceptableKey(key)) return INVALID;
    const hash = hashKey(key);
    // Bypassed while notifications are interrupted, because a revocation would be missed.
    const cached = this.notifications.live ? this.cache.get(hash) : undefined;
    return cached ? this.identityOf(cached) : this.fetch(hash);
  }

  private async fetch(hash: string): Promise<Identity> {
    try {
      return this.identityOf(await this.lookUp(hash));
    } catch (cause) {
      return { kind: 'unknown', cause: types.isNativeError(cause) ? cause : new Error(String(cause)) };
    }
  }

  /** Creates a key. @returns the key with its value, which is not stored. */
  async create(input: NewApiKey): Promise<{ apiKey: ApiKeyEntity; value: string }> {
    const value = input.value ?? generateKey();
    const { manager } = this.database;
    const apiKey = await manager.save(
      manager.create(ApiKeyEntity, {
        id: randomUUID(),
        workspaceId: input.workspaceId,
        userId: input.userId,
        createdByUserId: input.userId,
        name: input.name,
        role: input.role,
        prefix: keyPrefix(value),
        hash: hashKey(value),
        lastUsedAt: null,
        expiresAt: input.expiresAt ?? null,
        revokedAt: null,
      }),
    );
    return { apiKey, value };
  }

  async list(workspaceId: string): Promise<ApiKeyEntity[]> {
    return this.database.manager.find(ApiKeyEntity, { where: { workspaceId }, order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /**
   * Revokes a key; every process rejects it within a second.
   * @throws DomainError NOT_FOUND if there is no such key or it was revoked already
   */
  async revoke(id: string): Promise<void> {
    if (!(await this.repository.revoke(id))) throw notFound();
  }

  /** Shares one lookup among concurrent requests with the same key. */
  private lookUp(hash: string): Promise<CachedKey> {
    const running = this.lookups.get(hash);
    if (running) return running;
    const lookup = this.find(hash).then((found) => {
      // Not cached if a change has cleared the lookups, because this one may have read the state before it.
      if (this.lookups.get(hash) === lookup && this.notifications.live) this.cache.set(hash, found);
      return found;
    });
    this.lookups.set(hash, lookup);
    const forget = () => {
      if (this.lookups.get(hash) === lookup) this.lookups.delete(hash);
    };
    lookup.then(forget, forget);
    return lookup;
  }

  private async find(hash: string): Promise<CachedKey> {
    const row = await this.repository.findByHash(hash);
    return row ? this.toCached(row) : { identity: INVALID, expiresAt: Infinity };
  }

  private toCached(row: KeyRow): CachedKey {
    const { workspaceId, userId, role, id: apiKeyId, plan } = row;
    const requestsPerMinute = row.requestsPerMinute ?? this.settings.planLimits[plan];
    return {
      identity: { kind: 'caller', caller: { workspaceId, userId, role, apiKeyId, requestsPerMinute } },
      expiresAt: row.expiresAt?.getTime() ?? Infinity,
    };
  }

  private identityOf({ identity, expiresAt }: CachedKey): Identity {
    return expiresAt > this.clock.now() ? identity : EXPIRED;
  }

  private forget(): void {
    this.cache.clear();
    // A lookup in progress may have read the state before the change.
    this.lookups.clear();
  }
}
