import { Injectable } from '@nestjs/common';
import type { Role } from '../../platform/access/caller.js';
import type { Plan } from '../../platform/config/plans.js';
import { Database } from '../../platform/database/database.js';
import { readPage } from '../../platform/database/page-query.js';
import type { ApiKeyEntity } from './api-key.entity.js';

/** The data of a key that a request needs. */
export interface KeyRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly userId: string;
  readonly role: Role;
  readonly expiresAt: Date | null;
  readonly plan: Plan;
  readonly requestsPerMinute: number | null;
}

const FIND_BY_HASH = `
  SELECT k.id, k.workspace_id AS "workspaceId", k.user_id AS "userId", k.role, k.expires_at AS "expiresAt",
         w.plan, w.requests_per_minute AS "requestsPerMinute"
    FROM api_keys k JOIN workspaces w ON w.id = k.workspace_id
   WHERE k.hash = $1 AND k.revoked_at IS NULL`;

const LIST = {
  columns: `k.id, k.name, k.role, k.prefix, k.last_used_at AS "lastUsedAt", k.expires_at AS "expiresAt",
    k.created_at AS "createdAt", k.created_by_user_id AS "createdByUserId"`,
  from: 'api_keys k',
  where: 'k.workspace_id = $1 AND k.revoked_at IS NULL',
};

const REVOKE = 'UPDATE api_keys SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL RETURNING id';

const HAS_OTHER_ADMIN_KEY = `
  SELECT EXISTS (SELECT FROM api_keys WHERE workspace_id = $1 AND id <> $2 AND role = 'ADMIN' AND revoked_at IS NULL
                    AND (expires_at IS NULL OR expires_at > now())) AS "exists"`;

const FIND_EXPIRIES = `
  SELECT id, expires_at AS "expiresAt" FROM api_keys WHERE id = ANY ($1::uuid[]) AND revoked_at IS NULL`;

const RECORD_USES = `
  UPDATE api_keys k SET last_used_at = u.used_at
    FROM unnest($1::uuid[], $2::timestamptz[]) AS u (id, used_at)
   WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.used_at)`;

/** SQL for API keys. */
@Injectable()
export class ApiKeysRepository {
  constructor(private readonly database: Database) {}

  /** @returns the key with this hash, unless it was revoked */
  async findByHash(hash: string): Promise<KeyRow | undefined> {
    const [row] = await this.database.query<KeyRow>(FIND_BY_HASH, [hash]);
    return row;
  }

  /** Keys of a workspace that are not revoked, newest first. */
  async page(
    workspaceId: string,
    page: { limit: number; offset: number },
  ): Promise<{ rows: ApiKeyEntity[]; total: number }> {
    return readPage<ApiKeyEntity>(this.database, LIST, [workspaceId], page);
  }

  /** @returns false if there is no such key or it was revoked already */
  async revoke(id: string): Promise<boolean> {
    return (await this.database.query(REVOKE, [id])).length > 0;
  }

  /** Whether the workspace has another valid ADMIN key. */
  async hasOtherAdminKey({ id, workspaceId }: Pick<ApiKeyEntity, 'id' | 'workspaceId'>): Promise<boolean> {
    const [row] = await this.database.query<{ exists: boolean }>(HAS_OTHER_ADMIN_KEY, [workspaceId, id]);
    return row?.exists ?? false;
  }

  /** @returns by id, when the keys that are not revoked expire: milliseconds since the epoch, Infinity for never */
  async findExpiries(ids: readonly string[]): Promise<Map<string, number>> {
    const rows = await this.database.query<Pick<KeyRow, 'id' | 'expiresAt'>>(FIND_EXPIRIES, [ids]);
    return new Map(rows.map(({ id, expiresAt }) => [id, expiresAt?.getTime() ?? Infinity]));
  }

  /** @param uses times in milliseconds since the epoch, by the id of the key */
  async recordUses(uses: ReadonlyMap<string, number>): Promise<void> {
    // Always in the same order, so that two processes cannot deadlock.
    const ids = [...uses.keys()].sort();
    await this.database.query(RECORD_USES, [ids, ids.map((id) => new Date(uses.get(id) ?? 0))]);
  }
}
