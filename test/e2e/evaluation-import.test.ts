import { shareOf } from '../../libs/statistics/testing/sample.js';
import { insertEvaluation, insertPersonality } from '../factories/rows.js';
import { EvaluationFiles, type Format, FORMATS, MEDIA_TYPES, messages } from '../support/evaluation-files.js';

describe('import of evaluations', () => {
  let files: EvaluationFiles;
  let agentId: string;
  const item = (key: string, fields?: object) => files.item(key, fields);
  const send = (body: unknown, type?: string, query?: string, id = agentId) => files.send(id, body, type, query);
  const stored = (id = agentId) => files.stored(id);
  const exported = (format: Format, id = agentId) => files.exported(id, format);

  beforeAll(async () => {
    files = await EvaluationFiles.open();
  });
  beforeEach(async () => {
    agentId = await files.createAgent();
  });
  afterAll(() => files.app.close());

  it('creates, updates and keeps evaluations, matched by key', async () => {
    await insertEvaluation(files.manager, files.owner, agentId, { key: 'elsewhere' });
    const first = await send([item('a', { tags: ['x'], maxTurns: 10 }), item('b')]);
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      message: 'Evaluations imported successfully',
      data: {
        dryRun: false,
        created: 2,
        updated: 0,
        unchanged: 0,
        items: [
          { key: 'a', id: expect.any(String), action: 'created' },
          { key: 'b', id: expect.any(String), action: 'created' },
        ],
        personalities: { created: 0, updated: 0, unchanged: 0, items: [] },
      },
    });
    const [a, b] = first.body.data.items;
    const second = await send([item('b'), item('c'), item('a')]);
    expect(second.body.data).toEqual({
      dryRun: false,
      created: 1,
      updated: 1,
      unchanged: 1,
      items: [
        { key: 'b', id: b.id, action: 'unchanged' },
        { key: 'c', id: expect.any(String), action: 'created' },
        { key: 'a', id: a.id, action: 'updated' },
      ],
      personalities: { created: 0, updated: 0, unchanged: 0, items: [] },
    });
    // An item is the complete evaluation: missing fields are reset to their defaults.
    expect((await files.client.get(`/evaluations/${a.id}`)).body.data).toMatchObject({ tags: [], maxTurns: 40 });
    expect((await stored()).map(({ key }) => key).sort()).toEqual(['a', 'b', 'c', 'elsewhere']);
  });

  it('records the caller as creator and uses the phone number of the agent', async () => {
    const { body } = await send([item('a')]);
    expect((await files.client.get(`/evaluations/${body.data.items[0].id}`)).body.data).toMatchObject({
      agentId,
      workspaceId: files.owner.workspaceId,
      createdByUserId: files.owner.userId,
      vendorCallPhoneNumber: '+15550100',
      key: 'a',
    });
  });

  it('does not write unchanged evaluations', async () => {
    await send([item('a', { checks: [{ type: 'says', text: 'x' }] })]);
    const before = await stored();
    const { body } = await send([item('a', { checks: [{ weight: 1, required: true, text: 'x', type: 'says' }] })]);
    expect(body.data.unchanged).toBe(1);
    expect(await stored()).toEqual(before);
  });

  it('reports with dryRun what it would do and writes nothing', async () => {
    await send([item('a')]);
    const before = await stored();
    const { status, body } = await send([item('a', { name: 'Other' }), item('b')], MEDIA_TYPES.json, '?dryRun=true');
    expect([status, body.data]).toEqual([
      200,
      {
        dryRun: true,
        created: 1,
        updated: 1,
        unchanged: 0,
        items: [
          { key: 'a', id: before[0]?.['id'], action: 'updated' },
          { key: 'b', id: null, action: 'created' },
        ],
        personalities: { created: 0, updated: 0, unchanged: 0, items: [] },
        plan: expect.objectContaining({ evaluations: [expect.anything(), expect.anything()] }),
      },
    ]);
    expect(await stored()).toEqual(before);
  });

  it.each(['', 'yes', '1', 'TRUE'])('rejects dryRun=%s', async (value) => {
    const { status, body } = await send([], MEDIA_TYPES.json, `?dryRun=${value}`);
    expect([status, messages(body)]).toEqual([400, ['dryRun must be one of true, false']]);
  });

  it('reports a personality of another workspace like an unknown one', async () => {
    const other = await files.app.createWorkspace();
    const foreign = await insertPersonality(files.manager, other);
    const { status, body } = await send([item('a', { personalityId: foreign.id })]);
    expect([status, messages(body)]).toEqual([400, ['[0].personalityId is not the id of a personality (key "a")']]);
    expect(await stored()).toEqual([]);
  });

  it('keeps a deleted personality of an existing evaluation', async () => {
    const personality = await insertPersonality(files.manager, files.owner);
    await send([item('a', { personalityId: personality.id })]);
    await files.client.delete(`/personalities/${personality.id}`);
    expect((await send(await exported('json'))).body.data).toMatchObject({ unchanged: 1 });
    const { status, body } = await send([
      item('a', { personalityId: personality.id }),
      item('b', { personalityId: personality.id }),
    ]);
    expect([status, messages(body)]).toEqual([400, ['[1].personalityId is not the id of a personality (key "b")']]);
  });

  it('serialises imports of one agent', async () => {
    const files = Array.from({ length: 5 }, (_, n) =>
      Array.from({ length: 50 }, (_, i) => item(`k${i}`, { name: `From ${n}` })),
    );
    const responses = await Promise.all(files.map((file) => send(file)));
    expect(responses.map(({ status }) => status)).toEqual(files.map(() => 200));
    expect(responses.reduce((sum, { body }) => sum + body.data.created, 0)).toBe(50);
    const rows = await stored();
    expect(rows).toHaveLength(50);
    expect(new Set(rows.map(({ name }) => name)).size).toBe(1);
  });

  it('keeps the list total exact during concurrent writes', async () => {
    const statuses: number[] = [];
    const keep = (response: { status: number }) => void statuses.push(response.status);
    for (let round = 0; round < 4; round++) {
      const ids = (await stored()).map(({ id }) => id as string);
      await Promise.all([
        ...Array.from({ length: 4 }, async (_, n) =>
          keep(await send(Array.from({ length: 15 }, (__, i) => item(`k${i + n}`, { name: `${round}-${n}` })))),
        ),
        ...Array.from({ length: 4 }, async (_, i) =>
          keep(await files.client.post(`/agents/${agentId}/evaluations`, { ...item(''), key: `r${round}-${i}` })),
        ),
        ...ids.slice(0, 12).map(async (id) => keep(await files.client.delete(`/evaluations/${id}`))),
        ...ids.slice(12, 16).map(async (id) => keep(await files.client.patch(`/evaluations/${id}`, { name: 'x' }))),
      ]);
      const { body } = await files.client.get(`/agents/${agentId}/evaluations?limit=100`);
      expect(body.meta.total).toBe(body.data.length);
      expect(body.meta.total).toBeGreaterThan(0);
    }
    // A deadlock would show as 503.
    expect([...new Set(statuses)].sort()).toEqual([200, 201]);
  });

  it('imports a file once for the same Idempotency-Key and replays the response', async () => {
    const headers = { 'Content-Type': MEDIA_TYPES.json, 'Idempotency-Key': 'import-1' };
    const path = `/agents/${agentId}/evaluations/import`;
    const first = await files.client.post(path, [item('a')], headers);
    const again = await files.client.post(path, [item('a')], headers);
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await files.client.post(path, [item('b')], headers)).status).toBe(422);
  });

  const count = shareOf(5_000);
  it(`accepts ${count} items in every format`, async () => {
    const file = Array.from({ length: count }, (_, i) =>
      item(`k${String(i).padStart(4, '0')}`, {
        scenarioText: 'You want a table for four on Friday at 19:30 under the name Rossi. '.repeat(3),
        script: [
          { say: 'Hello' },
          { answers: [{ when: { says: { pattern: '(?i)name|who' } }, say: `Rossi ${i}` }] },
          { end: 'Done' },
        ],
        checks: [
          { type: 'says', pattern: `(?i)booked.*${i}` },
          { type: 'calls_tool', tool: 'book', arguments: { people: i } },
        ],
        criteria: [{ text: 'The agent is polite.' }],
      }),
    );
    const times: Record<string, number> = {};
    const measure = async (name: string, body: unknown, type: string) => {
      const start = performance.now();
      const response = await send(body, type);
      times[name] = Math.round(performance.now() - start);
      return response;
    };
    expect((await measure('json, all created', file, MEDIA_TYPES.json)).body.data).toMatchObject({ created: count });
    for (const format of FORMATS) {
      const text = await exported(format);
      // As YAML it is larger than one file may be.
      const [head = '', ...items] = text.split(/^(?= {2}- key:)/m);
      const starts = Array.from({ length: Math.ceil(count / 1_700) }, (_, n) => n * 1_700);
      const parts =
        format === 'yaml' ? starts.map((start) => head + items.slice(start, start + 1_700).join('')) : [text];
      const keys: string[] = [];
      let updated = 0;
      for (const part of parts) {
        const same = await measure(`${format}, unchanged`, part, MEDIA_TYPES[format]);
        expect(same.body.data).toMatchObject({ created: 0, updated: 0 });
        keys.push(...same.body.data.items.map(({ key }: { key: string }) => key));
        const changed = part.replace(/(Name of|By \w+) k/g, `By ${format} k`);
        updated += (await measure(`${format}, all updated`, changed, MEDIA_TYPES[format])).body.data.updated;
      }
      // The order of the file is kept.
      expect(keys).toEqual(file.map(({ key }) => key));
      expect(updated).toBe(count);
    }
    process.stdout.write(`${count} items, milliseconds: ${JSON.stringify(times)}\n`);
  }, 180_000);

  it('accepts spreadsheet CSV: any column order, a byte order mark, empty cells for defaults', async () => {
    const csv = `\uFEFFtags,personalityId,name,key,scenarioText,critical,maxTurns,vendorCallPhoneNumber,script\r\nx;y,${files.personalityId},'=1+1,'-k,"a, ""b""",TRUE,,,"[{""say"": ""Hi""}]"\r\n`;
    expect((await send(csv, 'text/csv; charset=utf-8')).body.data.created).toBe(1);
    expect(await stored()).toMatchObject([
      {
        key: '-k',
        name: '=1+1',
        scenarioText: 'a, "b"',
        critical: true,
        tags: ['x', 'y'],
        maxTurns: 40,
        script: [{ say: 'Hi' }],
        vendorCallPhoneNumber: '',
      },
    ]);
  });

  it('accepts YAML with comments and anchors', async () => {
    const yaml = `
# yaml-language-server: $schema=http://localhost:3000/docs/evaluations.schema.json
- &base
  key: a
  name: no
  scenarioText: |
    You want a table.
    Today.
  personalityId: ${files.personalityId}
  checks: &checks
    - {type: says, text: 'yes'}
- key: b
  name: 2026-01-01
  scenarioText: ~x
  personalityId: ${files.personalityId}
  checks: *checks
`;
    for (const type of ['application/yaml', 'application/x-yaml', 'text/yaml']) {
      expect((await send(yaml, type)).status).toBe(200);
    }
    expect(await stored()).toMatchObject([
      { key: 'b', name: '2026-01-01', scenarioText: '~x', checks: [{ text: 'yes' }] },
      { key: 'a', name: 'no', scenarioText: 'You want a table.\nToday.\n' },
    ]);
  });
});
