// What the hand-written servers have in common besides their framework: settings, pool, and how they end.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { agents } from './agents.mjs';
import { callers } from './callers.mjs';
import { Fault } from './input.mjs';
import { sealing } from './sealing.mjs';

const { DATABASE_URL, ENCRYPTION_KEYS, PLAN_FREE_REQUESTS_PER_MINUTE, DATABASE_POOL_SIZE } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: Number(DATABASE_POOL_SIZE) });
// The harness ends the server and then the database, which a pool must survive.
pool.on('error', () => undefined);

export const port = Number(process.env.PORT);
export const admit = callers(pool, Number(PLAN_FREE_REQUESTS_PER_MINUTE));
export const api = agents(pool, sealing(ENCRYPTION_KEYS));

/** Headers that every answer of the service carries too. */
export function commonHeaders(setHeader) {
  setHeader('X-Request-Id', randomUUID());
  setHeader('X-API-Version', '1.0.0');
  setHeader('Cache-Control', 'no-store');
}

/** The answer to whatever was thrown. */
export function faultOf(error) {
  if (error instanceof Fault) return error;
  process.stderr.write(`${error.stack}\n`);
  return new Fault(500, 'INTERNAL_SERVER_ERROR', 'Internal server error');
}

process.on('SIGTERM', () => process.exit(0));
