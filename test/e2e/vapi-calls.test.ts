import { says, VapiServer } from '../../libs/simulation/testing/vapi.js';
import { platformApps } from '../support/platform-app.js';
import { executeRun } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { until } from '../support/until.js';

const apiKey = '4f6a1b2c-1234-4c56-9abc-def012345678';
const script = { onStart: [{ send: says('t1', 'Welcome!', 500) }] };
const LISTENS = { script: [{ waitSeconds: 1 }, { end: 'Greeted' }] };

describe('calls of assistants of Vapi', () => {
  const serve = platformApps();
  const prepare = async (
    options: NonNullable<Parameters<typeof VapiServer.start>[0]> = {},
    evaluation: object = {},
    env: NodeJS.ProcessEnv = {},
  ) => {
    const platform = await VapiServer.start({ apiKey, script, ...options });
    return serve({ protocol: 'vapi', apiKey }, platform, { ...LISTENS, ...evaluation }, env);
  };

  it('give it the variables of connection, evaluation and run and the version, and have its id', async () => {
    const evaluation = { agentVariables: { name: 'Rossi', note: 'of the evaluation' } };
    const { client, agentId, platform, callsOf } = await prepare({}, evaluation);
    const connection = {
      protocol: 'vapi',
      url: platform.url,
      options: { variables: { name: 'overridden', shop: 'Roma' } },
    };
    expect(await client.put(`/agents/${agentId}/connection`, connection)).toMatchObject({ status: 200 });
    const run = await executeRun(client, agentId, { agentVariables: { note: 'window' }, assistantVersion: 'v3' });
    expect(run).toMatchObject({ status: 'COMPLETED' });
    const [call] = await callsOf(run.id);
    const shown = { name: 'Rossi', note: 'window' };
    expect(platform.requests[0]!.body).toMatchObject({
      name: `vat:${call.attempts[0].callId}`,
      assistantOverrides: { variableValues: { shop: 'Roma', ...shown } },
      assistantVersion: 'v3',
    });
    expect(call).toMatchObject({ agentVariables: shown, assistantVersion: 'v3' });
    expect(platform.upgrades.map(({ url }) => url)).toEqual([`/${call.platform.id}/transport`]);
  });

  it('never exceed the capacity of their Vapi key, and hold no slot while they wait', async () => {
    const { start, runOf, platform, app } = await prepare({}, {}, { AGENT_PROVIDER_1_CONCURRENCY: '2' });
    const id = await start({ repeat: 5, concurrency: 5 });
    await until('both lines are taken', () => platform.openCalls === 2);
    expect(await sql(app.databaseUrl, 'SELECT status, count(*)::int AS n FROM calls GROUP BY 1 ORDER BY 1')).toEqual([
      { status: 'QUEUED', n: 3 },
      { status: 'RUNNING', n: 2 },
    ]);
    await until('the run has ended', async () => (await runOf(id)).endedAt !== null, 60_000);
    expect(await runOf(id)).toMatchObject({ counts: { passed: 5 }, retriedCalls: 0 });
    expect([platform.mostCalls, platform.placedCalls, platform.openCalls]).toEqual([2, 5, 0]);
  });

  it('that are created blocked are ended before the next is dialled, without an attempt', async () => {
    const { client, agentId, platform, callsOf } = await prepare({ maxCalls: 1, validMs: 3_000 });
    // The call of somebody else has the only line of the organisation for three seconds.
    platform.awaitAt('/of-another-client');
    const dialled: unknown[] = [];
    platform.onEvent = (event) => void (event === 'asked' && dialled.push([platform.openCalls, ...platform.ends]));
    const run = await executeRun(client, agentId, { maxPaidAttempts: 1 });
    expect(run).toMatchObject({ status: 'COMPLETED', retriedCalls: 0, callsThatWaited: 1 });
    // The blocked call was the first to end, and no call was open when the next one was dialled.
    expect(dialled).toEqual([[1], [0, 'control', 'limit']]);
    const [call] = await callsOf(run.id);
    expect(call).toMatchObject({ outcome: 'passed', attempts: [{ outcome: 'passed' }] });
    expect(call.platform.waitedForLineMs).toBeGreaterThan(4_000);
    expect(platform.requests.map(({ method }) => method)).not.toContain('DELETE');
  });
});
