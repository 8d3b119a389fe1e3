import { setTimeout as sleep } from 'node:timers/promises';
import { RetellServer } from '../simulators/retell/server.js';
import { platformApps } from '../support/platform-app.js';
import { executeRun } from '../support/run-app.js';
import { until } from '../support/until.js';

const apiKey = 'key_1234567890abcdef';
const answer = () => ({ messages: [{ role: 'agent', content: 'Welcome!' }] });

describe('calls of agents of Retell', () => {
  const serve = platformApps();

  it('are at most as many at once as the setting of the provider says', async () => {
    const platform = await RetellServer.start({ apiKey, answer });
    const env = { AGENT_PROVIDER_1_CONCURRENCY: '2' };
    const { client, agentId } = await serve({ protocol: 'retell-text', apiKey }, platform, {}, env);
    let [now, most] = [0, 0];
    platform.onEvent = async () => {
      most = Math.max(most, ++now);
      await sleep(200);
      now -= 1;
    };
    const run = await executeRun(client, agentId, { repeat: 6, concurrency: 6 });
    expect(run).toMatchObject({ status: 'COMPLETED', counts: { passed: 6 } });
    expect([most, platform.completions.length]).toEqual([2, 6]);
  });

  // nano-step/nano-brain#181, microsoft/playwright-mcp#1410: tools return NUL bytes and halves of surrogate pairs.
  it('are stored and shown with U+0000 and a half surrogate pair in the result of a tool, after one attempt', async () => {
    const messages = [
      { role: 'tool_call_invocation', tool_call_id: 't\0', name: 'find\0', arguments: '{"a\\u0000":"\\udc00"}' },
      { role: 'tool_call_result', tool_call_id: 't\0', content: 'table\0 7\ud83d' },
      { role: 'agent', content: 'Welcome!\0' },
    ];
    const platform = await RetellServer.start({ apiKey, answer: () => ({ messages }) });
    const { client, agentId, callsOf } = await serve({ protocol: 'retell-text', apiKey }, platform);
    const run = await executeRun(client, agentId);
    const [call] = await callsOf(run.id);
    expect(call).toMatchObject({ outcome: 'passed', attempts: [{ outcome: 'passed' }] });
    const tool = call.timeline.find(({ type }: { type: string }) => type === 'tool_call');
    const seen = { name: 'find\ufffd', arguments: { 'a\ufffd': '\ufffd' }, result: 'table\ufffd 7\ufffd' };
    expect(tool).toMatchObject(seen);
    for (const page of ['report', 'junit']) {
      expect(await client.get(`/runs/${run.id}/${page}`)).toMatchObject({ status: 200 });
    }
  });

  it('wait, without an attempt, while the account has no free call, which is asked for before each begins', async () => {
    let current = 20;
    const concurrency = {
      limit: 20,
      get current() {
        return current;
      },
    };
    const platform = await RetellServer.start({ apiKey, answer, concurrency });
    const { client, agentId, start, callsOf, runOf } = await serve({ protocol: 'retell-text', apiKey }, platform);
    const id = await start({});
    await until('the account was asked', () => platform.requests.length > 0);
    await sleep(500);
    expect([platform.requests.length, platform.completions.length]).toEqual([1, 0]);
    current = 19;
    await client.get(`/runs/${id}?wait=60`);
    expect(await runOf(id)).toMatchObject({ status: 'COMPLETED', retriedCalls: 0, callsThatWaited: 1 });
    expect((await callsOf(id))[0]).toMatchObject({ attempts: [{ outcome: 'passed' }] });
    expect(platform.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'POST']);
    expect(await executeRun(client, agentId)).toMatchObject({ callsThatWaited: 0 });
  });
});
