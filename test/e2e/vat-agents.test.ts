import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ScriptedAgent, startScriptedAgent } from '../simulators/agent/testing/scripted-agent.js';
import { HttpClient } from '../support/http.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { vat } from '../support/vat.js';

const KEY = 'sk_agent_1234567890';

describe('vat agent', () => {
  let app: TestApp;
  let agent: ScriptedAgent;
  let folder: string;
  let client: HttpClient;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    agent = await startScriptedAgent(() => 'Welcome!');
    const trunk = { AGENT_PROVIDER_2_SIP_TRUNK: 'sip:trunk.example.com' };
    app = await createTestApp({ env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32', ...trunk } });
    folder = await mkdtemp(path.join(tmpdir(), 'vat-agents-'));
  });
  beforeEach(async () => {
    const { apiKey } = await app.createWorkspace();
    client = new HttpClient(app.url, apiKey);
    env = { VAT_URL: app.url, VAT_API_KEY: apiKey };
  });
  afterAll(async () => {
    await Promise.all([app.close(), agent.close(), rm(folder, { recursive: true })]);
  });

  const run = (...args: string[]) => vat(['agent', ...args], env);
  const connectionOf = async (id: string) => (await client.get<any>(`/agents/${id}/connection`)).body.data;
  const create = async (...args: string[]) => {
    const created = await run('create', '--name', 'My agent', ...args);
    expect(created).toMatchObject({ code: 0 });
    return { ...created, id: created.stdout.trim() };
  };
  const fileOf = async (text: string) => {
    const file = path.join(folder, 'connection.json');
    await writeFile(file, text);
    return file;
  };

  it('create prints only the id of an agent that can be called, and list shows it', async () => {
    const { id, stderr } = await create('--address', agent.url);
    expect(stderr).toContain(`Created agent "My agent": chat-completions, ${agent.url}`);
    expect(stderr).toContain('Note: VAT_PROVIDER_KEY is not set');
    expect(await vat(['connection', 'test', '--agent', id], env)).toMatchObject({ code: 0 });
    const listed = await run('list');
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining(`${id}  My agent`)]);
    expect(listed).toEqual(await vat(['agents'], env));
  });

  it('create takes the key from the environment or from the file that it names, and prints it nowhere', async () => {
    for (const key of [{ VAT_PROVIDER_KEY: KEY }, { VAT_PROVIDER_KEY_FILE: await fileOf(`${KEY}\n`) }]) {
      env = { VAT_URL: app.url, VAT_API_KEY: env['VAT_API_KEY'], ...key };
      const { id, stdout, stderr } = await create('--address', agent.url, '--assistant', 'a-1', '--language', 'it');
      expect((await client.get<any>(`/agents/${id}`)).body.data).toMatchObject({
        ...{ apiKey: KEY, assistantId: 'a-1', language: 'it', provider: 'AGENT_PROVIDER_1' },
      });
      expect(stdout + stderr).not.toContain(KEY);
    }
  });

  it('create uses the default key of the workspace only if it is asked to', async () => {
    await client.put('/workspace/provider-keys/AGENT_PROVIDER_1', { apiKey: KEY });
    const own = await create('--address', agent.url);
    const shared = await create('--address', agent.url, '--default-key');
    const isDefault = async (id: string) => (await client.get<any>(`/agents/${id}`)).body.data.isUsingDefaultApiKey;
    expect([await isDefault(own.id), await isDefault(shared.id)]).toEqual([false, true]);
  });

  it('create without an address says how to set one', async () => {
    const { id, stderr } = await create();
    expect(stderr).toContain(`which has no address yet: vat agent connect --agent ${id} --address URL`);
  });

  it('create leaves no agent whose connection is refused, and names the option', async () => {
    const refused = await run('create', '--name', 'My agent', '--address', 'ftp://127.0.0.1/');
    expect([refused.code, refused.stdout]).toEqual([3, '']);
    expect(refused.stderr).toContain('--address: url must be an absolute address');
    expect((await client.get<any>('/agents')).body.meta.total).toBe(0);
  });

  it('create requires a key and an id for the address of a vendor', async () => {
    const args = ['create', '--name', 'My agent', '--protocol', 'vapi'];
    expect((await run(...args)).stderr).toContain('VAT_PROVIDER_KEY is not set');
    env['VAT_PROVIDER_KEY'] = KEY;
    expect((await run(...args)).stderr).toContain('--assistant is missing');
    const { id } = await create('--protocol', 'vapi', '--assistant', 'a-1');
    expect(await connectionOf(id)).toMatchObject({ protocol: 'vapi', address: 'vendor' });
  });

  it('create takes a telephone number in place of an address, and connect changes it', async () => {
    const number = ['--type', 'INBOUND', '--phone-number', '+390612345678', '--phone-number-id', 'n-1'];
    const { id, stderr } = await create('--protocol', 'sip', '--provider', 'AGENT_PROVIDER_2', ...number);
    expect(stderr).toBe('Created agent "My agent": sip, {phoneNumber}\n');
    const shown = async () => (await client.get<any>(`/agents/${id}`)).body.data;
    expect(await shown()).toMatchObject({ type: 'INBOUND', phoneNumber: '+390612345678', phoneNumberId: 'n-1' });
    const changes = ['--type', 'OUTBOUND', '--phone-number', '+390612345679', '--phone-number-id', 'n-2'];
    expect((await run('connect', '--agent', id, ...changes)).code).toBe(0);
    expect(await shown()).toMatchObject({ type: 'OUTBOUND', phoneNumber: '+390612345679', phoneNumberId: 'n-2' });
    const refused = await run('create', '--name', 'My agent', '--type', 'SIDEWAYS');
    expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('--type: type must be one of')]);
  });

  it.each([
    [{ protocol: 'sip', url: 'sip:agent@sip.example.com' }, false],
    [{ protocol: 'sip', url: 'sip:sip.example.com', options: { trigger: 'https://agent.example.com/call' } }, false],
    [{ protocol: 'sip', url: 'sip:sip.example.com', options: { trigger: 'vapi' } }, true],
    [{ protocol: 'sip', url: 'sip:agent@sip.example.com', options: { records: 'retell' } }, true],
    [
      { protocol: 'chat-completions', url: 'https://agent.example.com/', headers: { Authorization: 'Bearer a' } },
      false,
    ],
    [{ protocol: 'openai-realtime', url: 'wss://agent.example.com/', headers: { 'api-key': 'a' } }, false],
    [{ protocol: 'chat-completions', url: 'https://agent.example.com/', headers: { 'X-Tenant': 'a' } }, true],
  ])('create says that there is no key only if calls send it: %j', async (connection, isSaid) => {
    const { stderr } = await create('--connection', await fileOf(JSON.stringify(connection)));
    expect(stderr.includes('VAT_PROVIDER_KEY')).toBe(isSaid);
  });

  it('create requires a name, also with a misspelt option', async () => {
    expect(await run('create')).toMatchObject({ code: 3, stderr: expect.stringContaining('--name') });
    expect(await run('create', '--adress', 'x')).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('--adress'),
    });
  });

  it('connect replaces the connection by that of a file and of the options, without printing the headers', async () => {
    const { id } = await create('--address', 'https://agent.example.com/');
    const body = {
      url: 'https://other.example.com/',
      firstSpeaker: 'agent',
      headers: { 'X-Tenant': 'tenant-secret-1' },
      options: { toolCalls: 'reported' },
    };
    const connected = await run(
      'connect',
      '--agent',
      id,
      '--connection',
      await fileOf(JSON.stringify(body)),
      '--address',
      agent.url,
    );
    expect([connected.code, connected.stdout]).toEqual([
      0,
      `Connected agent "My agent": chat-completions, ${agent.url}, headers: X-Tenant, options: toolCalls\n`,
    ]);
    expect(await connectionOf(id)).toMatchObject({
      url: agent.url,
      firstSpeaker: 'agent',
      headers: { 'X-Tenant': null },
    });
    expect((await run('connect', '--agent', id, '--address', agent.url)).code).toBe(0);
    expect(await connectionOf(id)).toMatchObject({ firstSpeaker: 'caller', headers: {}, options: {} });
  });

  it('connect changes the id at the platform and, on request, the key, and keeps the connection', async () => {
    const { id } = await create('--address', agent.url);
    env['VAT_PROVIDER_KEY'] = KEY;
    expect((await run('connect', '--agent', id, '--assistant', 'a-2')).code).toBe(0);
    const shown = async () => (await client.get<any>(`/agents/${id}`)).body.data;
    expect(await shown()).toMatchObject({ assistantId: 'a-2', apiKey: 'none' });
    expect((await run('connect', '--agent', id, '--new-key')).code).toBe(0);
    expect(await shown()).toMatchObject({ assistantId: 'a-2', apiKey: KEY });
    expect(await connectionOf(id)).toMatchObject({ url: agent.url });
  });

  it.each([
    ['{"headers": {"X-Tenant": "tenant-secret-1"', 'is not a JSON object'],
    ['["tenant-secret-1"]', 'is not a JSON object'],
    ['{"adress": "tenant-secret-1"}', 'adress is not a known field'],
  ])('connect refuses the file %s without showing its values', async (text, message) => {
    const { id } = await create('--address', agent.url);
    const { code, stderr } = await run('connect', '--agent', id, '--connection', await fileOf(text));
    expect([code, stderr]).toEqual([3, expect.stringContaining(message)]);
    expect(stderr).not.toContain('tenant-secret-1');
  });

  it('connect says that there is nothing to change, that a file is missing, and that the agent is unknown', async () => {
    const id = '9b2f1c5e-7d4a-4c1b-8f3e-2a6d5b4c3f10';
    expect((await run('connect', '--agent', id)).stderr).toContain('Nothing to change');
    expect((await run('connect', '--agent', id, '--connection', 'none.json')).stderr).toContain('cannot be read');
    expect((await run('connect', '--agent', id, '--address', agent.url)).stderr).toContain(`Agent ${id} not found`);
  });
});
