import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

type Medium = 'text' | 'voice';

interface NewRun {
  readonly workspace: string;
  readonly agent?: string;
  readonly calls?: number;
  readonly medium?: Medium;
  readonly concurrency?: number;
  readonly protocol?: string;
  readonly bills?: boolean;
  readonly isDerived?: boolean;
  /** Of the calls. */
  readonly status?: 'QUEUED' | 'RUNNING' | 'ENDED';
  /** Seconds; older runs go first. */
  readonly age?: number;
}

interface Slots {
  readonly medium?: Medium;
  readonly free: number;
  /** How many of them are for workspaces that hold none. */
  readonly kept?: number;
  /** Names of workspaces that hold one. */
  readonly holders?: readonly string[];
}

const RUN = `
  INSERT INTO runs (id, workspace_id, agent_id, user_id, label, name, status, score, total_calls, repeat, concurrency,
                    allowed_uncounted, agent_snapshot, reasons, derived_from, derived_kind, created_at)
  VALUES ($1, $2, $3, $2, 'READ', 'run', $4, 0, $5, 1, $6, 0, '{}', '{}', $7, CASE WHEN $7::uuid IS NOT NULL THEN 'rejudge' END,
          now() - $8 * interval '1 second')`;

const CALLS = `
  INSERT INTO calls (id, workspace_id, agent_id, run_id, evaluation_id, case_key, position, repetition, status, attempts,
                     lease_expirations, latencies, due_at, changed_in, protocol, medium, bills, source_call_id, outcome, claim_id,
                     lease_until)
  SELECT gen_random_uuid(), r.workspace_id, r.agent_id, r.id, r.id, 'case', p, 1, $2, '[]', 0, '{}', now(), 0, $3, $4, $5,
         r.derived_from, CASE WHEN $2 = 'ENDED' THEN 'passed' END, CASE WHEN $2 = 'RUNNING' THEN gen_random_uuid() END,
         CASE WHEN $2 = 'RUNNING' THEN now() + interval '1 hour' END
    FROM runs r, generate_series(0, $6::integer - 1) p WHERE r.id = $1`;

const CLAIM = `
  SELECT c.claim_id, c.id, c.run_id, c.workspace_id, c.agent_id, c.protocol, c.medium, c.bills, c.credential, c.capacity,
         c.is_repeated, k.position
    FROM claim_calls($1, interval '20 seconds') c JOIN calls k ON k.id = c.id`;

describe('claim_calls', () => {
  let database: TestDatabase;
  let client: Client;

  beforeEach(async () => {
    database = await createTestDatabase();
    client = await connect();
  });
  afterEach(async () => {
    await client.end();
    await database.drop();
  });

  /** Without foreign keys: agents, workspaces and evaluations do not matter here. */
  const connect = async () => {
    const connection = new Client(database.url);
    await connection.connect();
    await connection.query('SET session_replication_role = replica');
    return connection;
  };
  const names = new Map<string, string>();
  /** The id behind a name. */
  const id = (name: string): string => {
    const known = names.get(name) ?? randomUUID();
    names.set(name, known);
    return known;
  };
  const nameOf = (given: string): string => [...names].find(([, one]) => one === given)?.[0] ?? given;

  const addRun = async (run: NewRun): Promise<string> => {
    const { workspace, agent = `agent of ${workspace}`, calls = 1, medium = 'text', concurrency = 100, age = 0 } = run;
    const { protocol = medium, bills = false, isDerived = false, status = 'QUEUED' } = run;
    const runId = randomUUID();
    const ofRun = status === 'QUEUED' ? 'QUEUED' : status === 'RUNNING' ? 'RUNNING' : 'COMPLETED';
    const source = isDerived ? randomUUID() : null;
    await client.query(RUN, [runId, id(workspace), id(agent), ofRun, calls, concurrency, source, age]);
    await client.query(CALLS, [runId, status, protocol, medium, bills, calls]);
    return runId;
  };
  const setCapacity = (agent: string, credential: string, capacity: number, protocol = 'text') =>
    client.query('INSERT INTO agent_capacity (agent_id, protocol, credential, capacity) VALUES ($1, $2, $3, $4)', [
      id(agent),
      protocol,
      credential,
      capacity,
    ]);
  const given = (slots: readonly Slots[]) =>
    JSON.stringify(
      slots.map(({ medium = 'text', free, kept = 0, holders = [] }) => ({
        medium,
        claims: Array.from({ length: free }, () => randomUUID()),
        kept,
        holders: holders.map(id),
      })),
    );
  const claim = async (...slots: readonly Slots[]): Promise<any[]> => (await client.query(CLAIM, [given(slots)])).rows;
  /** How many calls of each agent. */
  const counted = (claimed: readonly any[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { agent_id } of claimed) counts[nameOf(agent_id)] = (counts[nameOf(agent_id)] ?? 0) + 1;
    return counts;
  };

  it('takes the oldest run first, and its calls in the order of the plan', async () => {
    const later = await addRun({ workspace: 'w', calls: 3 });
    const first = await addRun({ workspace: 'w', calls: 3, age: 60 });
    const claimed = await claim({ free: 4 });
    expect(claimed.map(({ run_id, position }) => [run_id, position])).toEqual([
      [first, 0],
      [first, 1],
      [first, 2],
      [later, 0],
    ]);
    expect(new Set(claimed.map(({ claim_id }) => claim_id)).size).toBe(4);
    const { rows } = await client.query('SELECT status, started_at IS NOT NULL AS started FROM runs');
    expect(rows).toEqual(Array(2).fill({ status: 'RUNNING', started: true }));
    expect(await claim({ free: 4 })).toHaveLength(2);
    expect(await claim({ free: 4 })).toEqual([]);
  });

  it.each([
    {
      title: 'the workspace with the fewest running calls, whatever its agents have',
      runs: [
        { workspace: 'busy', calls: 3, status: 'RUNNING' },
        { workspace: 'busy', agent: 'idle agent', calls: 9, age: 60 },
        { workspace: 'idle', calls: 9 },
      ],
      free: 3,
      claimed: { 'agent of idle': 3 },
    },
    {
      title: 'the agent with the fewest within a workspace',
      runs: [
        { workspace: 'w', agent: 'busy', calls: 2, status: 'RUNNING' },
        { workspace: 'w', agent: 'busy', calls: 9, age: 60 },
        { workspace: 'w', agent: 'idle', calls: 9 },
      ],
      free: 4,
      claimed: { idle: 3, busy: 1 },
    },
    {
      title: 'each workspace in turn',
      runs: [
        { workspace: 'a', calls: 9, age: 60 },
        { workspace: 'b', calls: 9 },
        { workspace: 'c', calls: 1 },
      ],
      free: 7,
      claimed: { 'agent of a': 3, 'agent of b': 3, 'agent of c': 1 },
    },
    {
      title: 'workspaces by their calls of the same medium',
      runs: [
        { workspace: 'a', medium: 'voice', calls: 5, status: 'RUNNING' },
        { workspace: 'a', calls: 9, age: 60 },
        { workspace: 'b', calls: 9 },
      ],
      free: 2,
      claimed: { 'agent of a': 1, 'agent of b': 1 },
    },
    {
      title: 'a workspace whose single call came after 10,000 of another one',
      runs: [
        { workspace: 'large', calls: 10_000, age: 60 },
        { workspace: 'small', calls: 1 },
      ],
      free: 2,
      claimed: { 'agent of large': 1, 'agent of small': 1 },
    },
  ] as readonly { title: string; runs: NewRun[]; free: number; claimed: object }[])(
    'prefers $title',
    async ({ runs, free, claimed }) => {
      for (const run of runs) await addRun(run);
      expect(counted(await claim({ free }))).toEqual(claimed);
    },
  );

  it('keeps the last slots for workspaces that hold none', async () => {
    await addRun({ workspace: 'holder', calls: 20, age: 60 });
    expect(await claim({ free: 1, kept: 1, holders: ['holder'] })).toEqual([]);
    expect(await claim({ free: 5, kept: 2, holders: ['holder'] })).toHaveLength(3);
    // A workspace that gets one holds one.
    await addRun({ workspace: 'other', calls: 20 });
    expect(counted(await claim({ free: 2, kept: 2, holders: ['holder'] }))).toEqual({ 'agent of other': 1 });
  });

  it.each<{ title: string; runs: NewRun[]; claimed: object }>([
    {
      title: 'both media together',
      runs: [
        { workspace: 'w', medium: 'voice', calls: 2, status: 'RUNNING' },
        { workspace: 'w', calls: 9, concurrency: 5 },
      ],
      claimed: { 'agent of w': 3 },
    },
    {
      title: 'calls that are judged again, too',
      runs: [
        { workspace: 'w', calls: 4, status: 'RUNNING', isDerived: true },
        { workspace: 'w', calls: 9, concurrency: 5, isDerived: true },
      ],
      claimed: { 'agent of w': 1 },
    },
    {
      title: 'each run by its own limit',
      runs: [
        { workspace: 'w', calls: 9, concurrency: 2, age: 60 },
        { workspace: 'w', calls: 9, concurrency: 4 },
      ],
      claimed: { 'agent of w': 4 },
    },
  ])('respects the concurrency of a run: $title', async ({ runs, claimed }) => {
    for (const run of runs) await addRun(run);
    expect(counted(await claim({ free: 8 }, { free: 8, medium: 'voice' }))).toEqual(claimed);
  });

  it('gives each medium its own slots', async () => {
    await addRun({ workspace: 'w', calls: 5 });
    await addRun({ workspace: 'w', agent: 'speaker', calls: 5, medium: 'voice' });
    const claimed = await claim({ free: 2 }, { free: 3, medium: 'voice' });
    expect(counted(claimed)).toEqual({ 'agent of w': 2, speaker: 3 });
    expect(await claim({ free: 9, medium: 'voice' })).toHaveLength(2);
  });

  it('skips calls that are not due, and those that another transaction holds', async () => {
    const runId = await addRun({ workspace: 'w', calls: 3 });
    await client.query(`UPDATE calls SET due_at = now() + interval '1 hour' WHERE run_id = $1 AND position = 0`, [
      runId,
    ]);
    const other = await connect();
    await other.query('BEGIN');
    await other.query('SELECT FROM calls WHERE run_id = $1 AND position = 1 FOR UPDATE', [runId]);
    expect((await claim({ free: 3 })).map(({ position }) => position)).toEqual([2]);
    await other.query('ROLLBACK');
    // A run that another transaction cancels is not started.
    const cancelled = await addRun({ workspace: 'w', calls: 1 });
    await other.query('BEGIN');
    await other.query('SELECT FROM runs WHERE id = $1 FOR UPDATE', [cancelled]);
    expect((await claim({ free: 3 })).map(({ run_id, position }) => [run_id, position])).toEqual([[runId, 1]]);
    await other.end();
  });

  describe('with capacity of a platform', () => {
    it('reserves it, never more than there is, and notes since when calls wait', async () => {
      await addRun({ workspace: 'w', calls: 5, bills: true });
      await setCapacity('agent of w', 'key', 3);
      const claimed = await claim({ free: 8 });
      expect(claimed).toEqual(
        Array(3).fill(expect.objectContaining({ credential: 'key', capacity: 3, is_repeated: false })),
      );
      expect((await client.query('SELECT state, attempt FROM platform_calls')).rows).toEqual(
        Array(3).fill({ state: 'reserved', attempt: 1 }),
      );
      const waiting = 'SELECT position FROM calls WHERE capacity_wait_since IS NOT NULL ORDER BY position';
      expect((await client.query(waiting)).rows).toEqual([{ position: 3 }, { position: 4 }]);
      await client.query(`UPDATE calls SET capacity_wait_since = now() - interval '3 s' WHERE position = 3`);
      await client.query(`UPDATE platform_calls SET state = 'ended' WHERE claim_id = $1`, [claimed[0].claim_id]);
      expect(await claim({ free: 8 })).toMatchObject([{ position: 3 }]);
      const { rows } = await client.query('SELECT waited_for_line_ms AS ms FROM calls WHERE position = 3');
      expect(rows[0].ms).toBeGreaterThanOrEqual(3_000);
      expect((await client.query(waiting)).rows).toEqual([{ position: 4 }]);
    });

    it('claims a call that has waited since the service was stopped, weeks ago', async () => {
      await addRun({ workspace: 'w', calls: 1, bills: true });
      await setCapacity('agent of w', 'key', 3);
      await client.query(`UPDATE calls SET capacity_wait_since = now() - interval '60 days'`);
      expect(await claim({ free: 8 })).toMatchObject([{ position: 0 }]);
      const { rows } = await client.query('SELECT waited_for_line_ms AS ms FROM calls');
      expect(rows).toEqual([{ ms: 100_000_000 }]);
    });

    it('shares it among agents, by the running calls of their workspaces', async () => {
      await addRun({ workspace: 'a', calls: 3, status: 'RUNNING', protocol: 'other' });
      await addRun({ workspace: 'a', calls: 9, age: 60 });
      await addRun({ workspace: 'b', calls: 9 });
      for (const agent of ['agent of a', 'agent of b']) await setCapacity(agent, 'shared', 3);
      expect(counted(await claim({ free: 9 }))).toEqual({ 'agent of b': 3 });
    });

    it('lets calls pass that need none: of other agents, and of runs that judge calls again', async () => {
      await addRun({ workspace: 'w', calls: 9, age: 60 });
      const derived = await addRun({ workspace: 'w', calls: 2, isDerived: true });
      const free = await addRun({ workspace: 'w', agent: 'another one', calls: 2, protocol: 'other' });
      await setCapacity('agent of w', 'key', 1);
      expect(await claim({ free: 1 })).toMatchObject([{ credential: 'key' }]);
      const claimed = await claim({ free: 4 });
      expect(claimed.map(({ run_id, credential }) => [run_id, credential]).sort()).toEqual(
        [derived, derived, free, free].map((runId) => [runId, null]).sort(),
      );
    });

    it('is used for an hour by a call that could not be ended', async () => {
      await addRun({ workspace: 'w', calls: 2 });
      await setCapacity('agent of w', 'key', 1);
      const [{ claim_id }] = await claim({ free: 2 });
      await client.query(`UPDATE platform_calls SET state = 'not_ended' WHERE claim_id = $1`, [claim_id]);
      expect(await claim({ free: 2 })).toEqual([]);
      await client.query(`UPDATE platform_calls SET created_at = now() - interval '61 minutes'`);
      expect(await claim({ free: 2 })).toHaveLength(1);
    });

    it('is not given to a billed call whose platform may still carry its last attempt', async () => {
      const runId = await addRun({ workspace: 'w', bills: true });
      await setCapacity('agent of w', 'key', 5);
      const [{ claim_id }] = await claim({ free: 1 });
      await client.query(
        `UPDATE calls SET status = 'QUEUED', claim_id = NULL, lease_until = NULL, attempts = '[{}]' WHERE run_id = $1`,
        [runId],
      );
      expect(await claim({ free: 1 })).toEqual([]);
      await client.query(`UPDATE platform_calls SET state = 'ended' WHERE claim_id = $1`, [claim_id]);
      expect(await claim({ free: 1 })).toMatchObject([{ is_repeated: true }]);
    });
  });

  it('exceeds no limit when eight processes claim at once', async () => {
    for (const name of ['a', 'b', 'c', 'd']) {
      await addRun({ workspace: name, calls: 100, concurrency: 7 });
      await setCapacity(`agent of ${name}`, name < 'c' ? 'shared' : name, name < 'c' ? 5 : 100);
    }
    const others = await Promise.all(Array.from({ length: 8 }, connect));
    const claimed = await Promise.all(
      others.flatMap((other) => [1, 2, 3].map(() => other.query(CLAIM, [given([{ free: 8 }])]))),
    );
    await Promise.all(others.map((other) => other.end()));
    const rows: any[] = claimed.flatMap((result) => result.rows);
    const { 'agent of a': a = 0, 'agent of b': b = 0, 'agent of c': c, 'agent of d': d } = counted(rows);
    expect([a + b, c, d]).toEqual([5, 7, 7]);
    expect(new Set(rows.map((row) => row.id)).size).toBe(rows.length);
  });

  it('reads at most 5,000 pages for eight slots beside 300,000 ended and 60,000 queued calls', async () => {
    // 60 agents of 20 workspaces, each with ten ended runs of 500 calls, ten queued ones of 100, and a running call.
    await client.query(`
      INSERT INTO runs (id, workspace_id, agent_id, user_id, label, name, status, score, total_calls, repeat, concurrency,
                        allowed_uncounted, agent_snapshot, reasons, created_at)
      SELECT gen_random_uuid(), md5('w' || a % 20)::uuid, md5('a' || a)::uuid, md5('w')::uuid, 'READ', 'run', s.run, 0, s.calls, 1,
             100, 0, '{}', '{}', now() - a * interval '1 s' - n * interval '1 min'
        FROM generate_series(1, 60) a,
             (VALUES ('COMPLETED', 10, 500), ('QUEUED', 10, 100), ('RUNNING', 1, 1)) s (run, runs, calls),
             generate_series(1, s.runs) n;
      INSERT INTO calls (id, workspace_id, agent_id, run_id, evaluation_id, case_key, position, repetition, status, attempts,
                         lease_expirations, latencies, due_at, changed_in, protocol, medium, outcome, claim_id, lease_until)
      SELECT gen_random_uuid(), r.workspace_id, r.agent_id, r.id, r.id, 'case', p, 1,
             CASE r.status WHEN 'COMPLETED' THEN 'ENDED' ELSE r.status END, '[]', 0, '{}', now(), 0, 'text', 'text',
             CASE r.status WHEN 'COMPLETED' THEN 'passed' END, CASE r.status WHEN 'RUNNING' THEN r.id END,
             CASE r.status WHEN 'RUNNING' THEN now() END
        FROM runs r, generate_series(0, r.total_calls - 1) p;
      INSERT INTO agent_capacity (agent_id, protocol, credential, capacity)
      SELECT md5('a' || a)::uuid, 'text', 'key ' || a % 30, a % 3 + 1 FROM generate_series(1, 60) a`);
    await client.query('ANALYZE');
    const explained = await client.query(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT * FROM claim_calls($1, interval '20 seconds')`,
      [given([{ free: 8, kept: 2 }])],
    );
    const plan = explained.rows[0]['QUERY PLAN'][0].Plan;
    expect(plan['Actual Rows']).toBe(8);
    expect(plan['Shared Hit Blocks'] + plan['Shared Read Blocks']).toBeLessThanOrEqual(5_000);
  }, 120_000);
});
