import { ElevenLabsServer, server } from '../../libs/simulation/testing/elevenlabs.js';
import { platformApps } from '../support/platform-app.js';
import { executeRun } from '../support/run-app.js';
import { formsOfSecret } from '../support/secret-forms.js';
import { sql } from '../support/sql.js';
import { until } from '../support/until.js';

type Options = NonNullable<Parameters<typeof ElevenLabsServer.start>[0]>;

const KEY = 'sk_Of-the+Test/1234567890';
const greeting = server.response('Welcome!');
const TEXT = {
  onStart: [{ send: [server.metadata(), greeting] }],
  onTurn: Array.from({ length: 5 }, () => [{ send: [greeting] }]),
};
/** Nothing is answered, so the call goes on until something ends it. */
const SILENT = { onStart: [{ send: [server.metadata(), greeting] }] };
const WAITS = { script: [{ say: 'Hello' }] };

describe('calls of agents of ElevenLabs', () => {
  const serve = platformApps();
  const prepare = async (options: Options, evaluation: object = {}, env: NodeJS.ProcessEnv = {}) => {
    const platform = await ElevenLabsServer.start({ apiKey: KEY, ...options });
    return serve({ protocol: 'elevenlabs', apiKey: KEY }, platform, evaluation, env);
  };
  const first = ({ agents }: ElevenLabsServer, index = 0) => agents[index]!.received[0]!;

  it('give it the variables of connection, evaluation and run, each above the one before, and the version', async () => {
    const evaluation = {
      agentVariables: { name: 'Rossi', people: '{{people}}', note: 'for {{people}}' },
      variables: [{ people: 4 }],
    };
    const { client, agentId, platform, callsOf } = await prepare({ script: TEXT }, evaluation);
    const options = { variables: { name: 'nobody', shop: 'Roma' }, mockTools: true };
    const connection = { protocol: 'elevenlabs', url: platform.url, options };
    expect(await client.put(`/agents/${agentId}/connection`, connection)).toMatchObject({ status: 200 });
    const ofRun = { note: 'window', isRegular: true };
    const body = { medium: 'text', agentVariables: ofRun, assistantVersion: 'agtbrch_1' };
    const run = await executeRun(client, agentId, body);
    expect(run).toMatchObject({ status: 'COMPLETED', agentVariables: ofRun, assistantVersion: 'agtbrch_1' });
    const shown = { name: 'Rossi', people: 4, note: 'window', isRegular: true };
    expect(first(platform)).toMatchObject({
      dynamic_variables: { shop: 'Roma', ...shown },
      tool_mock_config: { mocking_strategy: 'selected', mocked_tool_names: [], fallback_strategy: 'raise_error' },
    });
    expect(platform.requests[0]!.url).toMatch(/branch_id=agtbrch_1/);
    const withId = { agentVariables: shown, assistantVersion: 'agtbrch_1', platform: { id: 'conv_1' } };
    expect((await callsOf(run.id))[0]).toMatchObject(withId);

    const later = await executeRun(client, agentId, { medium: 'text', assistantVersion: 'agtvrsn_2' });
    expect(platform.requests[1]!.url).toMatch(/version_id=agtvrsn_2/);
    const { current, baseline, warnings } = (await client.get(`/runs/${later.id}/comparison`)).body.data;
    expect(baseline).toMatchObject({ agentVariables: ofRun, assistantVersion: 'agtbrch_1' });
    expect(current).toMatchObject({ agentVariables: {}, assistantVersion: 'agtvrsn_2' });
    expect(warnings).toEqual(
      expect.arrayContaining([
        'The runs gave the agent different agentVariables: isRegular, note.',
        'The runs asked for different versions: "agtbrch_1", then "agtvrsn_2".',
      ]),
    );
  });

  it('wait, without an attempt and without costs, while the platform refuses them as too many', async () => {
    let refusals = 2;
    const script = {
      ...TEXT,
      get onStart() {
        const close = { code: 1008, reason: 'Too many concurrent calls' };
        return refusals-- > 0 ? [{ send: [server.metadata()], close }] : TEXT.onStart;
      },
    };
    const { client, agentId, platform, callsOf } = await prepare({ script });
    const run = await executeRun(client, agentId, { medium: 'text', maxPaidAttempts: 1 });
    expect(run).toMatchObject({ status: 'COMPLETED', retriedCalls: 0, callsThatWaited: 1 });
    const [call] = await callsOf(run.id);
    expect(call).toMatchObject({ outcome: 'passed', attempts: [{ outcome: 'passed' }] });
    expect(call.platform.waitedForLineMs).toBeGreaterThan(5_000);
    expect(platform.agents).toHaveLength(3);
  });

  it('keep key and signed address out of the ledger', async () => {
    const { platform, app, client, start } = await prepare({ script: SILENT }, WAITS);
    const id = await start({ medium: 'text' });
    await until('the call is open', () => platform.openCalls === 1);
    const signature = /conversation_signature=([^&]+)/.exec(platform.upgrades[0]!.url)![1]!;
    const [row] = await sql<any>(app.databaseUrl, 'SELECT to_jsonb(p) AS stored FROM platform_calls p');
    expect(row.stored).toMatchObject({ state: 'placed', handle: expect.any(String), credential: expect.any(String) });
    // Its JSON, encrypted with the key of the service.
    expect(row.stored.handle).not.toBe('null');
    const stored = JSON.stringify(row.stored);
    for (const secret of [...formsOfSecret(KEY), ...formsOfSecret(signature)]) expect(stored).not.toContain(secret);
    await client.post(`/runs/${id}/cancel`);
    await until('it has ended', async () => {
      const [ended] = await sql<any>(app.databaseUrl, 'SELECT state, handle FROM platform_calls');
      return ended.state === 'ended' && ended.handle === null;
    });
  });

  it('leave a line for a connection test, or it is refused, and both are in the ledger', async () => {
    const env = { AGENT_PROVIDER_1_CONCURRENCY: '1', AGENT_PROVIDER_1_PROTOCOL: 'elevenlabs-text' };
    const { platform, app, client, agentId, start } = await prepare({ script: SILENT }, WAITS, env);
    const id = await start({ medium: 'text' });
    await until('the call is open', () => platform.openCalls === 1);
    const refused = await client.post(`/agents/${agentId}/connection/test`);
    const issues = [{ message: expect.stringContaining('carries as many calls of its key as it may') }];
    expect(refused).toMatchObject({ status: 429, body: { issues } });
    expect(refused.headers.get('retry-after')).toBe('10');
    await client.post(`/runs/${id}/cancel`);
    await until('the line is free', async () => {
      const open = await sql(app.databaseUrl, `SELECT 1 FROM platform_calls WHERE state <> 'ended'`);
      return open.length === 0;
    });
    expect(await client.post(`/agents/${agentId}/connection/test`)).toMatchObject({
      status: 200,
      body: { data: { ok: true } },
    });
    expect(platform.agents).toHaveLength(2);
    await until('the test is closed', () => platform.openCalls === 0);
    expect(
      await sql(
        app.databaseUrl,
        'SELECT state, call_id IS NULL AS "isTest", placed_at IS NOT NULL AS "isPlaced" FROM platform_calls ORDER BY created_at',
      ),
    ).toEqual([
      { state: 'ended', isTest: false, isPlaced: true },
      { state: 'ended', isTest: true, isPlaced: true },
    ]);
  });
});
