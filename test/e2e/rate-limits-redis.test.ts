import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { RLWrapperTimeouts } from 'rate-limiter-flexible';
import { sample } from '../../libs/statistics/testing/sample.js';
import { LIMITER_OPTIONS } from '../../src/platform/throttling/window-counter.js';
import { type ApiResponse, HttpClient } from '../support/http.js';
import { programArguments } from '../support/program.js';
import { describeWithRedis, freePort, startRedis, type TestRedis } from '../support/redis.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase } from '../support/test-database.js';

const LIMIT = 60;
const KEY_PREFIX = `${LIMITER_OPTIONS.keyPrefix}:`;

const number = (name: string) => (response: ApiResponse<unknown>) => Number(response.headers.get(name) ?? NaN);
const remainingOf = number('x-ratelimit-remaining');
const resetOf = number('x-ratelimit-reset');
/** The end of the window is computed from the time left, so it may differ by a second. */
const expectOneWindow = (responses: ApiResponse<unknown>[]) => {
  const resets = responses.map(resetOf);
  expect(Math.max(...resets) - Math.min(...resets)).toBeLessThanOrEqual(1);
};
const allowed = (responses: ApiResponse<unknown>[]) => responses.filter(({ status }) => status === 200);
const times = (count: number, send: (index: number) => Promise<ApiResponse>) =>
  Promise.all(Array.from({ length: count }, (_, index) => send(index)));

/** Sends requests sequentially, which takes long if each of them waits for an unavailable Redis. */
async function inTurn(count: number, send: () => Promise<ApiResponse>): Promise<ApiResponse[]> {
  const responses: ApiResponse[] = [];
  while (responses.length < count) responses.push(await send());
  return responses;
}

/** Records log messages about rate limits with their level. */
function recordLog() {
  const lines: string[] = [];
  const isOurs = (rest: unknown[]) => rest.at(-1) === 'RateLimits';
  const record =
    (level: string) =>
    (message: unknown, ...rest: unknown[]) => {
      if (isOurs(rest)) lines.push(`${level} ${String(message)}`);
    };
  Logger.overrideLogger({ log: record('info'), warn: record('warn'), error: record('error') });
  return {
    lines,
    count: (part: string) => lines.filter((line) => line.includes(part)).length,
  };
}

async function until(what: string, isTrue: () => boolean): Promise<void> {
  for (let left = 1000; left > 0; left -= 1) {
    if (isTrue()) return;
    await sleep(20);
  }
  throw new Error(`Timed out waiting until ${what}`);
}

describeWithRedis('rate limits shared through Redis', () => {
  let redis: TestRedis;
  let databaseUrl: string;
  let dropDatabase: () => Promise<void>;
  let apps: TestApp[];
  let log: ReturnType<typeof recordLog>;

  beforeEach(async () => {
    redis = await startRedis();
    ({ url: databaseUrl, drop: dropDatabase } = await createTestDatabase());
    apps = [];
  });
  afterEach(async () => {
    for (const app of apps) await app.close();
    await redis.kill();
    await dropDatabase();
  });

  /** Starts a service with the database and, by default, the Redis of this test. */
  const start = async (redisUrl = redis.url) => {
    const app = await createTestApp({ databaseUrl, env: { REDIS_URL: redisUrl } });
    apps.push(app);
    // After the start, because it replaces Nest's logger.
    log = recordLog();
    return app;
  };
  const clientsOf = async (limit = LIMIT) => {
    const key = (await apps[0]?.createWorkspace({ requestsPerMinute: limit }))?.apiKey;
    return apps.map((app) => new HttpClient(app.url, key));
  };
  const pair = async () => {
    await start();
    await start();
    const [a, b] = await clientsOf();
    if (!a || !b) throw new Error('two services were started');
    return { a, b };
  };
  const list = (client: HttpClient) => client.get('/agents');

  it('allows two services exactly one limit together, in one window', async () => {
    const { a, b } = await pair();

    const responses = await times(200, (index) => list(index % 2 === 0 ? a : b));

    const numbers = allowed(responses).map(remainingOf);
    expect(numbers.sort((x, y) => y - x)).toEqual(Array.from({ length: LIMIT }, (_, index) => LIMIT - 1 - index));
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(200 - LIMIT);
    expectOneWindow(responses);
    for (const client of [a, b]) expect(remainingOf(await client.get('/healthz'))).toBe(0);
    expect(log.lines).toEqual([]);
  });

  it('stores only keys with its own prefix in Redis, and each of them expires', async () => {
    const { a, b } = await pair();
    await list(a);
    await list(b.as(undefined));
    await a.as('unknown-key').get('/healthz');

    const keys = redis
      .cli('keys', '*')
      .split('\n')
      .filter((key) => !key.endsWith('probe'));
    expect(keys).toHaveLength(2);
    for (const key of keys) {
      expect(key.startsWith(KEY_PREFIX)).toBe(true);
      expect(Number(redis.cli('pttl', key))).toBeGreaterThan(0);
      expect(Number(redis.cli('pttl', key))).toBeLessThanOrEqual(60_000);
    }
  });

  it('opens one connection per service, and closes it with the service', async () => {
    const connections = () => redis.cli('client', 'list').split('\n').length - 1;
    await start();
    await start();
    expect(connections()).toBe(2);
    for (const app of apps.splice(0)) await app.close();
    expect(connections()).toBe(0);
  });

  it('continues with its own count while Redis hangs, and shares counts again afterwards', async () => {
    const { a, b } = await pair();
    expect(allowed(await times(20, () => list(a)))).toHaveLength(20);

    redis.pause();
    const consume = jest.spyOn(RLWrapperTimeouts.prototype, 'consume');
    const responses = await inTurn(50, () => list(a));
    const waited = consume.mock.calls.filter(([key]) => key !== 'probe');
    consume.mockRestore();

    expect(allowed(responses)).toHaveLength(LIMIT - 20);
    expect(new Set(responses.map(resetOf)).size).toBe(1);
    // Only the first one waited for the timeout.
    expect(waited).toHaveLength(1);
    expect(log.count('is unavailable')).toBe(1);
    expect((await a.get('/readyz')).status).toBe(200);

    redis.resume();
    await until('Redis is back', () => log.count('shared again') === 1);
    const remaining = remainingOf(await list(a));
    expect(remaining).toBeLessThan(LIMIT - 20);
    expect(remainingOf(await list(b))).toBe(remaining - 1);
    // The other service sent nothing during the outage.
    expect([log.count('is unavailable'), log.count('shared again')]).toEqual([1, 1]);
  });

  it('counts in each service while Redis is down, and together again once it is back', async () => {
    const { a, b } = await pair();
    await times(20, () => list(a));
    await times(10, () => list(b));

    await redis.kill();
    await until('both have noticed', () => log.count('is unavailable') === 2);
    expect(remainingOf(await list(a))).toBe(LIMIT - 21);
    expect(remainingOf(await list(b))).toBe(LIMIT - 11);
    await redis.start();
    await until('both are back', () => log.count('shared again') === 2);

    const responses = await times(100, (index) => list(index % 2 === 0 ? a : b));
    expect(allowed(responses)).toHaveLength(LIMIT);
    expectOneWindow(responses);
    expect([log.count('is unavailable'), log.count('shared again')]).toEqual([2, 2]);
  });

  it('allows no more than the limit in a burst during which Redis dies', async () => {
    await start();
    const [a] = await clientsOf();
    if (!a) throw new Error('a service was started');
    const burst = times(300, () => list(a));
    await sleep(5);
    await redis.kill();

    expect(allowed(await burst).length).toBeLessThanOrEqual(LIMIT);
    expect(allowed(await inTurn(LIMIT, () => list(a))).length).toBeLessThanOrEqual(LIMIT);
  });

  const harms: [string, string[], string[]][] = [
    ['is a replica', ['replicaof', '127.0.0.1', '1'], ['replicaof', 'no', 'one']],
    ['has no memory left', ['config', 'set', 'maxmemory', '1'], ['config', 'set', 'maxmemory', '0']],
    [
      'requires another password',
      ['config', 'set', 'requirepass', 'other'],
      ['-a', 'other', 'config', 'set', 'requirepass', ''],
    ],
    ['does not allow the commands', ['acl', 'setuser', 'default', '-incrby'], ['acl', 'setuser', 'default', '+@all']],
  ];
  it.each(sample(harms))(
    'counts by itself while Redis %s, and shares counts again afterwards',
    async (_, harm, heal) => {
      await start();
      const [a] = await clientsOf();
      if (!a) throw new Error('a service was started');
      await times(10, () => list(a));

      redis.cli(...harm);
      // An open connection would stay authenticated.
      redis.cli(...(harm.includes('requirepass') ? ['-a', 'other'] : []), 'client', 'kill', 'type', 'normal');
      const responses = await inTurn(60, () => list(a));
      expect(allowed(responses)).toHaveLength(LIMIT - 10);
      await until('it is noticed', () => log.count('is unavailable') === 1);

      redis.cli(...heal);
      await until('it is back', () => log.count('shared again') === 1);
      expect(remainingOf(await list(a))).toBe(LIMIT - 11);
      expect(log.lines.join('\n')).not.toContain('other');
    },
  );

  it('counts by itself for a workspace whose key in Redis holds another type of value', async () => {
    await start();
    const [a] = await clientsOf();
    const [first] = [await a?.get('/agents')];
    expect(first?.status).toBe(200);
    for (const key of redis.cli('keys', `${KEY_PREFIX}workspace:*`).split('\n')) redis.cli('set', key, 'spoilt');

    expect(a && allowed(await inTurn(LIMIT, () => list(a)))).toHaveLength(LIMIT - 1);
  });
});

describe('rate limits with an unavailable Redis', () => {
  const away: { socket: string; listen: () => Promise<{ url: string; end: () => void }> }[] = [
    { socket: 'refuses', listen: async () => ({ url: `redis://127.0.0.1:${await freePort()}`, end: () => undefined }) },
    { socket: 'accepts connections and never responds', listen: () => listenWith(() => undefined) },
    { socket: 'resets every connection', listen: () => listenWith((socket) => socket.resetAndDestroy()) },
    {
      socket: 'does not speak the Redis protocol',
      listen: () => listenWith((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    },
    { socket: 'rejects the password', listen: () => listenWith((socket) => socket.write('-WRONGPASS no\r\n')) },
  ];

  async function listenWith(response: (socket: Socket) => void) {
    const sockets = new Set<Socket>();
    const server: Server = createServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      socket.once('data', () => response(socket));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const end = () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    };
    return { url: `redis://user:hidden@127.0.0.1:${typeof address === 'object' ? address?.port : ''}`, end };
  }

  it.each(sample(away))('starts and counts by itself if the server $socket', async ({ listen }) => {
    const { url, end } = await listen();
    const lines: string[] = [];
    const app = await createTestApp({ env: { REDIS_URL: url }, log: { write: (line) => void lines.push(line) } });
    try {
      const { apiKey } = await app.createWorkspace({ requestsPerMinute: 20 });
      const client = new HttpClient(app.url, apiKey);

      expect(allowed(await times(50, () => client.get('/agents')))).toHaveLength(20);
      expect((await client.get('/readyz')).status).toBe(200);
      await until('it is logged', () => lines.some((line) => line.includes('is unavailable')));
      // Several more attempts are made in this time, without logging.
      await sleep(2_500);
      expect(lines.filter((line) => line.includes('Redis'))).toHaveLength(1);
      expect(lines.join()).not.toContain('hidden');
    } finally {
      await app.close();
      end();
    }
  });
});

describeWithRedis('two processes of the service with one Redis', () => {
  const KEY = `a-key-for-two-processes-${process.pid}`;
  const running: ChildProcess[] = [];

  async function startProcess(env: NodeJS.ProcessEnv): Promise<string> {
    const service = spawn(process.execPath, programArguments('src/main.ts'), {
      env: {
        PATH: process.env['PATH'],
        HOME: process.env['HOME'],
        PORT: '0',
        HOST: '127.0.0.1',
        LOG_FORMAT: 'json',
        BOOTSTRAP_API_KEY: KEY,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    running.push(service);
    let output = '';
    service.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await until(
      `the service listens: ${output}`,
      () => /Listening on (http:\S+),/.test(output) || service.exitCode !== null,
    );
    const [, url] = /Listening on (http:\S+),/.exec(output) ?? [];
    if (url === undefined) throw new Error(`The service ended: ${output}`);
    return url;
  }

  it('share the free limit exactly, and exit while connected to Redis', async () => {
    const redis = await startRedis();
    const database = await createTestDatabase();
    const dataDir = await mkdtemp(path.join(tmpdir(), 'voice-agent-testing-'));
    try {
      const env = {
        ...{ ROLE: 'api', DEFAULT_PLAN: 'FREE' },
        ...{ DATABASE_URL: database.url, REDIS_URL: redis.url, DATA_DIR: dataDir },
      };
      const a = new HttpClient(await startProcess(env), KEY);
      const b = new HttpClient(await startProcess(env), KEY);

      const responses = await times(200, (index) => (index % 2 === 0 ? a : b).get('/agents'));

      expect(allowed(responses)).toHaveLength(60);
      expect(responses.filter(({ status }) => status === 429)).toHaveLength(140);
      expectOneWindow(responses);
      for (const service of running) {
        const ended = once(service, 'exit');
        service.kill('SIGTERM');
        expect((await ended)[0]).toBe(0);
      }
    } finally {
      for (const service of running) service.kill('SIGKILL');
      await redis.kill();
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
    }
  });
});
