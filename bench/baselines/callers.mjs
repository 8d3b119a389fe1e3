// Who calls, and how much they still may: what a hand-written server does before its work.
import { createHash } from 'node:crypto';
import { Fault, unauthorized } from './input.mjs';

const WINDOW_MS = 60_000;
const BEARER = /^bearer +(.*)$/i;

const FIND_KEY = {
  name: 'find_key',
  text: `SELECT k.workspace_id, k.user_id, k.expires_at, w.requests_per_minute
           FROM api_keys k JOIN workspaces w ON w.id = k.workspace_id
          WHERE k.hash = $1 AND k.revoked_at IS NULL`,
};

/**
 * Looks the key of every request up in the database and counts the request in a fixed window in memory.
 * @param limit requests per minute of whoever has no limit of their own
 */
export function callers(pool, limit) {
  const windows = new Map();

  function count(key, most) {
    const now = Date.now();
    let window = windows.get(key);
    if (!window || window.endsAt <= now) {
      window = { endsAt: now + WINDOW_MS, reset: Math.ceil((now + WINDOW_MS) / 1000), hits: 0 };
      windows.set(key, window);
    }
    window.hits += 1;
    return { limit: most, remaining: Math.max(0, most - window.hits), reset: window.reset, hits: window.hits };
  }

  /**
   * @param setHeader called with the names and values of the rate-limit headers
   * @returns {Promise<{ workspaceId: string, userId: string }>}
   * @throws Fault 401 or 429
   */
  return async function admit(authorization, address, setHeader) {
    const key = BEARER.exec(authorization ?? '')?.[1]?.trim() ?? '';
    let row;
    if (key !== '') {
      const hash = createHash('sha256').update(key).digest('hex');
      row = (await pool.query({ ...FIND_KEY, values: [hash] })).rows[0];
      if (row?.expires_at && row.expires_at <= new Date()) row = undefined;
    }
    const standing = row
      ? count(row.workspace_id, row.requests_per_minute ?? limit)
      : count(`address ${address}`, limit);
    setHeader('X-RateLimit-Limit', standing.limit);
    setHeader('X-RateLimit-Remaining', standing.remaining);
    setHeader('X-RateLimit-Reset', standing.reset);
    if (standing.hits > standing.limit) throw new Fault(429, 'TOO_MANY_REQUESTS', 'Rate limit exceeded');
    if (!row) {
      setHeader('WWW-Authenticate', 'Bearer');
      throw unauthorized(key === '' ? 'Authorization not provided' : 'Invalid API key');
    }
    return { workspaceId: row.workspace_id, userId: row.user_id };
  };
}
