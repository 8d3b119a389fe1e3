import { streamText, TestServers } from '../simulators/servers.js';
import { ConnectionService } from '../../src/modules/agents/connection/connection.service.js';
import type { HttpClient } from '../support/http.js';
import { usePaidPlatform } from '../../libs/simulation/testing/paid-platform/register.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

// Can be judged over either protocol.
const EVALUATION = shortEvaluation({ checks: [{ name: 'Is short', type: 'max_turns', turns: 9 }] });

usePaidPlatform();

describe('a run over the other protocol of a platform', () => {
  let servers: TestServers;
  let url: string;
  let app: TestApp;
  const requests: { path: string; headers: Record<string, unknown> }[] = [];

  beforeAll(async () => {
    servers = new TestServers();
    url = await servers.http((response, _body, { url: path = '', headers }) => {
      requests.push({ path, headers });
      if (path === '/calls') response.writeHead(201).end('{"id":"call-1"}');
      else if (path.startsWith('/calls/')) response.end();
      else streamText(response, 'Welcome!');
    });
    const env = {
      ...callEnv(url),
      AGENT_PROVIDER_1_PROTOCOL: 'paid-voice',
      AGENT_PROVIDER_2_PROTOCOL: 'twilio-media-streams',
      AGENT_PROVIDER_2_TEXT_PROTOCOL: 'paid-text',
      AGENT_PROVIDER_2_URL: url,
      AGENT_PROVIDER_3_PROTOCOL: 'twilio-media-streams',
      AGENT_PROVIDER_3_TEXT_PROTOCOL: 'chat-completions',
    };
    app = await createTestApp({ env });
  });
  beforeEach(() => void requests.splice(0));
  afterAll(async () => {
    await app.close();
    await servers.close();
  });

  const prepare = (agent: object) => prepareEvaluations(app, [EVALUATION], agent);
  /** By SQL, because PUT knows the protocols of production only. */
  const connect = async (
    { client, agentId }: { client: HttpClient; agentId: string },
    protocol: string,
    options = {},
  ) => {
    const connection = { url, headers: { 'X-Tenant': 'bella-vista' } };
    expect(await client.put(`/agents/${agentId}/connection`, connection)).toMatchObject({ status: 200 });
    const set = 'UPDATE agent_connections SET protocol = $2, options = $3 WHERE agent_id = $1';
    await sql(app.databaseUrl, set, [agentId, protocol, JSON.stringify(options)]);
  };
  const callOf = async ({ client }: Awaited<ReturnType<typeof prepare>>, run: { id: string }): Promise<any> => {
    const { body } = await client.get(`/runs/${run.id}/calls`);
    return (await client.get(`/calls/${body.data[0].id}`)).body.data;
  };

  it.each([
    ['the protocol of its provider', { provider: 'AGENT_PROVIDER_1' }],
    ['the second protocol of its provider', { provider: 'AGENT_PROVIDER_2' }],
  ])('reaches an agent with key and id alone by %s', async (_, agent) => {
    const prepared = await prepare({ ...agent, apiKey: 'key-of-the-agent', assistantId: 'assistant-9' });
    const run = await executeRun(prepared.client, prepared.agentId, { medium: 'text' });
    expect(run).toMatchObject({ status: 'COMPLETED' });
    expect(await callOf(prepared, run)).toMatchObject({ outcome: 'passed', protocol: 'paid-text', medium: 'text' });
    expect(requests[0]).toMatchObject({ path: '/calls', headers: { authorization: 'Bearer key-of-the-agent' } });
  });

  it('uses the address, the headers, the key and the known options of the own connection', async () => {
    const prepared = await prepare({ provider: 'AGENT_PROVIDER_3', apiKey: 'key-of-the-agent' });
    const { client, agentId } = prepared;
    await connect(prepared, 'paid-voice', { accent: 'Scottish' });
    const run = await executeRun(client, agentId, { medium: 'text' });
    const call = await callOf(prepared, run);
    expect(call).toMatchObject({ outcome: 'passed', protocol: 'paid-text', exchange: { url: expect.any(String) } });
    expect(requests).toMatchObject([
      { path: '/calls', headers: { authorization: 'Bearer key-of-the-agent' } },
      { path: `/attempts/${call.attempts[0].callId}/chat`, headers: { 'x-tenant': 'bella-vista' } },
      { path: '/calls/call-1' },
    ]);
    const endpoint = (protocol: string) => app.nest.get(ConnectionService).endpoint(agentId, protocol);
    expect(await endpoint('paid-voice')).toMatchObject({ protocol: 'paid-voice', options: { accent: 'Scottish' } });
    expect(await endpoint('paid-text')).toMatchObject({ protocol: 'paid-text', url, options: {} });
    // Without a medium, that of the connection.
    const plan = await client.post(`/agents/${agentId}/runs`, { dryRun: true });
    expect(plan.body.data).toMatchObject({ protocol: 'paid-voice', medium: 'voice' });
  });

  it('is refused if the protocol of that medium has no address, which names the setting', async () => {
    const { client, agentId } = await prepare({ provider: 'AGENT_PROVIDER_3' });
    expect(await client.post(`/agents/${agentId}/runs`, { medium: 'text' })).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('AGENT_PROVIDER_3_URL') },
    });
  });

  it('sends the default key of a provider to the twin of its protocol, and to no other platform', async () => {
    const { client } = await prepare({});
    await client.put('/workspace/provider-keys/AGENT_PROVIDER_1', { apiKey: 'default-key-of-1' });
    await client.put('/workspace/provider-keys/AGENT_PROVIDER_3', { apiKey: 'default-key-of-3' });
    const sentTo = async (provider: string) => {
      const agent = { provider, assistantId: 'a', isUsingDefaultApiKey: true };
      const agentId: string = (await client.post('/agents', agent)).body.data.id;
      await connect({ client, agentId }, 'paid-text');
      return app.nest.get(ConnectionService).endpoint(agentId, 'paid-voice');
    };
    expect(await sentTo('AGENT_PROVIDER_1')).toMatchObject({ protocol: 'paid-voice', apiKey: 'default-key-of-1' });
    expect(await sentTo('AGENT_PROVIDER_3')).not.toHaveProperty('apiKey');
  });
});
