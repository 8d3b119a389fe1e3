// The reference for the comparison: the agents API written by hand with Express 5 and `pg`.
import { createHash, randomUUID } from 'node:crypto';
import express from 'express';
import pg from 'pg';
import { agents } from './agents.mjs';
import { encryption } from './encryption.mjs';
import { badRequest, HttpError, notFound } from './input.mjs';

const { PORT, DATABASE_URL, DATABASE_POOL_SIZE, ENCRYPTION_KEYS } = process.env;
const FREE_LIMIT = Number(process.env.PLAN_FREE_REQUESTS_PER_MINUTE);
const WINDOW_MS = 60_000;
const FIND_KEY = {
  name: 'find_key',
  text: `SELECT k.workspace_id, k.user_id, k.expires_at, w.requests_per_minute
           FROM api_keys k JOIN workspaces w ON w.id = k.workspace_id
          WHERE k.hash = $1 AND k.revoked_at IS NULL`,
};

const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(DATABASE_POOL_SIZE) });
const api = agents(pool, encryption(ENCRYPTION_KEYS));
const windows = new Map();

/** Counts a request in a fixed window and sets the rate-limit headers. @throws HttpError 429 */
function countRequest(key, limit, response) {
  const now = Date.now();
  let window = windows.get(key);
  if (!window || window.endsAt <= now) windows.set(key, (window = { endsAt: now + WINDOW_MS, hits: 0 }));
  window.hits += 1;
  response.setHeader('X-RateLimit-Limit', limit);
  response.setHeader('X-RateLimit-Remaining', Math.max(0, limit - window.hits));
  response.setHeader('X-RateLimit-Reset', Math.ceil(window.endsAt / 1000));
  if (window.hits > limit) throw new HttpError(429, 'TOO_MANY_REQUESTS', 'Rate limit exceeded');
}

/** Looks the API key up in the database for every request, as a hand-written server does. @throws HttpError 401 or 429 */
async function authenticate(request, response, next) {
  response.setHeader('X-Request-Id', randomUUID());
  response.setHeader('X-API-Version', '1.0.0');
  response.setHeader('Cache-Control', 'no-store');
  const key = /^bearer +(.*)$/i.exec(request.headers.authorization ?? '')?.[1]?.trim() ?? '';
  const hash = createHash('sha256').update(key).digest('hex');
  const row = key === '' ? undefined : (await pool.query({ ...FIND_KEY, values: [hash] })).rows[0];
  const isValid = row !== undefined && !(row.expires_at && row.expires_at <= new Date());
  if (isValid) countRequest(row.workspace_id, row.requests_per_minute ?? FREE_LIMIT, response);
  else countRequest(request.ip, FREE_LIMIT, response);
  if (!isValid) throw new HttpError(401, 'UNAUTHORIZED', 'Invalid API key');
  request.caller = { workspaceId: row.workspace_id, userId: row.user_id };
  next();
}

const app = express();
app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
app.use(authenticate);
app.use(express.json({ limit: '1mb' }));
app.get('/agents', async (request, response) => {
  response.json(await api.list(request.caller, request.query));
});
app.get('/agents/:id', async (request, response) => {
  response.json(await api.get(request.caller, request.params.id));
});
app.post('/agents', async (request, response) => {
  response.status(201).json(await api.create(request.caller, request.body));
});
app.patch('/agents/:id', async (request, response) => {
  response.json(await api.update(request.caller, request.params.id, request.body));
});
app.use(() => {
  throw notFound();
});
// Express recognises an error handler by its four parameters.
app.use((thrown, request, response, _next) => {
  const error = thrown.type === 'entity.parse.failed' ? badRequest('body must be valid JSON') : thrown;
  if (error instanceof HttpError) return response.status(error.status).json(error.body);
  process.stderr.write(`${error.stack}\n`);
  response.status(500).json({ code: 'INTERNAL_SERVER_ERROR', message: 'Internal server error' });
});
app.listen(Number(PORT), '127.0.0.1');
