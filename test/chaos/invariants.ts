import type { Client } from 'pg';
import { send } from './caller.js';
import { documented } from './document.js';
import type { Hammer } from './hammer.js';
import type { Installation, Workspace } from './installation.js';
import { type ResourceUsage, resourceUsageOf } from './leaks.js';
import { type Entry, type Ledger, shownValue } from './ledger.js';
import { checkLists } from './lists.js';
import type { Random } from './random.js';
import { type RecoveryMeter, RUN_LIMIT_MS } from './recovery.js';

/** The result of checking one invariant. */
export interface Finding {
  readonly name: string;
  readonly figures: string;
  readonly problems: readonly string[];
}

/** Input of the checks at the end. */
export interface Evidence {
  readonly installation: Installation;
  readonly workspaces: readonly Workspace[];
  readonly ledger: Ledger;
  readonly hammer: Hammer;
  readonly meter: RecoveryMeter;
  /** Memory, files and handles of each process after it has served for some seconds. */
  readonly baseline: ReadonlyMap<string, ResourceUsage>;
  readonly sessionsBefore: number;
  readonly random: Random;
}

/** Log lines shown for an unhandled error. */
const STACK_LINES = 15;
const READERS = 8;
const MEMORY_SLACK_MB = 160;
const HANDLES_SLACK = 20;
/** Each thread that reads what a workspace's platforms send holds four descriptors, and starts when it is needed. */
const FILES_SLACK = HANDLES_SLACK + 4 * 4;

/** Counts each time that a call is marked as ended. */
export const AUDIT = `
  CREATE TABLE endings (call_id uuid NOT NULL);
  CREATE FUNCTION note_ending() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO endings VALUES (NEW.id); RETURN NULL; END $$;
  CREATE TRIGGER note_ending AFTER UPDATE ON calls FOR EACH ROW
    WHEN (NEW.status IN ('ENDED', 'CANCELLED')) EXECUTE FUNCTION note_ending()`;

export async function findings(evidence: Evidence): Promise<Finding[]> {
  // First, before the other checks put load on the service.
  const leaks = await leakFinding(evidence);
  return evidence.installation.onDatabase(async (database) => [
    await writesFinding(evidence),
    await onceFinding(evidence, database),
    await listsFinding(evidence, database),
    answersFinding(evidence),
    operationsFinding(evidence),
    limitsFinding(evidence),
    await callsFinding(database),
    await runsFinding(evidence, database),
    await deliveriesFinding(evidence, database),
    leaks,
    recoveryFinding(evidence),
  ]);
}

/** Reads every acknowledged write back through the API and compares its last value. */
async function writesFinding({ installation, workspaces, ledger }: Evidence): Promise<Finding> {
  const problems: string[] = [];
  const rest = ledger.entries.filter(({ state }) => state !== 'unsure');
  const left = [...rest];
  const listed = new Map<string, Promise<Set<string>>>();
  const reader = async (url: string) => {
    for (let entry = left.pop(); entry; entry = left.pop()) {
      const problem = await examine(url, workspaces[entry.workspace]!.key, entry, listed);
      if (problem !== undefined) problems.push(`${entry.kind} ${entry.id} (${entry.marker}): ${problem}`);
    }
  };
  const urls = installation.apis.map(({ url }) => url);
  await Promise.all(Array.from({ length: READERS }, (_, n) => reader(urls[n % urls.length]!)));
  const unsure = ledger.entries.length - rest.length;
  const figures = `${ledger.acknowledged} writes acknowledged, ${rest.length} resources read back, ${unsure} uncertain`;
  return { name: 'every acknowledged write is there', figures, problems };
}

async function examine(
  url: string,
  key: string,
  entry: Entry,
  listed: Map<string, Promise<Set<string>>>,
): Promise<string | undefined> {
  const { kind, id, state, values } = entry;
  if (kind === 'api-keys' || kind === 'provider-keys') {
    const path = `/workspace/${kind}`;
    const ids = listed.get(`${key}${path}`) ?? listIds(url, key, path);
    listed.set(`${key}${path}`, ids);
    return (await ids).has(id) === (state === 'there') ? undefined : `should be ${state}`;
  }
  const path =
    kind === 'workspace' ? '/workspace' : kind === 'webhooks' ? `/workspace/webhooks/${id}` : `/${kind}/${id}`;
  const outcome = await send(url, key, { method: 'GET', path });
  if (outcome.kind !== 'response') return outcome.kind;
  if (state === 'gone') return outcome.status === 404 ? undefined : `deleted, but the status is ${outcome.status}`;
  if (outcome.status !== 200) return `the status is ${outcome.status}`;
  const { data } = outcome.body;
  if (!values.includes(shownValue(kind, data))) return `is ${shownValue(kind, data)}, not ${values.join(' or ')}`;
  return entry.cancelled && data.status !== 'CANCELLED' ? `cancelled, but is ${data.status}` : undefined;
}

async function listIds(url: string, key: string, path: string): Promise<Set<string>> {
  const ids = new Set<string>();
  for (let page = 1; ; page++) {
    const outcome = await send(url, key, { method: 'GET', path: `${path}?limit=100&page=${page}` });
    if (outcome.kind !== 'response' || outcome.status !== 200) return ids;
    for (const item of outcome.body.data) ids.add(item.id ?? item.provider);
    if (page >= outcome.body.meta.pageCount) return ids;
  }
}

/** A marker sent by one request is in the database once: twice would mean that a retry was executed twice. */
async function onceFinding({ ledger }: Evidence, database: Client): Promise<Finding> {
  const problems: string[] = [];
  const ids = ledger.entries.filter(({ kind }) => !['provider-keys', 'workspace'].includes(kind)).map(({ id }) => id);
  if (new Set(ids).size < ids.length) problems.push(`${ids.length - new Set(ids).size} ids were returned twice`);
  const tables = {
    agents: ['agents', 'name'],
    personalities: ['personalities', 'name'],
    evaluations: ['evaluations', 'name'],
    schedules: ['schedules', 'name'],
    'api-keys': ['api_keys', 'name'],
  } as const;
  for (const [kind, [table, column]] of Object.entries(tables)) {
    const { rows } = await database.query(
      `SELECT ${column} AS value, count(*)::int AS n FROM ${table} WHERE ${column} LIKE 'c%-%' GROUP BY 1 HAVING count(*) > 1`,
    );
    for (const { value, n } of rows) problems.push(`${kind} ${value}: ${n} times`);
  }
  const { rows } = await database.query(
    `SELECT id FROM (SELECT id FROM agents UNION ALL SELECT id FROM personalities UNION ALL SELECT id FROM evaluations
       UNION ALL SELECT id FROM schedules UNION ALL SELECT id FROM runs UNION ALL SELECT id FROM calls UNION ALL SELECT id FROM webhook_endpoints
       UNION ALL SELECT id FROM webhook_deliveries) a GROUP BY id HAVING count(*) > 1`,
  );
  if (rows.length > 0) problems.push(`${rows.length} ids are in two tables`);
  const figures = `${ids.length} ids, ${ledger.replayed} responses replayed, ${ledger.unanswered.size} POSTs without a response`;
  return { name: 'no id twice, no retry executed twice', figures, problems };
}

async function listsFinding(evidence: Evidence, database: Client): Promise<Finding> {
  const { installation, workspaces, random } = evidence;
  const { lists, items, longest, problems } = await checkLists(
    installation.apis[0]!.url,
    workspaces.filter(({ requestsPerMinute }) => requestsPerMinute > 1_000),
    database,
    random,
  );
  const figures = `${lists} lists with ${items} items, the longest ${longest}`;
  return { name: 'totals, pages and counts are equal', figures, problems };
}

function answersFinding({ ledger, installation }: Evidence): Finding {
  const problems = ledger.faults.map(({ operation, status, text, during, requestId }) => {
    const lines = installation.services.flatMap(({ errors }) => errors);
    const log = requestId === '' ? undefined : lines.find((line) => line.includes(requestId));
    return `${operation} ${status} during ${during}: ${text}${log === undefined ? '' : ` – ${log.slice(0, 600)}`}`;
  });
  for (const { name, errors } of installation.services) {
    errors.forEach((line, i) => {
      if (/"level":60/.test(line)) problems.push(`${name}: ${line.slice(0, 2_000)}`);
      // Node prints this line last after an unhandled error; the stack is above it.
      if (/^Node\.js v\d/.test(line)) {
        const stack = errors.slice(Math.max(0, i - STACK_LINES), i).join(' | ');
        problems.push(`${name}: ${stack.slice(-2_000)}`);
      }
    });
  }
  const figures = [...ledger.outcomes].sort().map(([outcome, n]) => `${outcome}: ${n}`);
  return { name: 'no unexpected status except 503', figures: figures.join(', '), problems };
}

function operationsFinding({ ledger }: Evidence): Finding {
  const problems = documented
    .filter(({ operationId }) => !ledger.succeeded.has(operationId))
    .map(({ operationId }) => `${operationId} never succeeded`);
  return { name: 'every operation took part', figures: `${ledger.succeeded.size} of ${documented.length}`, problems };
}

function limitsFinding({ hammer, installation }: Evidence): Finding {
  const limit = hammer.workspace.requestsPerMinute;
  const windows = hammer.windows();
  const undisturbed = windows.flatMap(({ allowedUndisturbed }) => allowedUndisturbed ?? []);
  const most = Math.max(0, ...windows.map(({ allowed }) => allowed));
  const rejected = windows.reduce((sum, window) => sum + window.rejected, 0);
  const problems = undisturbed.filter((n) => n > limit).map((n) => `${n} of ${limit} allowed in a window`);
  const isTelling = undisturbed.length > 0 || !installation.redis;
  if (!isTelling || rejected === 0) problems.push('no window was long enough for a verdict');
  // Without Redis every process counts on its own, and a restarted one from zero.
  const bound = limit * installation.apis.reduce((sum, { starts }) => sum + starts, 0);
  if (most > bound) problems.push(`${most} allowed in a window while Redis was down, more than ${bound}`);
  const figures =
    `limit ${limit}; ${windows.length} windows, at most ${Math.max(0, ...undisturbed)} allowed with Redis, ` +
    `${most} in one without it, ${rejected} rejected`;
  return { name: 'limits are never exceeded', figures, problems };
}

async function callsFinding(database: Client): Promise<Finding> {
  const { rows } = await database.query(`
    SELECT (SELECT count(*)::int FROM calls) AS calls,
           (SELECT count(*)::int FROM calls WHERE status NOT IN ('ENDED', 'CANCELLED')) AS open,
           (SELECT count(*)::int FROM calls WHERE lease_expirations > 0) AS lost,
           (SELECT count(*)::int FROM calls WHERE outcome = 'error') AS errors,
           (SELECT count(*)::int FROM (SELECT FROM endings GROUP BY call_id HAVING count(*) > 1) e) AS twice,
           (SELECT count(*)::int FROM calls c WHERE NOT EXISTS (SELECT FROM endings e WHERE e.call_id = c.id)) AS never,
           (SELECT count(*)::int FROM runs r WHERE total_calls <> (SELECT count(*) FROM calls c WHERE c.run_id = r.id)) AS odd,
           (SELECT count(*)::int FROM calls c WHERE NOT EXISTS (SELECT FROM runs r WHERE r.id = c.run_id)
               AND NOT EXISTS (SELECT FROM deleted_runs d WHERE d.id = c.run_id)) AS "withoutRun",
           (SELECT count(*)::int FROM calls c WHERE status = 'ENDED' AND outcome <> 'error'
               AND NOT EXISTS (SELECT FROM call_results s WHERE s.call_id = c.id)) AS "withoutResult"`);
  const { calls, open, lost, errors, twice, never, odd, withoutRun, withoutResult } = rows[0];
  const problems = Object.entries({ open, twice, never, odd, withoutRun, withoutResult })
    .filter(([, n]) => n !== 0)
    .map(([what, n]) => `${what}: ${n}`);
  const figures = `${calls} calls, ${lost} lost their process, ${errors} ended as error`;
  return { name: 'every call has ended exactly once', figures, problems };
}

async function runsFinding({ ledger }: Evidence, database: Client): Promise<Finding> {
  const { rows } = await database.query<{
    id: string;
    status: string;
    events: number;
    cases: number;
    results: number;
  }>(`
    SELECT r.id, r.status, (SELECT count(*)::int FROM webhook_events e
             WHERE e.type IN ('run.completed', 'run.failed') AND e.body::jsonb #>> '{data,run,id}' = r.id::text) AS events,
           (SELECT count(DISTINCT case_key)::int FROM calls c WHERE c.run_id = r.id) AS cases,
           (SELECT count(*)::int FROM case_results h WHERE h.run_id = r.id) AS results
      FROM runs r`);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const problems: string[] = [];
  for (const { id } of ledger.entries.filter(({ kind, state }) => kind === 'runs' && state === 'there')) {
    if (!byId.has(id)) problems.push(`${id} is lost`);
  }
  for (const { id, status, events, cases, results } of rows) {
    const isOver = ['COMPLETED', 'FAILED', 'CANCELLED'].includes(status);
    const expected = status === 'CANCELLED' ? 0 : 1;
    if (!isOver || events !== expected) problems.push(`${id} is ${status} with ${events} outcome events`);
    if (results !== expected * cases) problems.push(`${id} is ${status} with results of ${results} of ${cases} cases`);
  }
  const cancelled = rows.filter(({ status }) => status === 'CANCELLED').length;
  const figures = `${rows.length} runs, ${cancelled} cancelled`;
  return { name: 'every run has ended, with one event of its outcome and one result of each case', figures, problems };
}

async function deliveriesFinding({ installation }: Evidence, database: Client): Promise<Finding> {
  const receivedIds = new Set(installation.receiver.received.map(({ headers }) => headers['webhook-id']));
  const { rows } = await database.query<{ id: string; status: string; isOnSchedule: boolean; state: string }>(`
    SELECT event_id AS id, status,
           (status = 'DELIVERED' OR (status = 'PENDING' AND next_attempt_at > now() - interval '15 seconds')) AS "isOnSchedule",
           format('claimed by %s, parked %s, due %s; job locked by %s at %s, attempt %s, %s; at %s', d.claimed_by,
                  d.is_parked, d.next_attempt_at, j.locked_by, j.locked_at, j.attempts, j.last_error, now()) AS state
      FROM webhook_deliveries d LEFT JOIN graphile_worker.jobs j ON j.key = 'webhook:' || d.id`);
  const problems = rows
    .filter(({ id, status, isOnSchedule }) => !isOnSchedule || (status === 'DELIVERED' && !receivedIds.has(id)))
    .map(
      ({ id, status, state }) =>
        `${id} is ${status}, and was ${receivedIds.has(id) ? 'received' : 'never received'} (${state})`,
    );
  const pending = rows.filter(({ status }) => status === 'PENDING').length;
  const attempts = installation.receiver.received.map(
    ({ headers, path }) => `${String(headers['webhook-id'])} ${path}`,
  );
  const repeated = attempts.length - new Set(attempts).size;
  const figures = `${rows.length} deliveries, ${pending} pending; ${receivedIds.size} events received, ${repeated} repetitions`;
  return { name: 'every event is delivered or has a next attempt', figures, problems };
}

async function leakFinding({ installation, baseline, sessionsBefore }: Evidence): Promise<Finding> {
  const problems: string[] = [];
  const figures: string[] = [];
  const usages = await Promise.all(installation.services.map(resourceUsageOf));
  for (const now of usages.flat()) {
    const before = baseline.get(now.id);
    if (!before) {
      problems.push(`${now.name} was not measured while it served`);
      continue;
    }
    figures.push(
      `${now.name} ${before.megabytes}→${now.megabytes} MB, ${before.files}→${now.files} files, ` +
        `${before.handles}→${now.handles} handles`,
    );
    if (now.megabytes > before.megabytes + MEMORY_SLACK_MB) problems.push(`${now.name}: memory`);
    if ((now.files ?? 0) > (before.files ?? 0) + FILES_SLACK) problems.push(`${now.name}: files`);
    if (now.handles > before.handles + HANDLES_SLACK) problems.push(`${now.name}: handles`);
    if (now.borrowed > 1) problems.push(`${now.name}: ${now.borrowed} database connections were not released`);
  }
  const sessions = await installation.sessions();
  figures.push(`database sessions ${sessionsBefore}→${sessions}`);
  if (sessions > sessionsBefore + 10) problems.push(`${sessions} database sessions`);
  return { name: 'nothing leaks', figures: figures.join('; '), problems };
}

function recoveryFinding({ meter, installation }: Evidence): Finding {
  const { measured, limitMs } = meter;
  const problems = measured
    .filter(({ readMs, writeMs, runMs }) => Math.max(readMs, writeMs) > limitMs || runMs > limitMs + RUN_LIMIT_MS)
    .map(({ name, readMs, writeMs, runMs }) => `${name}: read ${readMs} ms, write ${writeMs} ms, run ${runMs} ms`);
  const worst = (field: 'readMs' | 'writeMs' | 'runMs') => Math.max(0, ...measured.map((each) => each[field]));
  const figures =
    `${measured.length} disturbances; slowest read ${worst('readMs')} ms, write ${worst('writeMs')} ms, ` +
    `run ${worst('runMs')} ms; limit ${limitMs} ms (a start takes ${installation.startMs} ms here)`;
  return { name: 'recovery within seconds', figures, problems };
}
