import { randomUUID } from 'node:crypto';
import { Database } from '../../src/platform/database/database.js';
import { agentBody, personalityBody } from '../factories/bodies.js';
import {
  insertAlarm,
  insertEvaluation,
  insertPersonality,
  insertReading,
  insertRun,
  insertSchedule,
} from '../factories/rows.js';
import { expectInvalid } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

interface Fixture {
  readonly client: HttpClient;
  readonly workspaceId: string;
  readonly userId: string;
  readonly agentId: string;
}

interface List {
  readonly name: string;
  readonly table: string;
  readonly message?: string;
  path(fixture: Fixture): string;
  /** Adds one entry. @returns its id */
  add(fixture: Fixture): Promise<string>;
}

let app: TestApp;
const manager = () => app.nest.get(Database).manager;
const post = async ({ client }: Fixture, path: string, body: object) => (await client.post(path, body)).body.data.id;

const LISTS: List[] = [
  { name: 'agents', table: 'agents', path: () => '/agents', add: (fixture) => post(fixture, '/agents', agentBody()) },
  {
    name: 'personalities',
    table: 'personalities',
    message: 'Personalities retrieved successfully',
    path: () => '/personalities',
    add: (fixture) => post(fixture, '/personalities', personalityBody()),
  },
  {
    name: 'evaluations of an agent',
    table: 'evaluations',
    message: 'Evaluations retrieved successfully',
    path: ({ agentId }) => `/agents/${agentId}/evaluations`,
    add: async (fixture) => (await insertEvaluation(manager(), fixture, fixture.agentId)).id,
  },
  {
    name: 'runs of an agent',
    table: 'runs',
    message: 'Runs retrieved successfully',
    path: ({ agentId }) => `/agents/${agentId}/runs`,
    add: async (fixture) => (await insertRun(manager(), fixture, fixture.agentId)).id,
  },
  {
    name: 'alarms of an agent',
    table: 'alarms',
    message: 'Alarms retrieved successfully',
    path: ({ agentId }) => `/agents/${agentId}/alarms`,
    add: async (fixture) => (await insertAlarm(manager(), fixture, fixture.agentId)).id,
  },
  {
    name: 'schedules of an agent',
    table: 'schedules',
    message: 'Schedules retrieved successfully',
    path: ({ agentId }) => `/agents/${agentId}/schedules`,
    add: async (fixture) => (await insertSchedule(manager(), fixture, fixture.agentId)).id,
  },
  {
    name: 'readings of recordings',
    table: 'recording_readings',
    message: 'Readings retrieved successfully',
    path: () => '/workspace/recording-readings',
    add: async (fixture) => (await insertReading(manager(), fixture, fixture.agentId)).id,
  },
];

beforeAll(async () => {
  app = await createTestApp();
});
afterAll(() => app.close());

describe.each(LISTS)('the list of $name', (list) => {
  let fixture: Fixture;
  const get = (query = '') => fixture.client.get(list.path(fixture) + query);
  const ids = async (query = ''): Promise<string[]> =>
    (await get(query)).body.data.map((row: { id: string }) => row.id);
  const add = async (count: number): Promise<string[]> => {
    const added: string[] = [];
    while (added.length < count) added.push(await list.add(fixture));
    return added;
  };
  const setAge = (id: string, createdAt: string) =>
    sql(app.databaseUrl, `UPDATE ${list.table} SET created_at = $1 WHERE id = $2`, [createdAt, id]);

  beforeEach(async () => {
    const { apiKey, ...owner } = await app.createWorkspace();
    const client = new HttpClient(app.url, apiKey);
    // The list of agents must be empty at first; the nested lists need an agent.
    const agentId = list.table === 'agents' ? '' : (await client.post('/agents', agentBody())).body.data.id;
    fixture = { client, agentId, ...owner };
  });

  it('has the shape of the contract, also when empty', async () => {
    const { status, body } = await get();
    expect(status).toBe(200);
    expect(body).toEqual({
      ...(list.message !== undefined && { message: list.message }),
      meta: { total: 0, page: 1, limit: 25, pageCount: 0 },
      data: [],
    });
  });

  it('is sorted newest first', async () => {
    const [old, newest, middle] = await add(3);
    await setAge(old!, '2026-01-01T00:00:00Z');
    await setAge(middle!, '2026-01-01T00:00:00.001Z');
    await setAge(newest!, '2026-01-01T00:00:00.002Z');
    expect(await ids()).toEqual([newest, middle, old]);
  });

  it('sorts rows with equal timestamps by descending id, without skips or repeats', async () => {
    const added = await add(7);
    for (const id of added) await setAge(id, '2026-01-01T00:00:00Z');
    const paged: string[] = [];
    for (const page of [1, 2, 3, 4]) paged.push(...(await ids(`?limit=2&page=${page}`)));
    expect(paged).toEqual([...added].sort().reverse());
  });

  it('returns the correct total, page, limit and pageCount', async () => {
    await add(5);
    const meta = async (query: string) => (await get(query)).body.meta;
    expect(await meta('')).toEqual({ total: 5, page: 1, limit: 25, pageCount: 1 });
    expect(await meta('?limit=1')).toEqual({ total: 5, page: 1, limit: 1, pageCount: 5 });
    expect(await meta('?limit=2&page=3')).toEqual({ total: 5, page: 3, limit: 2, pageCount: 3 });
    expect(await meta('?limit=5')).toEqual({ total: 5, page: 1, limit: 5, pageCount: 1 });
    expect(await meta('?limit=100')).toEqual({ total: 5, page: 1, limit: 100, pageCount: 1 });
    expect(await ids('?limit=2&page=3')).toHaveLength(1);
  });

  it('returns empty data and the correct meta for a page past the last one', async () => {
    await add(2);
    for (const page of [3, 1000, Number.MAX_SAFE_INTEGER]) {
      const { status, body } = await get(`?limit=1&page=${page}`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ meta: { total: 2, page, limit: 1, pageCount: 2 }, data: [] });
    }
  });

  it.each(['0', '-1', '1.5', '1e2', 'abc', '', '+1', '0x1', '%201', 'NaN', 'null', '９', '9007199254740992'])(
    'rejects page and limit of "%s"',
    async (value) => {
      expectInvalid(await get(`?page=${value}`), 'page');
      expectInvalid(await get(`?limit=${value}`), 'limit');
      expectInvalid(await get(`?limit=${value}&page=${value}`), 'page', 'limit');
    },
  );

  it('rejects repeated parameters, a limit over 100 and a page beyond the safe integer range', async () => {
    expectInvalid(await get('?page=1&page=1'), 'page');
    expectInvalid(await get('?limit=5&limit=6'), 'limit');
    expectInvalid(await get('?limit=101'), 'limit');
    expectInvalid(await get('?page=9007199254740991&limit=2'), 'page');
    expectInvalid(await get('?page=99999999999999999999'), 'page');
  });

  it('names each unknown parameter', async () => {
    expectInvalid(await get('?size=5&Page=1&limit[]=5'), 'size', 'Page', 'limit[]');
  });

  it('contains nothing of other workspaces or agents', async () => {
    const mine = await add(1);
    const { apiKey, ...owner } = await app.createWorkspace();
    const other = new HttpClient(app.url, apiKey);
    const agentId = (await other.post('/agents', agentBody())).body.data.id;
    await list.add({ client: other, agentId, ...owner });
    if (list.table === 'evaluations' || list.table === 'runs') {
      const sibling = await post(fixture, '/agents', agentBody());
      await list.add({ ...fixture, agentId: sibling });
    }
    expect(await ids()).toEqual(mine);
  });
});

describe('filters of the list of agents', () => {
  let client: HttpClient;
  beforeEach(async () => {
    client = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
  });

  const add = async (values: object) => client.post('/agents', agentBody(values));
  const names = async (query: string): Promise<string[]> => {
    const { status, body } = await client.get(`/agents?${query}`);
    expect(status).toBe(200);
    expect(body.meta.total).toBe(body.data.length);
    return body.data.map((agent: { name: string }) => agent.name).sort();
  };
  const search = (text: string) => names(`search=${encodeURIComponent(text)}`);

  it('filters by provider', async () => {
    await add({ name: 'one' });
    await add({ name: 'two', provider: 'AGENT_PROVIDER_2' });
    expect(await names('provider=AGENT_PROVIDER_2')).toEqual(['two']);
    expect(await names('provider=AGENT_PROVIDER_4')).toEqual([]);
  });

  it.each(['', 'AGENT_PROVIDER_9', 'agent_provider_1', 'AGENT_PROVIDER_1&provider=AGENT_PROVIDER_2'])(
    'rejects the provider "%s"',
    async (value) => expectInvalid(await client.get(`/agents?provider=${value}`), 'provider'),
  );

  it('searches name, assistantId and phoneNumber only', async () => {
    await add({ name: 'Needle in a name' });
    await add({ name: 'b', assistantId: 'id-needle' });
    await add({ name: 'c', phoneNumber: 'tel:needle' });
    await add({ name: 'd', prompt: 'needle', language: 'needle', phoneNumberId: 'needle', apiKey: 'needle' });
    await add({ name: null });
    expect(await search('needle')).toEqual(['Needle in a name', 'b', 'c']);
  });

  it('ignores letter case in any alphabet', async () => {
    await add({ name: 'CAFÉ Ñandú Ωmega Привет' });
    for (const text of ['café', 'ÑANDÚ', 'ωMEGA', 'пРИВЕТ']) expect(await search(text)).toHaveLength(1);
    expect(await search('cafe')).toEqual([]);
  });

  it.each([
    ['%', '100% sure', '100 sure'],
    ['_', 'snake_case', 'snakeXcase'],
    ['\\', 'back\\slash', 'backslash'],
    ['\\%', 'a\\%b', 'a%b'],
    ["'", "O'Hara", 'OHara'],
    ['$1', 'costs $1', 'costs 1'],
    ['🍝', 'pasta 🍝', 'pasta'],
    [' ', 'two words', 'word'],
  ])('matches %s literally', async (text, hit, miss) => {
    await add({ name: hit });
    await add({ name: miss });
    expect(await search(text)).toEqual([hit]);
  });

  it('combines both filters with pages', async () => {
    for (const provider of ['AGENT_PROVIDER_1', 'AGENT_PROVIDER_2', 'AGENT_PROVIDER_2', 'AGENT_PROVIDER_2']) {
      await add({ name: 'match', provider });
    }
    await add({ name: 'other', provider: 'AGENT_PROVIDER_2' });
    const { body } = await client.get('/agents?provider=AGENT_PROVIDER_2&search=match&limit=2&page=2');
    expect(body.meta).toEqual({ total: 3, page: 2, limit: 2, pageCount: 2 });
    expect(body.data).toHaveLength(1);
  });

  it('rejects an empty, repeated or too long search', async () => {
    expectInvalid(await client.get('/agents?search='), 'search');
    expectInvalid(await client.get('/agents?search=a&search=b'), 'search');
    expectInvalid(await client.get(`/agents?search=${'x'.repeat(256)}`), 'search');
    expectInvalid(await client.get('/agents?search=%00'), 'search');
    expect(await search(randomUUID())).toEqual([]);
  });

  it('are rejected by all other lists', async () => {
    await insertPersonality(manager(), await app.createWorkspace());
    expectInvalid(await client.get('/personalities?search=a&provider=PERSONALITY_PROVIDER_1'), 'search', 'provider');
  });
});
