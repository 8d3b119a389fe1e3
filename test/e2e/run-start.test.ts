import { randomUUID } from 'node:crypto';
import { expectError, expectForbidden, expectInvalid, expectNotFound } from '../support/expect.js';
import type { ApiResponse, HttpClient } from '../support/http.js';
import { executeRun, createRunApp, prepareEvaluations, type RunApp, shortEvaluation } from '../support/run-app.js';
import { sql } from '../support/sql.js';

describe('starting a run', () => {
  let app: RunApp;

  beforeAll(async () => {
    app = await createRunApp({}, { env: { AGENT_PROVIDER_3_URL: 'http://10.0.0.1/v1/chat/completions' } });
  });
  afterAll(() => app.close());

  const runs = async (client: HttpClient, agentId: string): Promise<number> =>
    (await client.get(`/agents/${agentId}/runs`)).body.meta.total;
  const issues = ({ body }: ApiResponse<any>) => (body.issues ?? []).map(({ message }: { message: string }) => message);

  describe('rejects invalid fields by name', () => {
    let client: HttpClient;
    let path: string;
    beforeAll(async () => {
      const prepared = await prepareEvaluations(app);
      client = prepared.client;
      path = `/agents/${prepared.agentId}/runs`;
    });

    it.each<[string, unknown]>([
      ['name', ''],
      ['name', 7],
      ['name', null],
      ['name', 'x'.repeat(256)],
      ['evaluationIds', []],
      ['evaluationIds', null],
      ['evaluationIds', 'x'],
      ['evaluationIds', ['no-uuid']],
      ['evaluationIds', [7]],
      ['evaluationIds', Array.from({ length: 5_001 }, () => randomUUID())],
      ['evaluationKeys', []],
      ['evaluationKeys', ['']],
      ['evaluationKeys', ['a', 'a']],
      ['evaluationKeys', ['x'.repeat(256)]],
      ['tags', []],
      ['tags', null],
      ['tags', ['']],
      ['tags', ['a', 'a']],
      ['tags', ['x'.repeat(101)]],
      ['tags[0]', ['a\u0000']],
      ['tags', [{}]],
      ['repeat', 0],
      ['repeat', 51],
      ['repeat', 1.5],
      ['repeat', '3'],
      ['repeat', null],
      ['concurrency', 0],
      ['concurrency', 101],
      ['concurrency', true],
      ['minimumScore', -0.1],
      ['minimumScore', 100.1],
      ['minimumScore', '80'],
      ['notWorseThan', 'latest'],
      ['notWorseThan', ''],
      ['notWorseThan', 7],
      ['notWorseThan', ['previous']],
      ['agentVersion', ''],
      ['agentVersion', 7],
      ['agentVersion', 'x'.repeat(256)],
      ['dryRun', 'true'],
      ['dryRun', null],
      ['colour', 'red'],
    ])('rejects %s: %j', async (field, value) => {
      const [name = ''] = field.split('[');
      expectInvalid(await client.post(path, { [name]: value }), field);
    });

    it('rejects an evaluation that is listed twice, in any letter case', async () => {
      const { agentId, evaluationIds, client: owner } = await prepareEvaluations(app);
      const [evaluationId = ''] = evaluationIds;
      expectInvalid(
        await owner.post(`/agents/${agentId}/runs`, { evaluationIds: [evaluationId, evaluationId] }),
        'evaluationIds',
      );
      const run = await executeRun(owner, agentId, { evaluationIds: [evaluationId, evaluationId.toUpperCase()] });
      expect(run.totalCalls).toBe(1);
    });

    it('rejects evaluations together with tags, tags without a match, and reports all violations at once', async () => {
      expectInvalid(await client.post(path, { evaluationIds: [randomUUID()], tags: ['a'] }), 'tags');
      expectInvalid(await client.post(path, { evaluationKeys: ['a'], tags: ['a'] }), 'tags');
      const both = { evaluationIds: [randomUUID()], evaluationKeys: ['a'] };
      expectInvalid(await client.post(path, both), 'evaluationKeys');
      expectInvalid(await client.post(path, { tags: ['nothing has it'] }), 'tags');
      expectInvalid(await client.post(path, { repeat: 0, concurrency: 0, name: 1 }), 'concurrency', 'name', 'repeat');
    });
  });

  it('rejects evaluations that are unknown, deleted, of another agent or of another workspace', async () => {
    const mine = await prepareEvaluations(app, [shortEvaluation(), shortEvaluation()]);
    const foreign = await prepareEvaluations(app);
    const path = `/agents/${mine.agentId}/runs`;
    const [first = '', second = ''] = mine.evaluationIds;
    const otherAgent = (
      await mine.client.post('/agents', { provider: 'AGENT_PROVIDER_1', assistantId: 'a', apiKey: 'k' })
    ).body.data.id as string;
    await mine.client.delete(`/evaluations/${second}`);
    for (const id of [randomUUID(), second]) {
      const response = await mine.client.post(path, { evaluationIds: [first, id] });
      expect(response.status).toBe(400);
      expect(issues(response)).toEqual(['evaluationIds.1 is not the id of an evaluation of the agent']);
    }
    const elsewhere = await mine.client.post(`/agents/${otherAgent}/runs`, { evaluationIds: [first] });
    expect(issues(elsewhere)).toEqual(['evaluationIds.0 is not the id of an evaluation of the agent']);
    expectForbidden(await mine.client.post(path, { evaluationIds: [first, foreign.evaluationIds[0]] }));
    expect(await runs(mine.client, mine.agentId)).toBe(0);
  });

  it('runs the evaluations with the given keys, and names each unknown key', async () => {
    const evaluations = ['first', 'second', 'third'].map((key) => ({ ...shortEvaluation(), key }));
    const { client, agentId, evaluationIds } = await prepareEvaluations(app, evaluations);
    const path = `/agents/${agentId}/runs`;
    const { body } = await client.post(path, { evaluationKeys: ['third', 'first'], dryRun: true });
    const planned = body.data.evaluations as { id: string }[];
    expect(planned.map(({ id }) => id)).toEqual([evaluationIds[0], evaluationIds[2]]);

    await client.delete(`/evaluations/${evaluationIds[1]}`);
    const response = await client.post(path, { evaluationKeys: ['first', 'second', 'unknown'] });
    expect(issues(response)).toEqual([
      'evaluationKeys.1 is not the key of an evaluation of the agent',
      'evaluationKeys.2 is not the key of an evaluation of the agent',
    ]);
  });

  it('runs the evaluations with one of the tags or the named ones, oldest first', async () => {
    const { client, agentId, evaluationIds } = await prepareEvaluations(app, [
      shortEvaluation({ name: 'A', tags: ['x'] }),
      shortEvaluation({ name: 'B', tags: ['x', 'y'] }),
      shortEvaluation({ name: 'C', tags: ['z'] }),
    ]);
    const planned = async (body: object) =>
      (await client.post(`/agents/${agentId}/runs`, { ...body, dryRun: true })).body.data.evaluations.map(
        ({ name }: { name: string }) => name,
      );
    expect(await planned({})).toEqual(['A', 'B', 'C']);
    expect(await planned({ tags: ['x'] })).toEqual(['A', 'B']);
    expect(await planned({ tags: ['y', 'z'] })).toEqual(['B', 'C']);
    expect(await planned({ evaluationIds: [evaluationIds[2], evaluationIds[0]] })).toEqual(['A', 'C']);
  });

  describe('conflicts', () => {
    it('returns 409 if the agent has no evaluation', async () => {
      const { client, agentId } = await prepareEvaluations(app, []);
      const response = await client.post(`/agents/${agentId}/runs`, {});
      expectError(response, 409, 'CONFLICT', 'The agent has no evaluations to run');
    });

    it('returns 409 if the personality of an evaluation was deleted: names it, and the others can run', async () => {
      const { client, agentId, evaluationIds } = await prepareEvaluations(app, [
        shortEvaluation(),
        shortEvaluation({ name: 'Left alone' }),
      ]);
      const gone = (await client.post('/personalities', { name: 'Gone' })).body.data.id as string;
      await client.patch(`/evaluations/${evaluationIds[1]}`, { personalityId: gone });
      const before = await executeRun(client, agentId);
      await client.delete(`/personalities/${gone}`);
      const rerun = await client.post(`/runs/${before.id}/rerun`);
      for (const response of [await client.post(`/agents/${agentId}/runs`, {}), rerun]) {
        expect([response.status, issues(response)]).toEqual([
          409,
          ['evaluations "Left alone" cannot be run: its personality was deleted; choose another one'],
        ]);
      }
      const run = await executeRun(client, agentId, { evaluationIds: [evaluationIds[0]] });
      expect(run.totalCalls).toBe(1);
    });

    it('returns 409 if no model is configured to play the caller: names the evaluation and the remedy', async () => {
      const { client, agentId } = await prepareEvaluations(app, [shortEvaluation({ name: 'Free talk', script: [] })]);
      const response = await client.post(`/agents/${agentId}/runs`, {});
      expect(response.status).toBe(409);
      expect(issues(response)).toEqual([expect.stringMatching(/^evaluations "Free talk" .*LLM_BASE_URL, LLM_MODEL/)]);
    });

    it('returns 409 if the provider has no address', async () => {
      const { client, agentId } = await prepareEvaluations(app, undefined, { provider: 'AGENT_PROVIDER_2' });
      const response = await client.post(`/agents/${agentId}/runs`, {});
      expect(response.body).toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining('AGENT_PROVIDER_2_URL'),
      });
    });

    it('returns 409 if the address is in a blocked network: names it and the remedy', async () => {
      const { client, agentId } = await prepareEvaluations(app, undefined, { provider: 'AGENT_PROVIDER_3' });
      for (const body of [{}, { dryRun: true }]) {
        const response = await client.post(`/agents/${agentId}/runs`, body);
        expect([response.status, response.body.message]).toEqual([
          409,
          expect.stringMatching(/AGENT_PROVIDER_3_URL.* is not public; .*OUTBOUND_ALLOWED_NETWORKS/),
        ]);
      }
    });

    it('returns 409 for a rerun if the agent was deleted, and 404 for a new run; its runs stay readable', async () => {
      const { client, agentId } = await prepareEvaluations(app);
      const run = await executeRun(client, agentId);
      await client.delete(`/agents/${agentId}`);
      expectNotFound(await client.post(`/agents/${agentId}/runs`, {}));
      expectNotFound(await client.get(`/agents/${agentId}/metrics`));
      expectError(await client.post(`/runs/${run.id}/rerun`), 409, 'CONFLICT', 'The agent of the run was deleted');
      expect((await client.get(`/runs/${run.id}`)).status).toBe(200);
      expect((await client.get(`/runs/${run.id}/calls`)).body.meta.total).toBe(1);
    });
  });

  it('rejects more calls than a run may have', async () => {
    const { client, agentId, workspaceId } = await prepareEvaluations(app);
    await sql(
      app.databaseUrl,
      `INSERT INTO evaluations SELECT (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid()))).*
         FROM evaluations e, generate_series(1, 200) WHERE e.workspace_id = '${workspaceId}'`,
    );
    const response = await client.post(`/agents/${agentId}/runs`, { repeat: 50 });
    expect(response.status).toBe(400);
    expect(issues(response)).toEqual([expect.stringMatching(/^repeat .*at most 10000 calls, not 10050$/)]);
    expect((await client.post(`/agents/${agentId}/runs`, { repeat: 49, dryRun: true })).body.data.totalCalls).toBe(
      9_849,
    );
  });

  it('rejects more text than a run may copy, without reading all of it', async () => {
    const { client, agentId, evaluationIds } = await prepareEvaluations(app);
    await sql(
      app.databaseUrl,
      `INSERT INTO evaluations
         SELECT (jsonb_populate_record(e, jsonb_build_object('id', gen_random_uuid(), 'key', null,
                                                             'scenario_text', repeat('x', 100000)))).*
           FROM evaluations e, generate_series(1, 210) WHERE e.id = '${evaluationIds[0]}'`,
    );
    const response = await client.post(`/agents/${agentId}/runs`, {});
    expect(response.status).toBe(400);
    expect(issues(response)).toEqual([expect.stringMatching(/^evaluationIds .*at most 20 million characters/)]);
  });

  it('rejects a run of an agent with too many waiting calls', async () => {
    const { client, agentId } = await prepareEvaluations(app, undefined, { assistantId: 'nobody' });
    const run = await executeRun(client, agentId);
    await sql(
      app.databaseUrl,
      // In FROM, because PostgreSQL would evaluate `(f(x)).*` once per column.
      `UPDATE runs SET status = 'RUNNING' WHERE id = '${run.id}';
       INSERT INTO calls SELECT copy.*
         FROM calls c, generate_series(1, 50000) n,
              jsonb_populate_record(c, jsonb_build_object('id', gen_random_uuid(), 'position', n, 'status', 'QUEUED',
                                                          'outcome', null, 'due_at', 'infinity')) AS copy
        WHERE c.run_id = '${run.id}'`,
    );
    const rejected = await client.post(`/agents/${agentId}/runs`, {});
    expect([rejected.status, rejected.body.code]).toEqual([409, 'CONFLICT']);
    await sql(
      app.databaseUrl,
      `DELETE FROM calls WHERE run_id = '${run.id}' AND position > 0;
       UPDATE runs SET status = 'COMPLETED' WHERE id = '${run.id}'`,
    );
    expect((await client.post(`/agents/${agentId}/runs`, {})).status).toBe(201);
  });

  it('refuses evaluations that need a language model without one, with an issue for each, also in a rerun', async () => {
    const { client, agentId, evaluationIds } = await prepareEvaluations(app, [
      shortEvaluation(),
      shortEvaluation({ name: 'Is judged', criteria: [{ text: 'The agent is polite.' }] }),
      shortEvaluation({ name: 'Is improvised', script: [], criteria: [{ text: 'The agent is polite.' }] }),
    ]);
    const refused = [
      'evaluations "Is judged" cannot be run: it has a required criterion, and no language model is configured to judge it (LLM_BASE_URL, LLM_MODEL)',
      'evaluations "Is improvised" cannot be run: it has no script, and no language model is configured to play its caller (LLM_BASE_URL, LLM_MODEL)',
    ];
    for (const dryRun of [true, false]) {
      const response = await client.post(`/agents/${agentId}/runs`, { dryRun });
      expect(response.status).toBe(409);
      expect([...issues(response)].sort()).toEqual([...refused].sort());
    }
    // A run that was started while a model was configured.
    const run = await executeRun(client, agentId, { evaluationIds: [evaluationIds[0]] });
    const criteria = JSON.stringify([{ text: 'The agent is polite.', weight: 1, required: true }]);
    await sql(
      app.databaseUrl,
      `UPDATE run_evaluations SET snapshot = jsonb_set(snapshot, '{definition,criteria}', '${criteria}')
        WHERE run_id = '${run.id}'`,
    );
    const rerun = await client.post(`/runs/${run.id}/rerun`);
    expect([rerun.status, issues(rerun)]).toEqual([409, [expect.stringContaining('it has a required criterion')]]);
  });

  it('returns a plan with dryRun, writes nothing and does not call the agent', async () => {
    const { client, agentId, evaluationIds, personalityId } = await prepareEvaluations(app, [
      shortEvaluation({ key: 'greets', critical: true, tags: ['x'] }),
      shortEvaluation({ name: 'Asks nothing', checks: [] }),
      shortEvaluation({ name: 'Is judged', criteria: [{ text: 'The agent is polite.', required: false }] }),
      shortEvaluation({ name: 'Stays quiet', checks: [{ type: 'never_says', text: 'prompt' }] }),
    ]);
    await client.patch(`/personalities/${personalityId}`, { accent: 'Scottish', voice_id: 'v1' });
    const body = { repeat: 3, concurrency: 50, minimumScore: 80, name: 'Plan', dryRun: true };
    const { status, body: response } = await client.post(`/agents/${agentId}/runs`, body);
    expect(status).toBe(200);
    expect(response).toMatchObject({
      message: 'Run planned successfully; nothing was started',
      data: { agentId, name: 'Plan', repeat: 3, concurrency: 50, minimumScore: 80, totalCalls: 12 },
    });
    expect(response.data.evaluations).toContainEqual({
      id: evaluationIds[0],
      key: 'greets',
      name: 'Is greeted',
      critical: true,
      provisional: false,
      tags: ['x'],
      personalityId,
      caller: 'scripted',
      calls: 3,
      cases: [{ key: evaluationIds[0], variables: null }],
      explanation: expect.arrayContaining(['Check "Greets": Agent says "welcome".']),
    });
    expect(response.data.warnings).toEqual([
      expect.stringMatching(/^"Asks nothing": /),
      expect.stringMatching(/^"Stays quiet": has only checks for what must never happen/),
      expect.stringMatching(/^"Is judged": .*LLM_BASE_URL/),
      expect.stringMatching(/^Personality "Impatient regular": .*over text: accent, voice_id\.$/),
      expect.stringMatching(/^A concurrency of 50 .*WORKER_CONCURRENCY/),
    ]);
    expect(await runs(client, agentId)).toBe(0);
    const left = await sql(app.databaseUrl, `SELECT 1 FROM calls WHERE agent_id = '${agentId}'`);
    expect(left).toEqual([]);
  });

  it('starts one run for concurrent requests with one Idempotency-Key', async () => {
    const { client, agentId } = await prepareEvaluations(app);
    const key = { 'Idempotency-Key': randomUUID() };
    const send = () => client.post(`/agents/${agentId}/runs`, { name: 'Once' }, key);
    const responses = await Promise.all(Array.from({ length: 10 }, send));
    expect(responses.every(({ status }) => status === 201 || status === 409)).toBe(true);
    expect((await send()).headers.get('idempotent-replayed')).toBe('true');
    expect(await runs(client, agentId)).toBe(1);
  });
});
