// Agents in hand-written SQL: the same work as src/modules/agents, one prepared statement for each request.
import { randomUUID } from 'node:crypto';
import { checkCreate, checkPage, checkUpdate, forbidden, notFound, requireUuid } from './input.mjs';

/** Columns by JSON field. */
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
const FIELDS = Object.keys(COLUMN);
const SECRETS = ['apiKey', 'webhookSecret'];
const DEFAULT_KEY = `CASE WHEN a.is_using_default_api_key THEN
  (SELECT d.api_key FROM provider_keys d WHERE d.workspace_id = a.workspace_id AND d.provider = a.provider)
  END AS default_key`;
const FIND = {
  name: 'find_agent',
  text: `SELECT a.*, ${DEFAULT_KEY} FROM agents a WHERE a.id = $1 AND a.deleted_at IS NULL`,
};
const LIST = {
  name: 'list_agents',
  text: `SELECT a.*, ${DEFAULT_KEY},
                (SELECT count(*)::int FROM agents WHERE workspace_id = $1 AND deleted_at IS NULL) AS total
           FROM agents a WHERE a.workspace_id = $1 AND a.deleted_at IS NULL
          ORDER BY a.created_at DESC, a.id DESC LIMIT $2 OFFSET $3`,
};
const INSERT = {
  name: 'insert_agent',
  text: `INSERT INTO agents AS a (id, workspace_id, created_by_user_id, ${Object.values(COLUMN).join(', ')})
         VALUES (${Array.from({ length: FIELDS.length + 3 }, (_, i) => `$${i + 1}`).join(', ')})
         RETURNING a.*, ${DEFAULT_KEY}`,
};

/** @param keys as returned by `encryption` */
export function agents(pool, keys) {
  const query = async (statement, values) => (await pool.query({ ...statement, values })).rows;
  const encrypt = (id, field, clear) => (clear == null ? null : keys.encrypt(clear, `agent.${field}:${id}`));
  const decrypt = (id, field, stored) => (stored === null ? null : keys.decrypt(stored, `agent.${field}:${id}`));

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
        ? decrypt(row.id, 'apiKey', row.api_key)
        : keys.decrypt(row.default_key, `provider_key:${row.workspace_id}:${row.provider}`)) ?? '',
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
    webhookSecret: decrypt(row.id, 'webhookSecret', row.webhook_secret),
  });

  async function find(caller, id) {
    const [row] = await query(FIND, [requireUuid(id)]);
    if (!row) throw notFound();
    if (row.workspace_id !== caller.workspaceId) throw forbidden();
    return row;
  }

  return {
    async get(caller, id) {
      return { message: 'Agent retrieved successfully', data: toAgent(await find(caller, id)) };
    },

    async list(caller, parameters) {
      const { page, limit } = checkPage(parameters);
      const rows = await query(LIST, [caller.workspaceId, limit, (page - 1) * limit]);
      const total = rows[0]?.total ?? 0;
      return { meta: { total, page, limit, pageCount: Math.ceil(total / limit) }, data: rows.map(toAgent) };
    },

    async create(caller, body) {
      const id = randomUUID();
      const fields = { callMonitoring: false, isUsingDefaultApiKey: false, ...checkCreate(body) };
      for (const field of SECRETS) fields[field] = encrypt(id, field, fields[field]);
      const values = FIELDS.map((field) => fields[field] ?? null);
      const [row] = await query(INSERT, [id, caller.workspaceId, caller.userId, ...values]);
      return { message: 'Agent created successfully', data: toAgent(row) };
    },

    async update(caller, id, body) {
      const changes = { ...checkUpdate(body) };
      for (const field of SECRETS) {
        if (changes[field] !== undefined) changes[field] = encrypt(requireUuid(id), field, changes[field]);
      }
      const fields = FIELDS.filter((field) => changes[field] !== undefined);
      const sets = fields.map((field, i) => `${COLUMN[field]} = $${i + 3},`);
      const statement = {
        name: `update_${fields.join('_')}`,
        text: `UPDATE agents a SET ${sets.join(' ')} updated_at = now()
                WHERE a.id = $1 AND a.workspace_id = $2 AND a.deleted_at IS NULL RETURNING a.*, ${DEFAULT_KEY}`,
      };
      const values = [requireUuid(id), caller.workspaceId, ...fields.map((field) => changes[field])];
      const [row] = await query(statement, values);
      // Distinguishes 403 from 404.
      if (!row) await find(caller, id);
      return { message: 'Agent updated successfully', data: toAgent(row) };
    },
  };
}
