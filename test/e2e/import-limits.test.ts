import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { shareOf } from '../../libs/statistics/testing/sample.js';
import { EvaluationFiles, MEDIA_TYPES, messages } from '../support/evaluation-files.js';
import { RawConnection } from '../support/hostile/wire.js';
import { HttpClient } from '../support/http.js';
import { ServiceProcess } from '../support/service-process.js';
import { sql, withClient } from '../support/sql.js';
import { createTestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';

describe('limits of imports', () => {
  let files: EvaluationFiles;
  let agentId: string;
  const open: RawConnection[] = [];

  beforeAll(async () => {
    // As many connections as files may be in memory: all imports together must not need them all.
    files = await EvaluationFiles.open({ DATABASE_POOL_SIZE: '4' });
    agentId = await files.createAgent();
  });
  afterEach(() => {
    for (const connection of open.splice(0)) connection.close();
  });
  afterAll(() => files.app.close());

  /** Sends the head of an import; the service asks for the body with "100 Continue". */
  const announce = async (agent = agentId, key = files.key) => {
    const connection = await RawConnection.open(files.app.url);
    open.push(connection);
    const lines = [
      `POST /agents/${agent}/evaluations/import HTTP/1.1`,
      'Host: localhost',
      `Authorization: Bearer ${key}`,
      'Content-Type: application/json',
      'Content-Length: 2',
      'Expect: 100-continue',
    ];
    connection.send(`${lines.join('\r\n')}\r\n\r\n`);
    return connection;
  };
  const statusOfNext = async (connection: RawConnection) => (await connection.nextResponse())?.status;
  const isSilent = (connection: RawConnection) => expect(connection.nextResponse({ timeoutMs: 150 })).rejects.toThrow();

  it('are checked before the body is read: agent and access', async () => {
    expect(await statusOfNext(await announce(randomUUID()))).toBe(404);
    const stranger = await files.app.createWorkspace();
    expect(await statusOfNext(await announce(agentId, stranger.apiKey))).toBe(403);
  });

  it('let four imports of a workspace wait unread and refuse the next one', async () => {
    const first = await announce();
    expect(await statusOfNext(first)).toBe(100);
    const waiting: RawConnection[] = [];
    for (let i = 0; i < 4; i++) {
      const connection = await announce();
      await isSilent(connection);
      waiting.push(connection);
    }
    const refused = await files.send(agentId, []);
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
      429,
      'TOO_MANY_REQUESTS',
      '1',
    ]);
    expect(messages(refused.body)).toEqual(['at most 4 imports of a workspace may wait for another one to end']);

    // Another workspace is not affected.
    const other = await files.app.createWorkspace();
    const client = new HttpClient(files.app.url, other.apiKey);
    const agent = { provider: 'AGENT_PROVIDER_1', assistantId: 'a', apiKey: 'k' };
    const { id } = (await client.post('/agents', agent)).body.data;
    expect((await client.post(`/agents/${id}/evaluations/import`, [])).status).toBe(200);

    // One that gives up leaves its place; the others follow in order.
    waiting.pop()?.close();
    await until('the place is free', async () => {
      const connection = await announce();
      return connection.nextResponse({ timeoutMs: 150 }).then(
        () => false,
        () => waiting.push(connection) > 0,
      );
    });
    for (const connection of [first, ...waiting]) {
      if (connection !== first) expect(await statusOfNext(connection)).toBe(100);
      connection.send('[]');
      expect(await statusOfNext(connection)).toBe(200);
    }
  });

  it('give up their place if the body does not arrive', async () => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    // 30 s become 0.3 s.
    const spy = jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms / 100));
    try {
      const stuck = await announce();
      expect(await statusOfNext(stuck)).toBe(100);
      const waiting = files.send(agentId, []);
      expect((await stuck.nextResponse())?.status).toBe(400);
      expect((await waiting).status).toBe(200);
    } finally {
      spy.mockRestore();
    }
  });

  it('leave most database connections to other requests', async () => {
    const workspaces = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const { apiKey } = await files.app.createWorkspace();
        const client = new HttpClient(files.app.url, apiKey);
        const agent = { provider: 'AGENT_PROVIDER_1', assistantId: 'a', apiKey: 'k' };
        const personality = await client.post('/personalities', { name: 'Caller' });
        return {
          client,
          agentId: (await client.post('/agents', agent)).body.data.id as string,
          personalityId: personality.body.data.id as string,
        };
      }),
    );
    await withClient(files.app.databaseUrl, async (database) => {
      // Imports wait in the middle of their transactions.
      await database.query('BEGIN');
      await database.query('LOCK TABLE evaluations IN SHARE MODE');
      const imports = workspaces.map(({ client, agentId: id, personalityId }) =>
        client.post(`/agents/${id}/evaluations/import`, [files.item('a', { personalityId })]),
      );
      await until('an import waits for the lock', async () => {
        const [row] = await sql(
          files.app.databaseUrl,
          `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
        );
        return row?.['waiting'] > 0;
      });
      for (let i = 0; i < 20; i++) {
        // Without a free connection it would be rejected after five seconds.
        expect((await files.client.post('/personalities', { name: 'Written during the imports' })).status).toBe(201);
      }
      await database.query('COMMIT');
      expect((await Promise.all(imports)).map(({ status }) => status)).toEqual(workspaces.map(() => 200));
    });
  });

  it('refuse YAML over 2 MiB, as sent and as decompressed', async () => {
    const yaml = `# ${'x'.repeat(2 * 1024 * 1024)}`;
    const plain = await files.send(agentId, yaml, MEDIA_TYPES.yaml);
    const packed = await files.client.send('POST', `/agents/${agentId}/evaluations/import`, gzipSync(yaml), {
      'Content-Type': MEDIA_TYPES.yaml,
      'Content-Encoding': 'gzip',
    });
    for (const { status, body } of [plain, packed]) {
      expect([status, messages(body)]).toEqual([413, ['body must be at most 2 MiB']]);
    }
  });
});

describe('a burst of compressed imports', () => {
  it('of 10 kB each leaves the process running within 1 GB', async () => {
    const database = await createTestDatabase();
    const key = 'import-test-key-0123456789';
    const service = await ServiceProcess.start({
      ROLE: 'api',
      DATABASE_URL: database.url,
      BOOTSTRAP_API_KEY: key,
      ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}`,
      DEFAULT_PLAN: 'FREE',
      PLAN_FREE_REQUESTS_PER_MINUTE: '100000',
    });
    try {
      // The key exists when the service says that it listens.
      await service.waitForOutput('Listening on');
      const client = new HttpClient(service.url, key);
      const agent = { provider: 'AGENT_PROVIDER_1', assistantId: 'a', apiKey: 'k' };
      const created = await client.post('/agents', agent);
      expect([created.status, messages(created.body)]).toEqual([201, []]);
      const { id } = created.body.data;
      const bomb = gzipSync(`[${'[],'.repeat(3_490_000)}[]]`);
      const attack = () =>
        client.send('POST', `/agents/${id}/evaluations/import`, bomb, {
          'Content-Type': 'application/json',
          'Content-Encoding': 'gzip',
        });
      const count = shareOf(58);
      // The first one starts a thread.
      expect((await attack()).status).toBe(400);
      const responses = await Promise.all(Array.from({ length: count }, attack));
      expect([...new Set(responses.map(({ status }) => status))].sort()).toEqual([400, 429]);
      expect((await client.get('/agents')).status).toBe(200);
      expect(service.exit).toBeUndefined();
      const peak = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1];
      expect(Number(peak) / 1024).toBeLessThan(1_000);
      process.stdout.write(`${count} compressed imports: peak ${Math.round(Number(peak) / 1024)} MiB\n`);
    } finally {
      await service.dispose();
      await database.drop();
    }
  }, 180_000);
});
