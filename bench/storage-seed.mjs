// Databases with many stored calls: copies of the calls of one real run, spread over a year.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { send } from './load.mjs';
import { output } from './processes.mjs';

export const RUNS_PER_AGENT = 100;
const CALLS_PER_RUN = 100;
const YEAR = `interval '364 days'`;

/** Runs the evaluations of the reference agent once in the database of `service`. @returns the original of all copies */
export async function createOriginal(service, env, evaluationsFor) {
  const workspace = JSON.parse(
    await output('scripts/admin.mjs', ['workspace', 'create', '--name', 'Storage', '--json'], env),
  );
  const api = async (...request) => (await send(service.url, workspace.apiKey, ...request)).data;
  const agent = await api('POST', '/agents', { provider: 'AGENT_PROVIDER_1', assistantId: 'booking', apiKey: 'none' });
  const personality = await api('POST', '/personalities', { name: 'Regular' });
  const evaluations = evaluationsFor(personality.id);
  for (const evaluation of evaluations) await api('POST', `/agents/${agent.id}/evaluations`, evaluation);
  const repeat = Math.max(1, Math.round(CALLS_PER_RUN / evaluations.length));
  let run = await api('POST', `/agents/${agent.id}/runs`, { repeat, concurrency: 100 });
  while (run.endedAt === null) run = await api('GET', `/runs/${run.id}?wait=60`);
  return { ...workspace, agentId: agent.id, runId: run.id, callsPerRun: run.totalCalls };
}

/** Inserts runs into a database. Rows of one time are inserted together, as they would have been. */
export class Seeder {
  constructor(url, original) {
    this.client = new pg.Client({ connectionString: url });
    this.original = original;
    // The server is stopped first when the benchmark is interrupted.
    this.client.on('error', () => undefined);
  }

  async open() {
    await this.client.connect();
    // The seed need not survive a crash.
    await this.client.query('SET synchronous_commit = off');
  }

  close() {
    return this.client.end();
  }

  /** Copies the agent. @returns the ids of the copies */
  async copyAgents(count) {
    const ids = Array.from({ length: count }, () => randomUUID());
    await this.client.query(
      `INSERT INTO agents SELECT n.* FROM agents a, unnest($2::uuid[]) new_id,
         LATERAL jsonb_populate_record(a, jsonb_build_object('id', new_id)) n WHERE a.id = $1`,
      [this.original.agentId, ids],
    );
    return ids;
  }

  /** Copies the run for each agent. @param age share of a year since its end @param times copies of each call */
  async copyRun(agentIds, age, times = 1) {
    const { runId, callsPerRun } = this.original;
    const runs = agentIds.map(() => randomUUID());
    await this.client.query(
      `INSERT INTO runs SELECT n.* FROM runs r, unnest($2::uuid[], $5::uuid[]) AS x (agent, new_id),
         LATERAL (SELECT now() - $3::float8 * ${YEAR} AS at) t,
         LATERAL jsonb_populate_record(r, jsonb_build_object('id', new_id, 'agent_id', agent, 'total_calls', $4::int,
           'created_at', at, 'updated_at', at, 'started_at', at, 'ended_at', at)) n
        WHERE r.id = $1`,
      [runId, agentIds, age, callsPerRun * times, runs],
    );
    await this.client.query(
      `INSERT INTO run_evaluations SELECT n.* FROM run_evaluations e, unnest($2::uuid[]) run,
         LATERAL jsonb_populate_record(e, jsonb_build_object('run_id', run)) n WHERE e.run_id = $1`,
      [runId, runs],
    );
    // Calls of a run are stored next to each other, since they are created by one statement and end within minutes.
    // The id of a copy follows from its run and position, so that results are copied without reading it back.
    const copies = `calls c JOIN runs r ON r.id = ANY ($2::uuid[]) CROSS JOIN generate_series(0, $3::int - 1) copy,
         LATERAL (SELECT c.position + copy * $4::int AS position) p,
         LATERAL (SELECT md5(r.id::text || p.position)::uuid AS id) i`;
    const values = [runId, runs, times, callsPerRun];
    await this.client.query(
      `INSERT INTO calls SELECT n.* FROM ${copies},
         LATERAL jsonb_populate_record(c, jsonb_build_object('id', i.id, 'run_id', r.id, 'agent_id', r.agent_id,
           'position', p.position, 'created_at', r.created_at, 'updated_at', r.created_at, 'ended_at', r.ended_at)) n
        WHERE c.run_id = $1 ORDER BY r.id, p.position`,
      values,
    );
    await this.client.query(
      `INSERT INTO call_results SELECT i.id, s.result FROM ${copies}, call_results s
        WHERE c.run_id = $1 AND s.call_id = c.id ORDER BY r.id, p.position`,
      values,
    );
    return runs;
  }

  /** Statistics for the planner, and hint bits, as autovacuum would leave them. */
  async finish() {
    await this.client.query('VACUUM ANALYZE');
    await this.client.query('CHECKPOINT');
  }

  async count(table) {
    return (await this.client.query(`SELECT count(*)::int AS n FROM ${table}`)).rows[0].n;
  }

  /** Calls of deleted runs that are still stored. */
  async countDeleted() {
    const { rows } = await this.client.query(
      'SELECT count(*)::int AS n FROM calls WHERE run_id IN (SELECT id FROM deleted_runs)',
    );
    return rows[0].n;
  }

  /** @returns calls, bytes of each table with its indexes, and mean lengths of a result */
  async sizes() {
    const tables = ['calls', 'call_results', 'call_attempts', 'run_evaluations', 'runs'];
    const { rows } = await this.client.query(
      `SELECT t AS table, pg_total_relation_size(t::regclass)::float8 AS bytes FROM unnest($1::text[]) t`,
      [tables],
    );
    const result = await this.client.query(
      `SELECT avg(length(s.result::text))::int AS json, avg(pg_column_size(s.result))::int AS stored,
              avg(jsonb_array_length(s.result -> 'timeline'))::int AS entries
         FROM call_results s JOIN calls c ON c.id = s.call_id WHERE c.run_id = $1`,
      [this.original.runId],
    );
    return { calls: await this.count('calls'), tables: rows, result: result.rows[0] };
  }
}
