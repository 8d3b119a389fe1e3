import { DataSource } from 'typeorm';
import { insertPersonality, type Owner } from '../factories/rows.js';
import { HttpClient } from '../support/http.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const NOWHERE = '00000000-0000-4000-8000-000000000000';
const messages = (body: { issues?: { message: string }[] }): string[] => (body.issues ?? []).map((i) => i.message);

describe('evaluation authoring', () => {
  let app: TestApp;
  let owner: Owner;
  let client: HttpClient;
  let foreign: { owner: Owner; client: HttpClient };
  let agentId: string;
  let personalityId: string;
  let foreignPersonalityId: string;

  const manager = () => app.nest.get(DataSource).manager;
  const createAgent = async (as: HttpClient, fields: object = {}): Promise<string> => {
    const agent = { provider: 'AGENT_PROVIDER_1', assistantId: 'assistant-1', apiKey: 'provider-key-1', ...fields };
    return (await as.post('/agents', agent)).body.data.id as string;
  };
  const evaluation = (fields: object = {}) => ({
    name: 'Books a table for four',
    scenarioText: 'You want a table for four.',
    personalityId,
    ...fields,
  });
  const create = (fields: object = {}, as = client) => as.post(`/agents/${agentId}/evaluations`, evaluation(fields));

  beforeAll(async () => {
    app = await createTestApp();
    const first = await app.createWorkspace();
    const second = await app.createWorkspace();
    owner = first;
    client = new HttpClient(app.url, first.apiKey);
    foreign = { owner: second, client: client.as(second.apiKey) };
    personalityId = (await insertPersonality(manager(), owner)).id;
    foreignPersonalityId = (await insertPersonality(manager(), second)).id;
  });
  beforeEach(async () => {
    agentId = await createAgent(client, { phoneNumber: '+15550100' });
  });
  afterAll(() => app.close());

  describe('POST /agents/{agentId}/evaluations', () => {
    it('fills in every default and returns the same as reading and listing', async () => {
      const { status, body } = await create();
      expect({ status, message: body.message }).toEqual({ status: 201, message: 'Evaluation created successfully' });
      expect(body.data).toEqual({
        ...evaluation(),
        id: expect.any(String),
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
        generalInstructions: '',
        agentId,
        createdByUserId: owner.userId,
        workspaceId: owner.workspaceId,
        vendorCallPhoneNumber: '+15550100',
        key: null,
        critical: false,
        tags: [],
        script: [],
        checks: [],
        criteria: [],
        maxTurns: 40,
        maxDurationSeconds: 600,
        language: null,
        timezone: null,
        variables: [],
        history: [],
        toolResults: [],
        conditions: {},
        turnEndMs: 700,
        fillers: false,
        agentVariables: {},
        scope: 'tests',
        appliesTo: null,
        origin: null,
        provisional: false,
        provenAt: null,
      });
      expect((await client.get(`/evaluations/${body.data.id}`)).body.data).toEqual(body.data);
      expect((await client.get(`/agents/${agentId}/evaluations`)).body.data).toEqual([body.data]);
    });

    it('has an empty phone number if the agent has none', async () => {
      agentId = await createAgent(client);
      expect((await create()).body.data.vendorCallPhoneNumber).toBe('');
    });

    it('stores everything as written, with defaults filled in and fields in schema order', async () => {
      const written = {
        key: 'table-for-four',
        critical: true,
        tags: ['smoke', 'täglich'],
        generalInstructions: 'Be polite.\n',
        vendorCallPhoneNumber: '',
        maxTurns: 20,
        maxDurationSeconds: 120,
        script: [
          { say: 'Hello' },
          {
            when: { notSays: { text: 'closed' } },
            answers: [{ when: { says: { pattern: '(?i)name' } }, say: 'Rossi' }],
          },
          { waitSeconds: 1.5 },
          { end: 'Done' },
        ],
        criteria: [{ text: 'The agent is polite.', weight: 2, required: false }],
      };
      const checks = [
        { type: 'says', text: 'booked' },
        { weight: 3, arguments: { people: 4, at: { day: 'Fri' } }, tool: 'book', type: 'calls_tool' },
        { type: 'says_before', first: { text: 'name' }, then: { text: 'booked' } },
      ];
      const { status, body } = await create({ ...written, checks });
      expect(status).toBe(201);
      expect(body.data).toMatchObject(written);
      const { body: read } = await client.get(`/evaluations/${body.data.id}`);
      expect(JSON.stringify(read.data.checks)).toBe(
        JSON.stringify([
          { type: 'says', text: 'booked', speaker: 'agent', weight: 1, required: true },
          {
            type: 'calls_tool',
            tool: 'book',
            // The database determines the order of member names that are defined by the user.
            arguments: { at: { day: 'Fri' }, people: 4 },
            weight: 3,
            required: true,
          },
          {
            type: 'says_before',
            first: { text: 'name', speaker: 'agent' },
            then: { text: 'booked', speaker: 'agent' },
            weight: 1,
            required: true,
          },
        ]),
      );
      expect(read.data).toEqual(body.data);
    });

    it('reports all violations of an evaluation at once', async () => {
      const { status, body } = await create({
        name: '',
        colour: 'red',
        checks: [
          { type: 'says', pattern: '(' },
          { type: 'max_turns', turns: 90 },
        ],
        criteria: [{}],
      });
      expect(status).toBe(400);
      expect(body.message).toBe('Invalid input data');
      expect(messages(body).sort()).toEqual([
        'checks[0].pattern must be an RE2 regular expression: missing closing ): "("',
        'checks[1].turns must be less than maxTurns (40), or the check could never fail',
        'colour is not a known field',
        'criteria[0].text is required',
        'name must not be empty',
      ]);
    });

    it.each(['name', 'scenarioText', 'personalityId'])('requires %s', async (field) => {
      const { status, body } = await create({ [field]: undefined });
      expect([status, messages(body)]).toEqual([400, [`${field} is required`]]);
    });

    it.each([
      ['key', 'a,b'],
      ['key', 'a;b'],
      ['key', 'a\nb'],
      ['key', ' a'],
      ['key', 'a '],
      ['key', ''],
      ['key', 'x'.repeat(256)],
      ['name', 'x'.repeat(256)],
      ['tags', ['a', 'a']],
      ['tags', ['x'.repeat(65)]],
      ['tags', Array.from({ length: 21 }, (_, i) => `t${i}`)],
      ['tags', [',']],
      ['tags', 'a'],
      ['critical', null],
      ['maxTurns', 201],
      ['maxTurns', 1.5],
      ['maxDurationSeconds', 3601],
      ['script', Array.from({ length: 201 }, () => ({ waitSeconds: 0 }))],
      ['script', [{ waitSeconds: 61 }]],
      ['script', {}],
      ['checks', Array.from({ length: 101 }, (_, i) => ({ type: 'says', text: `t${i}` }))],
      ['criteria', Array.from({ length: 51 }, (_, i) => ({ text: `t${i}` }))],
      ['criteria', [{ text: 'x', weight: 101 }]],
    ])('rejects an invalid %s (%#)', async (field, value) => {
      const { status, body } = await create({ [field]: value });
      expect(status).toBe(400);
      expect(messages(body).length).toBeGreaterThan(0);
      for (const message of messages(body)) expect(message).toMatch(new RegExp(`^${field}`));
    });

    it.each([
      [
        'answers without anything',
        () => ({ script: Array.from({ length: 200 }, () => ({ answers: new Array(400).fill({}) })) }),
      ],
      ['checks without anything', () => ({ checks: new Array(1_000).fill({}) })],
      ['unknown fields', () => Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`f${i}`, 1]))],
      [
        'huge patterns',
        () => ({ checks: Array.from({ length: 100 }, (_, i) => ({ type: 'says', pattern: `(?:\\pL{9}${i}){99}` })) }),
      ],
    ])('limits the number of issues for very many %s', async (_name, fields) => {
      const { status, body } = await create(fields());
      expect(status).toBe(400);
      expect(messages(body).length).toBeGreaterThan(0);
      expect(messages(body).length).toBeLessThanOrEqual(1_001);
    });

    it('rejects an unknown personality and one of another workspace', async () => {
      const deleted = await insertPersonality(manager(), owner, { deletedAt: new Date() });
      for (const id of [NOWHERE, deleted.id]) {
        const { status, body } = await create({ personalityId: id });
        expect([status, messages(body)]).toEqual([400, ['personalityId is not the id of a personality']]);
      }
      const { status, body } = await create({ personalityId: foreignPersonalityId });
      expect([status, body.code]).toEqual([403, 'FORBIDDEN']);
    });

    it('rejects a key that another evaluation of the agent has', async () => {
      const { body: first } = await create({ key: 'k' });
      const { status, body } = await create({ key: 'k' });
      expect([status, body.code, messages(body)]).toEqual([
        409,
        'CONFLICT',
        ['key is used by another evaluation of the agent'],
      ]);
      const other = await createAgent(client);
      expect((await client.post(`/agents/${other}/evaluations`, evaluation({ key: 'k' }))).status).toBe(201);
      await client.delete(`/evaluations/${first.data.id}`);
      expect((await create({ key: 'k' })).status).toBe(201);
    });

    it('rejects the id of an evaluation without a key as the key of another', async () => {
      const { body } = await create();
      expect((await create({ key: body.data.id })).status).toBe(409);
      expect((await client.patch(`/evaluations/${body.data.id}`, { key: body.data.id })).status).toBe(200);
    });

    it('creates one of many concurrent evaluations with the same key', async () => {
      const responses = await Promise.all(Array.from({ length: 8 }, () => create({ key: 'race' })));
      expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
    });

    it('requires an agent of the workspace', async () => {
      const foreignAgent = await createAgent(foreign.client);
      expect((await client.post(`/agents/${foreignAgent}/evaluations`, evaluation())).status).toBe(403);
      expect((await client.post(`/agents/${NOWHERE}/evaluations`, evaluation())).status).toBe(404);
      await client.delete(`/agents/${agentId}`);
      expect((await create()).status).toBe(404);
    });

    it('creates one evaluation for the same Idempotency-Key and replays the response', async () => {
      const headers = { 'Idempotency-Key': 'once' };
      const path = `/agents/${agentId}/evaluations`;
      const first = await client.post(path, evaluation({ key: 'once' }), headers);
      const again = await client.post(path, evaluation({ key: 'once' }), headers);
      expect([again.status, again.body]).toEqual([201, first.body]);
      expect((await client.get(path)).body.meta.total).toBe(1);
    });
  });

  describe('PATCH /evaluations/{id}', () => {
    it('changes only the given fields of an evaluation', async () => {
      const { body: before } = await create({ key: 'a', tags: ['x'], checks: [{ type: 'says', text: 'a' }] });
      const changes = { key: null, critical: true, checks: [{ type: 'ends_by', by: 'agent' }] };
      const { status, body } = await client.patch(`/evaluations/${before.data.id}`, changes);
      expect([status, body.message]).toEqual([200, 'Evaluation updated successfully']);
      expect(body.data).toEqual({
        ...before.data,
        key: null,
        critical: true,
        checks: [{ type: 'ends_by', by: 'agent', weight: 1, required: true }],
        updatedAt: expect.any(String),
      });
      expect((await client.get(`/evaluations/${before.data.id}`)).body.data).toEqual(body.data);
    });

    it('changes nothing for an empty object', async () => {
      const { body } = await create({
        checks: [{ type: 'calls_tool', tool: 'b', arguments: { b: 1, a: [1, { c: 2 }] } }],
      });
      expect((await client.patch(`/evaluations/${body.data.id}`, {})).body.data).toEqual(body.data);
    });

    it('validates the resulting evaluation and names both fields', async () => {
      const { body } = await create({ checks: [{ type: 'max_turns', turns: 30 }] });
      const path = `/evaluations/${body.data.id}`;
      const rejected = await client.patch(path, { maxTurns: 20 });
      expect([rejected.status, messages(rejected.body)]).toEqual([
        400,
        ['checks[0].turns must be less than maxTurns (20), or the check could never fail'],
      ]);
      expect((await client.patch(path, { maxTurns: 20, checks: [] })).status).toBe(200);
      const both = await client.patch(path, { name: '', checks: [{ type: 'says', pattern: '*' }, { type: 'nope' }] });
      expect(messages(both.body)).toHaveLength(3);
      // Missing fields keep their stored value, not the default: 50 turns would exceed the default of 40.
      const longer = await create({ maxTurns: 100 });
      const patched = await client.patch(`/evaluations/${longer.body.data.id}`, {
        checks: [{ type: 'max_turns', turns: 50 }],
      });
      expect(patched.status).toBe(200);
    });

    it.each([
      [{ name: null }, ['name must be a string']],
      [{ agentId: NOWHERE }, ['agentId is not a known field']],
      [{ workspaceId: NOWHERE }, ['workspaceId is not a known field']],
      [{ id: NOWHERE }, ['id is not a known field']],
    ])('rejects the changes %j', async (changes, issues) => {
      const { body } = await create();
      const response = await client.patch(`/evaluations/${body.data.id}`, changes);
      expect([response.status, messages(response.body)]).toEqual([400, issues]);
    });

    it('keeps a deleted personality, but rejects a change to one', async () => {
      const personality = await insertPersonality(manager(), owner);
      const { body } = await create({ personalityId: personality.id });
      const path = `/evaluations/${body.data.id}`;
      await client.delete(`/personalities/${personality.id}`);
      expect((await client.patch(path, { name: 'New', personalityId: personality.id.toUpperCase() })).status).toBe(200);
      expect((await client.patch(path, { personalityId })).status).toBe(200);
      const { status, body: rejected } = await client.patch(path, { personalityId: personality.id });
      expect([status, messages(rejected)]).toEqual([400, ['personalityId is not the id of a personality']]);
      expect((await client.patch(path, { personalityId: foreignPersonalityId })).status).toBe(403);
    });

    it('rejects a key that is in use', async () => {
      await create({ key: 'a' });
      const { body } = await create({ key: 'b' });
      expect((await client.patch(`/evaluations/${body.data.id}`, { key: 'a' })).status).toBe(409);
      expect((await client.patch(`/evaluations/${body.data.id}`, { key: 'b' })).status).toBe(200);
    });

    it('validates the second of two concurrent updates against the result of the first', async () => {
      const { body } = await create({ maxTurns: 100 });
      const path = `/evaluations/${body.data.id}`;
      for (let round = 0; round < 5; round++) {
        await client.patch(path, { maxTurns: 100, checks: [] });
        const responses = await Promise.all([
          client.patch(path, { maxTurns: 10 }),
          client.patch(path, { checks: [{ type: 'max_turns', turns: 50 }] }),
        ]);
        expect(responses.map(({ status }) => status).sort()).toEqual([200, 400]);
      }
    });
  });

  describe('DELETE /evaluations/{id}', () => {
    it('deletes the evaluation', async () => {
      const { body } = await create({ key: 'gone' });
      const path = `/evaluations/${body.data.id}`;
      expect(await client.delete(path)).toMatchObject({
        status: 200,
        body: { message: 'Evaluation deleted successfully' },
      });
      for (const response of [await client.get(path), await client.patch(path, {}), await client.delete(path)]) {
        expect(response.status).toBe(404);
      }
      expect((await client.get(`/agents/${agentId}/evaluations`)).body.meta.total).toBe(0);
    });
  });

  it('describes scripts and checks in the OpenAPI document', async () => {
    const { body: document } = await client.get('/openapi.json');
    const { schemas } = document.components;
    expect(schemas.CreateEvaluationRequest.required).toEqual(['name', 'scenarioText', 'personalityId']);
    expect(schemas.Evaluation.properties.checks.items).toEqual({ $ref: '#/components/schemas/Check' });
    expect(schemas.Check.discriminator.mapping.never_says).toBe('#/components/schemas/NeverSaysCheck');
    expect(schemas.ScriptStep.properties.when.allOf).toEqual([{ $ref: '#/components/schemas/Condition' }]);
    for (const reference of JSON.stringify(document).match(/#\/components\/schemas\/\w+/g) ?? []) {
      expect(Object.keys(schemas)).toContain(reference.split('/').at(-1));
    }
    const content = document.paths['/agents/{agentId}/evaluations/import'].post.requestBody.content;
    expect(Object.keys(content)).toEqual([
      'application/json',
      'application/x-yaml',
      'application/yaml',
      'text/csv',
      'text/yaml',
    ]);
  });
});
