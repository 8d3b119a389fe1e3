import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { agentBody } from '../factories/bodies.js';
import { expectForbidden, expectNotFound } from '../support/expect.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { vat } from '../support/vat.js';

const BROKEN = 'broken';

describe('several runs side by side', () => {
  let app: TestApp;
  let script: ScriptedAgent;

  beforeAll(async () => {
    script = await startScriptedAgent(({ model, said }) =>
      model === BROKEN && said.includes('Bert') ? 'Good day.' : 'Welcome!',
    );
    app = await createTestApp({ env: callEnv(script.url) });
  });
  afterAll(async () => {
    await app.close();
    await script.close();
  });

  const evaluation = (name: string) =>
    shortEvaluation({ name, key: name.toLowerCase(), script: [{ say: `Hello, I am ${name}.` }, { end: 'Greeted' }] });

  /** Runs of the first agent, twice, and of another one of the workspace that does not greet Bert and knows no Cleo. */
  async function prepare(repeat: number) {
    const { client, agentId, personalityId, apiKey } = await prepareEvaluations(
      app,
      ['Anna', 'Bert', 'Cleo'].map(evaluation),
    );
    const candidate = (await client.post('/agents', agentBody({ assistantId: BROKEN, name: 'Candidate' }))).body.data
      .id;
    for (const name of ['Dora', 'Bert', 'Anna']) {
      const body = { ...evaluation(name), personalityId };
      expect((await client.post(`/agents/${candidate}/evaluations`, body)).status).toBe(201);
    }
    const first = await executeRun(client, agentId, { repeat, name: 'First' });
    const again = await executeRun(client, agentId, { repeat, name: 'Again' });
    const other = await executeRun(client, candidate, { repeat, name: 'Other platform', agentVersion: 'v7' });
    return { client, apiKey, candidate, agentId, first, again, other };
  }

  const expectIssue = (response: { status: number; body: any }, message: string) =>
    expect(response).toMatchObject({ status: 400, body: { issues: [{ message }] } });

  it('compares the cases of the first run by key and row, and names differences to it', async () => {
    const { client, apiKey, agentId, candidate, first, again, other } = await prepare(6);
    // As if the other agent had been called by telephone.
    await sql(app.databaseUrl, `UPDATE calls SET protocol = 'twilio-media-streams' WHERE run_id = $1`, [other.id]);
    const { status, body } = await client.get(`/runs/${first.id}/matrix?with=${again.id},${other.id}`);
    expect([status, body.message]).toEqual([200, 'Runs compared successfully']);
    const { runs, cases, warnings } = body.data;
    const same = { change: 'same', pValue: 1, callsNeeded: null };
    const worse = { change: 'worse', pValue: expect.closeTo((2 * 7) / 924, 4), callsNeeded: null };
    expect(runs).toMatchObject([
      { id: first.id, agentId, protocol: 'chat-completions', passRate: 1, counted: 18, difference: null },
      { id: again.id, agentId, passRate: 1, latency: { clock: 'text' }, difference: same },
      {
        ...{ id: other.id, agentId: candidate, agentName: 'Candidate', agentVersion: 'v7', counted: 12, passRate: 0.5 },
        ...{ protocol: 'twilio-media-streams', latency: { clock: 'heard' }, difference: { change: 'worse' } },
      },
    ]);
    expect(cases).toMatchObject([
      { key: 'anna', results: [{ runId: first.id, difference: null }, { difference: same }, { difference: same }] },
      { key: 'bert', results: [{ passed: 6 }, { passed: 6, difference: same }, { passed: 0, difference: worse }] },
      { key: 'cleo', results: [{ runId: first.id }, { runId: again.id }] },
    ]);
    expect(cases[2].results).toHaveLength(2);
    expect(warnings).toEqual([
      'Run "Other platform" does not have 1 case of the first run.',
      'Run "Other platform" has 1 case that the first run does not have.',
      'The latencies are measured on different clocks: text and heard.',
    ]);

    const folder = await mkdtemp(path.join(tmpdir(), 'vat-matrix-'));
    const files = ['json', 'markdown', 'report'].flatMap((kind) => [`--${kind}`, path.join(folder, kind)]);
    const ids = [first.id, again.id, other.id];
    const env = { VAT_URL: app.url, VAT_API_KEY: apiKey };
    const printed = await vat(['compare', ...ids, ...files], env);
    expect(printed).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^Wrote \S+json, \S+markdown, \S+report\n$/),
    });
    expect(printed.stdout).toMatch(/^Bert +6\/6 +6\/6 +0\/6 worse$/m);
    expect(printed.stdout).toContain(
      'Differences to A larger than chance: C is worse in 1 case, worse in all together.',
    );
    expect(JSON.parse(await readFile(path.join(folder, 'json'), 'utf8'))).toEqual(body.data);
    expect(await readFile(path.join(folder, 'markdown'), 'utf8')).toContain('| Bert | 6/6 | 6/6 | 0/6 worse |');
    const report = await readFile(path.join(folder, 'report'), 'utf8');
    expect(report).toContain('3 runs side by side');
    expect(report).toContain('<b><bdi>twilio-media-streams, Other platform</bdi></b>');
    await rm(folder, { recursive: true });
    // The first run is the one in question.
    expect((await vat(['compare', other.id, first.id, again.id], env)).code).toBe(1);
    const unknown = randomUUID();
    expect(await vat(['compare', first.id, again.id, unknown], env)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`Run ${unknown} not found`),
    });
  });

  it('says how many calls each run needs, and compares with the previous run by default', async () => {
    const { client, first, again, other } = await prepare(1);
    const { data } = (await client.get(`/runs/${again.id}/matrix?with=previous,${other.id}`)).body;
    expect(data.runs.map(({ id }: { id: string }) => id)).toEqual([again.id, first.id, other.id]);
    // Five cases and two times all together, in both directions: 14 tests.
    expect(data.runs[2].difference).toEqual({ change: 'undecided', pValue: null, callsNeeded: 6 });
    expect(data.warnings).toContain(
      '5 of 5 differences: too few counted calls in one of the two runs to find any; ' +
        'with this number of runs and cases each run needs 6 of a case.',
    );
    const byDefault = (await client.get(`/runs/${again.id}/matrix`)).body.data;
    expect(byDefault.runs.map(({ id }: { id: string }) => id)).toEqual([again.id, first.id]);
  });

  it('rejects runs named twice, without a shared case, unknown or of another workspace', async () => {
    const { client, first, again } = await prepare(1);
    const foreign = await prepareEvaluations(app, [evaluation('Anna')]);
    const theirs = await executeRun(foreign.client, foreign.agentId);
    const matrix = (others: string, id: string = first.id) => client.get(`/runs/${id}/matrix?with=${others}`);
    for (const others of [`${again.id},${again.id}`, `${again.id},${first.id}`]) {
      expectIssue(await matrix(others), 'with must not name a run twice, nor this run');
    }
    for (const others of ['', ',', `${again.id},`, `${again.id};${first.id}`, Array(12).fill(again.id).join()]) {
      expectIssue(
        await matrix(others),
        'with must be "previous" or the id of a run, or up to 11 of them separated by commas',
      );
    }
    const unknown = randomUUID();
    expect(await matrix(`${again.id},${unknown}`)).toMatchObject({
      status: 404,
      body: { issues: [{ message: `with is not the id of a run: ${unknown}` }] },
    });
    expectNotFound(await matrix(again.id, randomUUID()));
    expectForbidden(await matrix(`${again.id},${theirs.id}`));
    expectForbidden(await client.get(`/runs/${first.id}/report?with=${again.id},${theirs.id}`));
    expectForbidden(await foreign.client.get(`/runs/${first.id}/matrix?with=${again.id}`));
    const body = { ...evaluation('Emil'), personalityId: foreign.personalityId };
    expect((await foreign.client.post(`/agents/${foreign.agentId}/evaluations`, body)).status).toBe(201);
    const ids = (await foreign.client.get(`/agents/${foreign.agentId}/evaluations`)).body.data as {
      id: string;
      name: string;
    }[];
    const emil = await executeRun(foreign.client, foreign.agentId, {
      evaluationIds: ids.filter(({ name }) => name === 'Emil').map(({ id }) => id),
    });
    expectIssue(
      await foreign.client.get(`/runs/${emil.id}/matrix?with=${theirs.id}`),
      'with must be runs that share a case with this one; the one at position 1 does not',
    );
  });
});
