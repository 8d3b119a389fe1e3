import { Injectable } from '@nestjs/common';
import type { AgentProvider } from '../../platform/config/agent-providers.js';
import { Database } from '../../platform/database/database.js';
import { type ListSource, readPage } from '../../platform/database/page-query.js';
import type { AgentEntity } from './agent.entity.js';

/** An agent together with its workspace's default key for its provider, still encrypted. */
export type AgentRow = AgentEntity & { readonly defaultApiKey: string | null };

/** The columns of `agents a`, named like the entity's properties, and the default key if the agent uses it. */
export const AGENT_COLUMNS = `a.id, a.workspace_id AS "workspaceId", a.created_by_user_id AS "createdByUserId", a.provider, a.type,
  a.prompt_type AS "promptType", a.name, a.api_key AS "apiKey", a.assistant_id AS "assistantId", a.language,
  a.phone_number AS "phoneNumber", a.phone_number_id AS "phoneNumberId", a.prompt,
  a.call_monitoring AS "callMonitoring", a.is_using_default_api_key AS "isUsingDefaultApiKey",
  a.webhook_url AS "webhookUrl", a.webhook_secret AS "webhookSecret", a.created_at AS "createdAt",
  a.updated_at AS "updatedAt", a.deleted_at AS "deletedAt",
  CASE WHEN a.is_using_default_api_key THEN (SELECT d.api_key FROM provider_keys d
    WHERE d.workspace_id = a.workspace_id AND d.provider = a.provider) END AS "defaultApiKey"`;

const FIND = `SELECT ${AGENT_COLUMNS} FROM agents a WHERE a.id = $1 AND a.deleted_at IS NULL`;

const FIND_ANY = `SELECT ${AGENT_COLUMNS} FROM agents a WHERE a.id = $1 AND a.erased_at IS NULL`;

const LOCK_ANY = `${FIND_ANY} FOR UPDATE OF a`;

const HAS_OPEN_RUN = `
  SELECT EXISTS (SELECT FROM runs WHERE agent_id = $1 AND status IN ('QUEUED', 'RUNNING') AND day IS NULL) AS "hasOpenRun"`;

const HAS_CONNECTION = 'SELECT EXISTS (SELECT FROM agent_connections WHERE agent_id = $1) AS "hasConnection"';

/** Columns of the fields that callers can set. */
const WRITTEN = {
  provider: 'provider',
  type: 'type',
  promptType: 'prompt_type',
  name: 'name',
  apiKey: 'api_key',
  assistantId: 'assistant_id',
  language: 'language',
  phoneNumber: 'phone_number',
  phoneNumberId: 'phone_number_id',
  prompt: 'prompt',
  callMonitoring: 'call_monitoring',
  isUsingDefaultApiKey: 'is_using_default_api_key',
  webhookUrl: 'webhook_url',
  webhookSecret: 'webhook_secret',
} as const satisfies Partial<Record<keyof AgentEntity, string>>;
/** Secrets are encrypted. */
export type WrittenAgent = Pick<AgentEntity, keyof typeof WRITTEN>;

const WRITTEN_COLUMNS = Object.values(WRITTEN);
/** Condition on the new state `n` of an agent: it must have a key or a default key. */
const HAS_CREDENTIAL = `(n.api_key IS NOT NULL OR n.is_using_default_api_key AND EXISTS (SELECT FROM provider_keys d
  WHERE d.workspace_id = n.workspace_id AND d.provider = n.provider))`;

// The columns are passed as one JSON object, so that the statement is the same for any subset of them.
const INSERT = `
  INSERT INTO agents AS a (id, workspace_id, created_by_user_id, ${WRITTEN_COLUMNS.join(', ')})
  SELECT n.id, n.workspace_id, n.created_by_user_id, ${WRITTEN_COLUMNS.map((name) => `n.${name}`).join(', ')}
    FROM jsonb_populate_record(NULL::agents, $1) n WHERE ${HAS_CREDENTIAL}
  RETURNING ${AGENT_COLUMNS}`;

/** Concurrent updates are merged: PostgreSQL re-reads the row after waiting for its lock. */
const UPDATE = `
  UPDATE agents a SET (${WRITTEN_COLUMNS.join(', ')}, updated_at) =
    (SELECT ${WRITTEN_COLUMNS.map((name) => `n.${name}`).join(', ')},
            CASE WHEN n IS DISTINCT FROM a THEN now() ELSE a.updated_at END
       FROM jsonb_populate_record(a, $3) n)
   WHERE a.id = $1 AND a.workspace_id = $2 AND a.deleted_at IS NULL
     AND EXISTS (SELECT FROM jsonb_populate_record(a, $3) n WHERE ${HAS_CREDENTIAL})
  RETURNING ${AGENT_COLUMNS}`;

const SOFT_DELETE = `
  UPDATE agents SET deleted_at = now(), updated_at = now() WHERE id = $1 AND deleted_at IS NULL
  RETURNING deleted_at AS "deletedAt", updated_at AS "updatedAt"`;

const RESTORE = `
  UPDATE agents SET deleted_at = NULL, updated_at = now() WHERE id = $1 AND deleted_at IS NOT NULL AND erased_at IS NULL
  RETURNING updated_at AS "updatedAt"`;

const MARK_ERASED = `
  UPDATE agents SET erased_at = now(), deleted_at = coalesce(deleted_at, now()), updated_at = now() WHERE id = $1
  RETURNING deleted_at AS "deletedAt", updated_at AS "updatedAt"`;

export interface AgentFilter {
  /** Lists only deleted agents, in place of the others. */
  readonly isDeleted?: boolean;
  readonly provider?: AgentProvider | undefined;
  readonly search?: string | undefined;
}

/** SQL for agents. */
@Injectable()
export class AgentsRepository {
  constructor(private readonly database: Database) {}

  /** An agent of any workspace, unless it was deleted. */
  async find(id: string): Promise<AgentRow | undefined> {
    const [row] = await this.database.query<AgentRow>(FIND, [id]);
    return row;
  }

  /** An agent of any workspace, also a deleted one, unless it is being erased. */
  async findDeletedToo(id: string): Promise<AgentRow | undefined> {
    const [row] = await this.database.query<AgentRow>(FIND_ANY, [id]);
    return row;
  }

  /** The same, locked until the transaction ends, so that no run starts. */
  async lockDeletedToo(id: string): Promise<AgentRow | undefined> {
    const [row] = await this.database.query<AgentRow>(LOCK_ANY, [id]);
    return row;
  }

  /** Whether a run of the agent has not ended. */
  async hasOpenRun(id: string): Promise<boolean> {
    const [row] = await this.database.query<{ hasOpenRun: boolean }>(HAS_OPEN_RUN, [id]);
    return row!.hasOpenRun;
  }

  /** Whether the agent has a connection of its own. */
  async hasConnection(id: string): Promise<boolean> {
    const [row] = await this.database.query<{ hasConnection: boolean }>(HAS_CONNECTION, [id]);
    return row?.hasConnection ?? false;
  }

  /** @returns undefined if the agent would have no key */
  async insert(
    owner: Pick<AgentEntity, 'id' | 'workspaceId' | 'createdByUserId'>,
    fields: WrittenAgent,
  ): Promise<AgentRow | undefined> {
    const { id, workspaceId: workspace_id, createdByUserId: created_by_user_id } = owner;
    const values = { id, workspace_id, created_by_user_id, ...byColumn(fields) };
    const [row] = await this.database.query<AgentRow>(INSERT, [JSON.stringify(values)]);
    return row;
  }

  /** @returns undefined if the workspace has no such agent, or the agent would have no key */
  async update(id: string, workspaceId: string, changes: Partial<WrittenAgent>): Promise<AgentRow | undefined> {
    const values = [id, workspaceId, JSON.stringify(byColumn(changes))];
    const [row] = await this.database.query<AgentRow>(UPDATE, values);
    return row;
  }

  /** One page, newest first, and the total count, in one round trip. */
  async page(
    workspaceId: string,
    { isDeleted = false, provider, search }: AgentFilter,
    page: { limit: number; offset: number },
  ): Promise<{ rows: AgentRow[]; total: number }> {
    const values: unknown[] = [workspaceId];
    // The counter leaves deleted agents out.
    let total: ListSource['total'] = isDeleted ? undefined : { list: 'agents' };
    let where = `a.workspace_id = $1 AND a.deleted_at IS ${isDeleted ? 'NOT NULL AND a.erased_at IS NULL' : 'NULL'}`;
    if (provider !== undefined) {
      where += ` AND a.provider = $${values.push(provider)}`;
      if (!isDeleted) total = { list: 'agents', facet: '$2' };
    }
    if (search !== undefined) {
      total = 'search';
      // Only a part of the text is looked up in the trigram index (decision 42).
      const part = selectivePart(search);
      where += ` AND ${anyOf(['a.name', 'a.assistant_id', 'a.phone_number'], `$${values.push(pattern(part))}`)}`;
      // Concatenated, so that this condition does not use the index.
      const columns = [`a.name || ''`, `a.assistant_id || ''`, `a.phone_number || ''`];
      if (part !== search) where += ` AND ${anyOf(columns, `$${values.push(pattern(search))}`)}`;
    }
    const source = { columns: AGENT_COLUMNS, from: 'agents a', where, total };
    return readPage<AgentRow>(this.database, source, values, page);
  }

  /** @returns the time of deletion, or undefined if it was deleted already */
  async softDelete(id: string): Promise<{ deletedAt: Date; updatedAt: Date } | undefined> {
    const [row] = await this.database.query<{ deletedAt: Date; updatedAt: Date }>(SOFT_DELETE, [id]);
    return row;
  }

  /** Marks an agent that exists as deleted and being erased. */
  async markErased(id: string): Promise<{ deletedAt: Date; updatedAt: Date }> {
    const [row] = await this.database.query<{ deletedAt: Date; updatedAt: Date }>(MARK_ERASED, [id]);
    return row!;
  }

  /** @returns when it was restored, or undefined if it was not deleted */
  async restore(id: string): Promise<{ updatedAt: Date } | undefined> {
    const [row] = await this.database.query<{ updatedAt: Date }>(RESTORE, [id]);
    return row;
  }
}

/** The given fields under the names of their columns; JSON omits undefined values. */
function byColumn(fields: Partial<WrittenAgent>): Record<string, unknown> {
  const given = Object.entries(WRITTEN) as [keyof WrittenAgent, string][];
  return Object.fromEntries(given.map(([field, column]) => [column, fields[field]]));
}

/** Characters that are looked up in the index: five trigrams. */
const SELECTIVE_LENGTH = 7;

/** The most selective part of a searched text: the last one with the most digits, since numbers identify agents best. */
function selectivePart(text: string): string {
  const characters = [...text];
  let best = '';
  let most = -1;
  for (let start = 0; start <= Math.max(0, characters.length - SELECTIVE_LENGTH); start++) {
    const part = characters.slice(start, start + SELECTIVE_LENGTH);
    const digits = part.filter((character) => /\d/.test(character)).length;
    if (digits >= most) [best, most] = [part.join(''), digits];
  }
  return best;
}

const anyOf = (texts: readonly string[], value: string): string =>
  `(${texts.map((text) => `${text} ILIKE ${value}`).join(' OR ')})`;

/** A LIKE pattern for texts that contain this one; `%`, `_` and `\` are ordinary characters. */
const pattern = (text: string): string => `%${text.replace(/[\\%_]/g, String.raw`\$&`)}%`;
