import { setTimeout as sleep } from 'node:timers/promises';
import { ExecutionRepository } from '../../src/modules/execution/execution.repository.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { delayed, type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Call slots of the process; a workspace without others may use three of them. */
const SLOTS = 4;

describe('fair call slots', () => {
  let agent: ScriptedAgent;
  let app: TestApp;
  /** Assistants that answer once they are let go. */
  const waiting = new Map<string, (() => void)[]>();

  beforeAll(async () => {
    agent = await startScriptedAgent(async ({ model }) => {
      if (model.startsWith('quick')) return delayed(20);
      await new Promise<void>((resolve) => waiting.set(model, [...(waiting.get(model) ?? []), resolve]));
      return 'Welcome!';
    });
    app = await createTestApp({ env: { ...callEnv(agent.url), WORKER_CONCURRENCY: String(SLOTS) } });
    // The sweep would start what the end of a call does not.
    jest.spyOn(app.nest.get(ExecutionRepository), 'sweep').mockResolvedValue([]);
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
  });

  const release = (model: string) => waiting.get(model)?.shift()?.();
  const active = (model: string) => agent.active.get(model) ?? 0;
  it('leave one to other workspaces while one has calls that last', async () => {
    const long = await prepareEvaluations(app, [shortEvaluation()], { assistantId: 'long' });
    const { id } = (await long.client.post(`/agents/${long.agentId}/runs`, { repeat: 8, concurrency: 20 })).body.data;
    await until('the share is in use', () => active('long') === 3);

    // The other workspace starts at once, again and again.
    const quick = await prepareEvaluations(app, [shortEvaluation()], { assistantId: 'quick' });
    for (let i = 0; i < 3; i++) {
      expect(await executeRun(quick.client, quick.agentId, {})).toMatchObject({ status: 'COMPLETED' });
    }
    expect(active('long')).toBe(3);

    // A free slot is taken up at once.
    for (let ended = 1; ended <= 8; ended++) {
      release('long');
      await until(
        'the next call starts',
        () => agent.requests.filter(({ model }) => model === 'long').length >= Math.min(8, 3 + ended),
      );
    }
    expect((await long.client.get(`/runs/${id}?wait=30`)).body.data).toMatchObject({ counts: { passed: 8 } });
    expect(agent.peak.get('long')).toBe(3);
  });

  it('resume the other agents of a workspace when one of its calls ends', async () => {
    const first = await prepareEvaluations(app, [shortEvaluation()], { assistantId: 'first' });
    const second = (
      await first.client.post('/agents', { provider: 'AGENT_PROVIDER_1', assistantId: 'quick-2', apiKey: 'k' })
    ).body.data.id as string;
    const { personalityId } = first;
    await first.client.post(`/agents/${second}/evaluations`, { personalityId, ...shortEvaluation() });
    const run = { repeat: 3, concurrency: 3 };
    const { id } = (await first.client.post(`/agents/${first.agentId}/runs`, run)).body.data;
    await until('the share is in use', () => active('first') === 3);
    const started = (await first.client.post(`/agents/${second}/runs`, { repeat: 5, concurrency: 5 })).body.data;
    await sleep(1_000);
    expect(active('quick-2')).toBe(0);
    release('first');
    const ended = (await first.client.get(`/runs/${started.id}?wait=30`)).body.data;
    expect(ended).toMatchObject({ status: 'COMPLETED', counts: { passed: 5 } });
    for (let i = 0; i < 2; i++) release('first');
    expect((await first.client.get(`/runs/${id}?wait=30`)).body.data).toMatchObject({ counts: { passed: 3 } });
  });

  it('are shared equally as calls end, while two workspaces have calls that last', async () => {
    const runs = await Promise.all(
      ['early', 'late'].map(async (assistantId, index) => {
        const { client, agentId } = await prepareEvaluations(app, [shortEvaluation()], { assistantId });
        if (index > 0) await until('the first one uses all that it may', () => active('early') === 3);
        const { id } = (await client.post(`/agents/${agentId}/runs`, { repeat: 8, concurrency: 20 })).body.data;
        return { assistantId, ended: () => client.get(`/runs/${id}?wait=30`) };
      }),
    );
    await until('the second one has the slot that is kept', () => active('late') === 1);
    // The first one is above its share of two, and gives the slot of the call that ends back.
    release('early');
    await until('the first one has its share', () => active('early') === 2);
    const begun = agent.requests.length;
    for (const assistantId of ['early', 'late']) release(assistantId);
    await until('two other calls have begun', () => agent.requests.length === begun + 2);
    expect([active('early'), active('late')].sort()).toEqual([1, 2]);
    const drained = setInterval(() => ['early', 'late'].forEach(release), 20);
    try {
      for (const { ended } of runs) expect((await ended()).body.data).toMatchObject({ counts: { passed: 8 } });
    } finally {
      clearInterval(drained);
    }
    expect(agent.peak.get('early')).toBe(3);
  });
});
