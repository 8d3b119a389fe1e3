// The agents, by hand: the same work as src/modules/agents, in as few statements as it can be done with.
import { randomUUID } from 'node:crypto';
import { badRequest, checkCreate, checkList, checkUpdate, forbidden, notFound, uuid } from './input.mjs';

/** Columns by the name of the field in JSON. */
const COLUMN = {
  provider: 'provider',
  type: 'type',
  promptType: 'prompt_type',
  name: 'name',
  apiKey: 'api_key',
  assistantId: 'assistant_id',
  language: 'language',
  phoneNumber: 'phone_number',
  prompt: 'prompt',
  callMonitoring: 'call_monitoring',
  isUsingDefaultApiKey: 'is_using_default_api_key',
  webhookUrl: 'webhook_url',
  phoneNumberId: 'phone_number_id',
  webhookSecret: 'webhook_secret',
};
const DEFAULT_KEY = `CASE WHEN a.is_using_default_api_key THEN
  (SELECT d.api_key FROM provider_keys d WHERE d.workspace_id = a.workspace_id AND d.provider = a.provider)
  END AS default_key`;
const FIND = {
  name: 'find_agent',
  text: `SELECT a.*, ${DEFAULT_KEY} FROM agents a WHERE a.id = $1 AND a.deleted_at IS NULL`,
};
const FIND_DEFAULT = {
  name: 'find_default',
  text: 'SELECT api_key FROM provider_keys WHERE workspace_id = $1 AND provider = $2',
};
const INSERT = {
  name: 'insert_agent',
  text: `INSERT INTO agents AS a (id, workspace_id, created_by_user_id, ${Object.values(COLUMN).join(', ')})
         VALUES (${Array.from({ length: 17 }, (_, i) => `$${i + 1}`).join(', ')}) RETURNING a.*, ${DEFAULT_KEY}`,
};

/** @param secrets what `sealing` returns */
export function agents(pool, secrets) {
  const query = async (statement, values) => (await pool.query({ ...statement, values })).rows;
  const seal = (id, field, clear) => (clear == null ? null : secrets.seal(clear, `agent.${field}:${id}`));
  const open = (id, field, sealed) => (sealed === null ? null : secrets.open(sealed, `agent.${field}:${id}`));

  const toAgent = (row) => ({
    provider: row.provider,
    type: row.type,
    promptType: row.prompt_type,
    id: row.id,
    name: row.name,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    apiKey:
      (row.default_key === null
        ? open(row.id, 'apiKey', row.api_key)
        : secrets.open(row.default_key, `provider_key:${row.workspace_id}:${row.provider}`)) ?? '',
    assistantId: row.assistant_id,
    createdByUserId: row.created_by_user_id,
    deletedAt: row.deleted_at?.toISOString() ?? null,
    language: row.language,
    phoneNumber: row.phone_number,
    prompt: row.prompt,
    workspaceId: row.workspace_id,
    callMonitoring: row.call_monitoring,
    isUsingDefaultApiKey: row.is_using_default_api_key,
    webhookUrl: row.webhook_url,
    phoneNumberId: row.phone_number_id,
    webhookSecret: open(row.id, 'webhookSecret', row.webhook_secret),
  });

  async function find(caller, id) {
    const [row] = await query(FIND, [uuid(id)]);
    if (!row) throw notFound();
    if (row.workspace_id !== caller.workspaceId) throw forbidden();
    return row;
  }

  async function requireCredential(workspaceId, { provider, isUsingDefaultApiKey, apiKey }) {
    if (apiKey != null) return;
    if (!isUsingDefaultApiKey) throw badRequest('apiKey must be given unless isUsingDefaultApiKey is true');
    const [row] = await query(FIND_DEFAULT, [workspaceId, provider]);
    if (!row) throw badRequest(`apiKey must be given, because the workspace has no default key for ${provider}`);
  }

  return {
    async get(caller, id) {
      return { message: 'Agent retrieved successfully', data: toAgent(await find(caller, id)) };
    },

    async list(caller, given) {
      const { page, limit, provider, search } = checkList(given);
      const values = [caller.workspaceId];
      let name = 'list';
      let where = 'a.workspace_id = $1 AND a.deleted_at IS NULL';
      if (provider !== undefined) {
        name += '_provider';
        where += ` AND a.provider = $${values.push(provider)}`;
      }
      if (search !== undefined) {
        name += '_search';
        const pattern = `$${values.push(`%${search.replace(/[\\%_]/g, '\\$&')}%`)}`;
        where += ` AND (a.name ILIKE ${pattern} OR a.assistant_id ILIKE ${pattern} OR a.phone_number ILIKE ${pattern})`;
      }
      const count = `SELECT count(*)::int AS total FROM agents a WHERE ${where}`;
      const text = `SELECT a.*, ${DEFAULT_KEY}, (${count}) AS total FROM agents a WHERE ${where}
        ORDER BY a.created_at DESC, a.id DESC LIMIT $${values.length + 1} OFFSET $${values.length + 2}`;
      const rows = await query({ name, text }, [...values, limit, (page - 1) * limit]);
      // A page beyond the end has no row that could bring the total along.
      const { total } = rows[0] ?? (await query({ name: `${name}_count`, text: count }, values))[0];
      return { meta: { total, page, limit, pageCount: Math.ceil(total / limit) }, data: rows.map(toAgent) };
    },

    async create(caller, body) {
      const input = checkCreate(body);
      if (input.workspaceId != null && input.workspaceId.toLowerCase() !== caller.workspaceId) throw forbidden();
      await requireCredential(caller.workspaceId, input);
      const id = randomUUID();
      const fields = {
        ...input,
        apiKey: seal(id, 'apiKey', input.apiKey),
        webhookSecret: seal(id, 'webhookSecret', input.webhookSecret),
        callMonitoring: input.callMonitoring ?? false,
        isUsingDefaultApiKey: input.isUsingDefaultApiKey === undefined ? false : input.isUsingDefaultApiKey,
      };
      const values = Object.keys(COLUMN).map((field) => fields[field] ?? null);
      const [row] = await query(INSERT, [id, caller.workspaceId, caller.userId, ...values]);
      return { message: 'Agent created successfully', data: toAgent(row) };
    },

    async update(caller, givenId, body) {
      const changes = { ...checkUpdate(body) };
      const id = uuid(givenId).toLowerCase();
      // What decides whether a credential is left must be looked at before it is written; the rest need not be.
      if (changes.isUsingDefaultApiKey !== undefined || changes.provider !== undefined) {
        const row = await find(caller, id);
        await requireCredential(caller.workspaceId, {
          provider: changes.provider ?? row.provider,
          isUsingDefaultApiKey: changes.isUsingDefaultApiKey ?? row.is_using_default_api_key,
          apiKey: changes.apiKey ?? row.api_key,
        });
      }
      for (const field of ['apiKey', 'webhookSecret']) {
        if (changes[field] !== undefined) changes[field] = seal(id, field, changes[field]);
      }
      const fields = Object.keys(COLUMN).filter((field) => changes[field] !== undefined);
      if (fields.length === 0) {
        return { message: 'Agent updated successfully', data: toAgent(await find(caller, id)) };
      }
      const sets = fields.map((field, i) => `${COLUMN[field]} = $${i + 3}`);
      const statement = {
        // One name for one text: each set of columns has a number.
        name: `update_${fields.reduce((sum, field) => sum + 2 ** Object.keys(COLUMN).indexOf(field), 0)}`,
        text: `UPDATE agents a SET ${sets.join(', ')}, updated_at = now()
                WHERE a.id = $1 AND a.workspace_id = $2 AND a.deleted_at IS NULL RETURNING a.*, ${DEFAULT_KEY}`,
      };
      const [row] = await query(statement, [id, caller.workspaceId, ...fields.map((field) => changes[field])]);
      // Only now: which of the two it is costs a statement of its own.
      if (!row) await find(caller, id);
      return { message: 'Agent updated successfully', data: toAgent(row) };
    },
  };
}
