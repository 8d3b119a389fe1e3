import { createHmac } from 'node:crypto';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { type AgentScript, connect, ScriptedAgent, type Webhook } from '../simulators/twilio/twilio-agent.js';
import { silence, SOUNDS, toMulaw } from '../../libs/simulation/testing/telephone-sounds.js';
import { agentBody } from '../factories/bodies.js';
import { UUID } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const AUTH_TOKEN = 'auth-token-12345678';
const AUDIO = toMulaw(SOUNDS.speech!(8_000));

/** An agent that checks signatures over the addresses that it is called at. */
const checking = (more: AgentScript = {}): AgentScript => ({
  webhook: (request, { host }, response) =>
    isSigned(request, `http://${host}${request.path}`)
      ? connect('/media')
      : void response.writeHead(403).end('wrong signature'),
  onStart: (stream) => stream.play(AUDIO),
  ...more,
});

function isSigned({ headers, form }: Webhook, url: string): boolean {
  const signed = Object.entries(form).sort().flat().join('');
  const expected = createHmac('sha1', AUTH_TOKEN).update(`${url}${signed}`).digest('base64');
  return headers['x-twilio-signature'] === expected;
}

describe('the test of a connection over Twilio Media Streams', () => {
  let app: TestApp;
  let admin: HttpClient;
  const agents: ScriptedAgent[] = [];

  beforeAll(async () => {
    app = await createTestApp({ env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.1/32' } });
  });
  beforeEach(async () => {
    admin = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
  });
  afterEach(async () => {
    for (const agent of agents.splice(0)) await agent.stop();
  });
  afterAll(() => app.close());

  const start = async (script: AgentScript): Promise<ScriptedAgent> => {
    const agent = await ScriptedAgent.start(script);
    agents.push(agent);
    return agent;
  };
  const connectionOf = async (connection: object): Promise<string> => {
    const { body } = await admin.post<any>('/agents', agentBody({ apiKey: AUTH_TOKEN }));
    const path = `/agents/${body.data.id}/connection`;
    expect(await admin.put(path, { protocol: 'twilio-media-streams', ...connection })).toMatchObject({ status: 200 });
    return path;
  };
  const test = async (connection: object): Promise<any> => {
    const { status, body } = await admin.post<any>(`${await connectionOf(connection)}/test`);
    expect([status, body.message]).toEqual([200, 'Connection tested']);
    return body.data;
  };
  const statuses = ({ steps }: any) => Object.fromEntries(steps.map(({ step, status }: any) => [step, status]));
  const failed = ({ steps }: any) => steps.find(({ status }: any) => status === 'failed');

  it('never returns the authToken, and keeps it encrypted', async () => {
    const options = {
      authToken: 'another-token-1',
      publicUrl: 'https://agent.example.com/voice',
      parameters: { a: 'b' },
    };
    const path = await connectionOf({ url: 'https://agent.example.com/voice', options });
    const { body } = await admin.get<any>(path);
    expect(body.data).toMatchObject({
      protocol: 'twilio-media-streams',
      firstSpeaker: null,
      options: { ...options, authToken: null },
    });
    const rows = await sql(app.databaseUrl, 'SELECT * FROM agent_connections', []);
    expect(JSON.stringify(rows)).not.toContain('another-token-1');
  });

  it.each([
    [{ authToken: 5 }, 'options.authToken must be a string'],
    [{ publicUrl: 'ftp://x' }, 'options.publicUrl must be an absolute http, https, ws or wss address'],
    [{ publicUrl: 'https://u:p@x/' }, 'options.publicUrl must be an absolute'],
    [{ accountSid: 'AC1' }, 'options.accountSid must be an account SID'],
    [{ parameters: { a: 1 } }, 'options.parameters must be an object'],
    [{ parameters: ['a'] }, 'options.parameters must be an object'],
    [{ from: '' }, 'options.from must be a string'],
    [{ method: 'PUT' }, 'options.method must be GET or POST'],
    [{ voice: 'x' }, 'options.voice is not an option of the protocol'],
  ])('refuses the options %j', async (options, issue) => {
    const { body } = await admin.post<any>('/agents', agentBody());
    const response = await admin.put<any>(`/agents/${body.data.id}/connection`, {
      protocol: 'twilio-media-streams',
      url: 'wss://agent.example.com/media',
      options,
    });
    expect(response.status).toBe(400);
    expect(response.body.issues).toEqual([{ message: expect.stringContaining(issue), field: issue.split(' ')[0] }]);
  });

  it('shows each step from the webhook to the first sound', async () => {
    const agent = await start(checking());
    const result = await test({ url: `http://${agent.host}/voice` });
    expect(result).toMatchObject({ ok: true, callId: expect.stringMatching(UUID), findings: [] });
    expect(statuses(result)).toEqual({
      resolved: 'passed',
      connected: 'passed',
      secured: 'skipped',
      accepted: 'passed',
      twiml: 'passed',
      websocket: 'passed',
      answered: 'passed',
    });
    expect(agent.webhooks[0]!.headers['x-call-id']).toBe(result.callId);
    // The second one has a wrong signature.
    expect(agent.webhooks).toHaveLength(2);
    expect(agent.streams[0]!.messages.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['connected', 'start', 'stop']),
    );
  });

  it('needs no webhook for a WebSocket address', async () => {
    const agent = await start(checking());
    const result = await test({ url: `ws://${agent.host}/media` });
    expect(statuses(result)).toMatchObject({
      resolved: 'passed',
      accepted: 'skipped',
      twiml: 'skipped',
      answered: 'passed',
    });
    expect(result.findings).toEqual([
      expect.objectContaining({ code: 'signature_not_checked', detail: expect.stringContaining('upgrade') }),
    ]);
  });

  it('warns if the agent accepts a wrong signature', async () => {
    const agent = await start(checking({ webhook: () => connect('/media') }));
    const result = await test({ url: `http://${agent.host}/voice` });
    expect(result.ok).toBe(true);
    expect(result.findings).toEqual([
      {
        code: 'signature_not_checked',
        severity: 'warning',
        detail: expect.stringContaining('webhook'),
        source: expect.stringContaining('webhooks-security'),
      },
    ]);
  });

  it('says if the agent accepts the signature over the address without its port', async () => {
    const agent = await start(
      checking({
        webhook: (request, _agent, response) =>
          isSigned(request, 'http://127.0.0.1/voice') ? connect('/media') : void response.writeHead(403).end('no'),
      }),
    );
    const result = await test({ url: `http://${agent.host}/voice` });
    expect(failed(result)).toMatchObject({
      step: 'accepted',
      said: 'no',
      cure: expect.stringContaining('accepts the signature over http://127.0.0.1/voice: set publicUrl'),
    });
    expect(
      (await test({ url: `http://${agent.host}/voice`, options: { publicUrl: 'http://127.0.0.1/voice' } })).ok,
    ).toBe(true);
  });

  // ZeframLou/call-me#5, twilio/twilio-agent-connect-python#16.
  it('names what refused and how it is called if the WebSocket refuses, and the webhook accepts any signature', async () => {
    const agent = await start(
      checking({ webhook: (_request, { host }) => connect(`wss://${host}/media`), upgrade: () => 403 }),
    );
    const result = await test({ url: `http://${agent.host}/voice` });
    const { step, cure } = failed(result);
    expect(step).toBe('websocket');
    expect(cure).toContain('The webhook accepted the call, and the WebSocket of its <Stream> refused it');
    expect(cure).toContain(
      `called at ws://${agent.host}/media, with X-Twilio-Signature over wss://${agent.host}/media`,
    );
    expect(cure).not.toContain('publicUrl');
    expect(result.findings.map(({ code }: any) => code)).toEqual(['signature_not_checked']);
  });

  it('names the address that a refused signature covers, without its query', async () => {
    const agent = await start(checking({ webhook: (_r, _a, response) => void response.writeHead(403).end() }));
    const options = { publicUrl: 'https://agent.example.com/voice?token=1234567890' };
    const { cure } = failed(await test({ url: `http://${agent.host}/voice`, options }));
    expect(cure).toContain('The signature covers the address https://agent.example.com/voice: if');
  });

  it.each<[string, AgentScript, string, RegExp, RegExp]>([
    [
      'refuses every signature',
      { webhook: (_r, _a, res) => void res.writeHead(403).end() },
      'accepted',
      /403/,
      /authToken/,
    ],
    ['answers with no TwiML', { webhook: () => '{"ok":true}' }, 'twiml', /not TwiML/, /webhook for incoming calls/],
    [
      'has no stream',
      { webhook: () => '<Response><Say>Hi</Say></Response>' },
      'twiml',
      /no <Connect><Stream>/,
      /Connect/,
    ],
    ['refuses the WebSocket', checking({ upgrade: () => 404 }), 'websocket', /HTTP 404/, /path/],
    [
      'hangs up',
      checking({ onStart: ({ socket }) => socket.close() }),
      'answered',
      /hung up before it was heard/,
      /log/,
    ],
  ])('shows what failed if the agent %s', async (_name, script, step, message, cure) => {
    const agent = await start(script);
    const result = await test({ url: `http://${agent.host}/voice` });
    expect(failed(result)).toMatchObject({
      step,
      message: expect.stringMatching(message),
      cure: expect.stringMatching(cure),
    });
  });

  it('names the address of a stream that cannot be reached, and where it is from', async () => {
    const agent = await start(checking({ webhook: () => connect('ws://127.0.0.1:9/media?token=0123456789') }));
    const step = failed(await test({ url: `http://${agent.host}/voice` }));
    expect(step).toMatchObject({ step: 'websocket', cure: expect.stringContaining('url of <Stream>') });
    expect(step.message).toContain('(ws://127.0.0.1:9/media, which the TwiML names)');
  });

  it('offers publicUrl if the TwiML names another host than the webhook', async () => {
    const agent = await start(checking({ webhook: () => connect('ws://localhost:9/media') }));
    const step = failed(await test({ url: `http://${agent.host}/voice` }));
    expect(step.message).toContain('ws://localhost:9/media, which the TwiML names');
    expect(step.cure).toContain('set publicUrl to http://localhost:9/voice');
    // As the cure says.
    const mapped = await test({
      url: `http://${agent.host}/voice`,
      options: { publicUrl: 'http://localhost:9/voice' },
    });
    expect(mapped.ok).toBe(true);
  });

  it('expects no sound if the caller speaks first', async () => {
    const agent = await start(checking({ onStart: (stream) => stream.play(silence(20)) }));
    const result = await test({ url: `http://${agent.host}/voice`, firstSpeaker: 'caller' });
    expect(result.ok).toBe(true);
    expect(result.steps.at(-1)).toMatchObject({ status: 'skipped', message: 'The caller speaks first' });
  });

  it('reports deviations from the protocol', async () => {
    const agent = await start(
      checking({
        onStart: (stream) => {
          stream.socket.send(Buffer.from([1]));
          stream.play(AUDIO);
        },
      }),
    );
    const result = await test({ url: `http://${agent.host}/voice` });
    expect(result.findings).toMatchObject([{ code: 'binary_frame', severity: 'error' }]);
  });

  it('answers alike for a stream in a private network and one that is not there', async () => {
    const client = app.nest.get(OutboundClient);
    const resolve = client.resolve;
    client.resolve = () => Promise.resolve(['10.0.0.1']);
    const results: any[] = [];
    for (const url of ['wss://10.0.0.1/media', 'wss://internal.example/media']) {
      const agent = await start(checking({ webhook: () => connect(url) }));
      const result = await test({ url: `http://${agent.host}/voice` });
      const { step, message, said, ms, cure } = failed(result);
      expect(message).toContain(`${url}, which the TwiML names`);
      const [, host = ''] = /\/\/(.*)\//.exec(url) ?? [];
      expect(cure).toContain(`set publicUrl to https://${host}/voice`);
      results.push({ step, message: message.replace(url, ''), said, ms, cure: cure.replaceAll(host, '') });
    }
    client.resolve = resolve;
    expect(results[0]).toEqual(results[1]);
    expect(results[0]).toMatchObject({ step: 'websocket', message: expect.stringContaining('does not lead to') });
  });
});
