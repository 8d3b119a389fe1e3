import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { vat } from '../support/vat.js';

describe('vat runs, vat history and vat agent page', () => {
  let app: TestApp;
  let agent: ScriptedAgent;

  beforeAll(async () => {
    agent = await startScriptedAgent(({ said }) => (said.includes('Fail') ? 'Good day.' : 'Welcome!'));
    app = await createTestApp({ env: callEnv(agent.url) });
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
  });

  it('say since which run a case is red, list the runs, and save the page', async () => {
    const { client, agentId, apiKey, evaluationIds } = await prepareEvaluations(app, [
      shortEvaluation({ key: 'greets' }),
    ]);
    const env = { VAT_URL: app.url, VAT_API_KEY: apiKey };
    const none = await vat(['history', 'greets', '--agent', agentId], env);
    expect([none.code, none.stderr]).toEqual([3, expect.stringContaining('a case greets in one of its ended runs')]);
    expect(await vat(['runs', '--agent', agentId], env)).toMatchObject({ code: 0, stdout: 'No runs.\n' });

    await executeRun(client, agentId);
    const green = await vat(['history', 'greets', '--agent', agentId], env);
    expect([green.code, green.stdout]).toEqual([0, expect.stringContaining('"Is greeted" is green in 1 run listed')]);
    await client.patch(`/evaluations/${evaluationIds[0]}`, { script: [{ say: 'Fail' }, { end: 'Done' }] });
    const red = await executeRun(client, agentId, { agentVersion: 'v2' });
    const newest = await executeRun(client, agentId, { agentVersion: 'v2', name: 'Evening' });

    const { code, stdout } = await vat(['history', 'greets', '--agent', agentId], env);
    expect(code).toBe(0);
    expect(stdout).toMatch(new RegExp(`"Is greeted" is red since .* UTC, run ${red.id}\n`));
    expect(stdout).toMatch(new RegExp(`failed +0/1 +0 .* v2 +${newest.id}\n.*failed .*${red.id}\n.*passed +1/1 `));
    const runs = await vat(['runs', '--agent', agentId, '--limit', '1'], env);
    expect(runs.stdout).toMatch(new RegExp(`FAILED +0/1 +0 +0 % +0 +v2 +${newest.id} +Evening\n$`));
    const json = JSON.parse((await vat(['history', 'greets', '--agent', agentId, '--json'], env)).stdout);
    expect(json.map(({ state }: { state: string }) => state)).toEqual(['failed', 'failed', 'passed']);

    const folder = await mkdtemp(path.join(tmpdir(), 'vat-page-'));
    try {
      const out = path.join(folder, 'agent.html');
      expect(await vat(['agent', 'page', agentId, '--out', out, '--days', '7'], env)).toMatchObject({ code: 0 });
      expect(await readFile(out, 'utf8')).toContain('1 case not green');
    } finally {
      await rm(folder, { recursive: true });
    }
    expect(await vat(['runs'], env)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("required option '--agent <id>'"),
    });
  });
});
