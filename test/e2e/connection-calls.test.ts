import type { IncomingMessage, ServerResponse } from 'node:http';
import { streamText, TestServers } from '../simulators/servers.js';
import { agentBody } from '../factories/bodies.js';
import { UUID } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

interface Received {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly messages: { role: string; content: string }[];
}

describe('calls over the connection of an agent', () => {
  let app: TestApp;
  let servers: TestServers;

  beforeAll(async () => {
    app = await createTestApp({ env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  });
  beforeEach(() => {
    servers = new TestServers();
  });
  afterEach(() => servers.close());
  afterAll(() => app.close());

  /** An agent that records its requests. @param behave returns the text of the answer, or writes it itself */
  const startAgent = async (
    behave: (received: Received, response: ServerResponse) => string | void | Promise<string | void> = () => 'Welcome!',
  ) => {
    const requests: Received[] = [];
    const url = await servers.http((response, body, request) => {
      const received = { url: request.url ?? '', headers: request.headers, messages: body.messages };
      requests.push(received);
      void Promise.resolve(behave(received, response)).then((text) => {
        if (typeof text === 'string') streamText(response, text);
      });
    });
    return { url, requests };
  };
  const callsOf = async (client: HttpClient, run: { id: string }): Promise<any[]> => {
    const { body } = await client.get<any>(`/runs/${run.id}/calls`);
    return Promise.all(body.data.map(async ({ id }: any) => (await client.get<any>(`/calls/${id}`)).body.data));
  };
  const connect = async (client: HttpClient, agentId: string, connection: object) =>
    expect(await client.put(`/agents/${agentId}/connection`, connection)).toMatchObject({ status: 200 });

  it('reach twelve agents on twelve addresses of one workspace, without a setting of the service', async () => {
    const { client, personalityId } = await prepareEvaluations(app);
    const agents = await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        const agent = await startAgent(() => `Welcome to agent ${n}!`);
        const { body } = await client.post<any>('/agents', agentBody({ assistantId: `assistant-${n}` }));
        const agentId = body.data.id as string;
        await connect(client, agentId, { url: `${agent.url}/v1/chat/completions` });
        const checks = [{ name: 'Is this agent', type: 'says', text: `agent ${n}` }];
        await client.post(`/agents/${agentId}/evaluations`, { personalityId, ...shortEvaluation({ checks }) });
        return { agent, agentId };
      }),
    );
    const runs = await Promise.all(agents.map(({ agentId }) => executeRun(client, agentId)));
    expect(runs.map(({ status, counts }) => [status, counts.passed])).toEqual(agents.map(() => ['COMPLETED', 1]));
    expect(agents.map(({ agent }) => agent.requests.length)).toEqual(agents.map(() => 1));
  });

  it('send the headers and the id of the attempt, fill in the placeholders and record no secret', async () => {
    const agent = await startAgent();
    const { client, agentId } = await prepareEvaluations(
      app,
      [shortEvaluation({ vendorCallPhoneNumber: '+1 555/0100' })],
      { assistantId: 'a b/ü?' },
    );
    await connect(client, agentId, {
      url: `${agent.url}/{assistantId}/chat?to={phoneNumber}&call={callId}&code=topsecretvalue`,
      headers: { AUTHORIZATION: 'Token connection-token-1', 'X-Tenant': 'bella-vista' },
    });
    const [call] = await callsOf(client, await executeRun(client, agentId));
    const { callId } = call.attempts[0];
    expect(callId).toMatch(UUID);
    const path = `/a%20b%2F%C3%BC%3F/chat?to=%2B1%20555%2F0100&call=${callId}&code=topsecretvalue`;
    expect(agent.requests.map(({ url }) => url)).toEqual([path]);
    expect(agent.requests[0]?.headers).toMatchObject({
      authorization: 'Token connection-token-1',
      'x-tenant': 'bella-vista',
      'x-call-id': callId,
      'content-type': 'application/json',
    });
    expect(call.exchange).toMatchObject({
      protocol: 'chat-completions',
      url: `${agent.url}/a%20b%2F%C3%BC%3F/chat`,
      callId,
    });
    expect(call.versions.transport).toBe('chat-completions');
  });

  it('send the key of the agent unless the connection has an Authorization header', async () => {
    const agent = await startAgent();
    const { client, agentId } = await prepareEvaluations(app, undefined, { apiKey: 'key-of-the-agent' });
    await connect(client, agentId, { url: agent.url, headers: { 'X-Tenant': 'bella-vista' } });
    await executeRun(client, agentId);
    expect(agent.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer key-of-the-agent']);
  });

  it('read the connection when they begin', async () => {
    const later = await startAgent();
    const prepared = await prepareEvaluations(app, [shortEvaluation()]);
    const { client, agentId } = prepared;
    const first = await startAgent(async () => {
      await connect(client, agentId, { url: later.url });
      return 'Welcome!';
    });
    await connect(client, agentId, { url: first.url });
    const run = await executeRun(client, agentId, { repeat: 3, concurrency: 1 });
    expect(run.counts.passed).toBe(3);
    expect([first.requests.length, later.requests.length]).toEqual([1, 2]);
  });

  it('return 409 at the start of a run if there is no address, which the message says how to set', async () => {
    const { client, agentId } = await prepareEvaluations(app);
    const { status, body } = await client.post<any>(`/agents/${agentId}/runs`, {});
    expect([status, body.message]).toEqual([409, expect.stringMatching(/connection.*AGENT_PROVIDER_1_URL/)]);
  });

  describe('if the agent speaks first', () => {
    it.each(['INBOUND', 'OUTBOUND'])('begin with the greeting of an %s agent', async (type) => {
      const agent = await startAgent(({ messages }) =>
        messages.length === 0 ? 'Welcome, this is Bella.' : 'Goodbye.',
      );
      const script = [{ say: 'Hello' }, { end: 'Greeted' }];
      const checks = [{ name: 'Greets', type: 'says', text: 'this is Bella' }];
      const { client, agentId } = await prepareEvaluations(app, [shortEvaluation({ script, checks })], { type });
      await connect(client, agentId, { url: agent.url, firstSpeaker: 'agent' });
      const run = await executeRun(client, agentId);
      expect(run).toMatchObject({ status: 'COMPLETED', counts: { passed: 1 } });
      expect(agent.requests.map(({ messages }) => messages)).toEqual([
        [],
        [
          { role: 'assistant', content: 'Welcome, this is Bella.' },
          { role: 'user', content: 'Hello' },
        ],
      ]);
      const [call] = await callsOf(client, run);
      expect(call.timeline[0]).toMatchObject({
        type: 'speech',
        speaker: 'agent',
        text: 'Welcome, this is Bella.',
        turn: 0,
      });
      expect(call.measures).toMatchObject({ turns: 1, timeToFirstWordMs: call.timeline[0].start });
    });

    it('take the greeting as an answer to a script', async () => {
      const agent = await startAgent(({ messages }) =>
        messages.length === 0 ? 'For how many people?' : 'Welcome, it is booked.',
      );
      const script = [
        {
          answers: [{ when: { says: { text: 'how many' } }, say: 'Four' }],
          until: { says: { text: 'booked' } },
          otherwise: 'Pardon?',
        },
        { end: 'Booked' },
      ];
      const { client, agentId } = await prepareEvaluations(app, [shortEvaluation({ script })]);
      await connect(client, agentId, { url: agent.url, firstSpeaker: 'agent' });
      expect((await executeRun(client, agentId)).counts.passed).toBe(1);
    });

    it('test an OUTBOUND agent that waits for the person it called to speak', async () => {
      const agent = await startAgent();
      const { client, agentId } = await prepareEvaluations(app, undefined, { type: 'OUTBOUND' });
      await connect(client, agentId, { url: agent.url });
      expect((await executeRun(client, agentId)).counts.passed).toBe(1);
      expect(agent.requests[0]?.messages).toEqual([{ role: 'user', content: 'Hello' }]);
    });
  });

  it('never send headers or the request to another origin: redirects are not followed', async () => {
    const elsewhere = await startAgent();
    for (const status of [301, 302, 307, 308]) {
      const agent = await startAgent((_received, response) => {
        response.writeHead(status, { Location: `${elsewhere.url}/v1` }).end();
      });
      const { client, agentId } = await prepareEvaluations(app);
      await connect(client, agentId, { url: agent.url, headers: { 'X-Token': 'connection-token-1' } });
      const [call] = await callsOf(client, await executeRun(client, agentId));
      expect(call).toMatchObject({ outcome: 'error', failure: { code: 'redirect' } });
      expect(agent.requests).toHaveLength(1);
    }
    expect(elsewhere.requests).toEqual([]);
  });

  describe('with an agent that repeats its headers', () => {
    const headers = {
      Authorization: 'Bearer tok-4711-end',
      Cookie: 'sid=hunter22; theme=dark',
      'X-Api-Key': 'Sommer!',
      'X-Long': 'value-of-the-connection-0123456789',
      'X-Basic': `Basic ${Buffer.from('operator:open-sesame').toString('base64')}`,
    };
    /** What must not appear, in any letter case. */
    const SECRETS = ['tok-4711', 'hunter22', 'sommer!', 'value-of-the-connection', '0123456789', 'open-sesame'];
    const expectClean = (text: string) => {
      for (const secret of SECRETS) expect(text.toLowerCase()).not.toContain(secret);
    };
    const echo = ({ headers: received }: Received) =>
      `You sent ${JSON.stringify(received)}, token ${received.authorization?.split(' ')[1]}, and open-sesame.`;

    it.each<[string, (received: Received, response: ServerResponse) => string | void]>([
      ['in its words', echo],
      [
        'in the arguments of a tool',
        (received, response) => {
          const call = {
            index: 0,
            id: 'a',
            function: { name: 'log', arguments: JSON.stringify({ text: echo(received) }) },
          };
          const message = { content: 'Welcome!', tool_calls: [call] };
          response.end(JSON.stringify({ choices: [{ message, finish_reason: 'stop' }] }));
        },
      ],
      ['in an error status', (received, response) => void response.writeHead(401).end(echo(received))],
      ['in an answer that is not JSON', (received, response) => void response.end(`{ ${echo(received)}`)],
      [
        'in an error object',
        (received, response) => void response.end(JSON.stringify({ error: { message: echo(received) } })),
      ],
      [
        'as the reason for hanging up',
        (received, response) => {
          const call = {
            id: 'a',
            function: { name: 'end_call', arguments: JSON.stringify({ reason: echo(received) }) },
          };
          response.end(JSON.stringify({ choices: [{ message: { tool_calls: [call] }, finish_reason: 'tool_calls' }] }));
        },
      ],
    ])(
      '%s, show no secret',
      async (_where, behave) => {
        const agent = await startAgent(behave);
        const { client, agentId } = await prepareEvaluations(app, [
          shortEvaluation({ checks: [{ name: 'Says Hello', type: 'says', speaker: 'caller', text: 'Hello' }] }),
        ]);
        await connect(client, agentId, { url: agent.url, headers });
        const run = await executeRun(client, agentId);
        expect(agent.requests[0]?.headers['x-api-key']).toBe('Sommer!');
        const [call] = await callsOf(client, run);
        expect(JSON.stringify(call)).toContain('[redacted]');
        expectClean(JSON.stringify(call));
        expectClean(JSON.stringify(run));
        for (const page of ['report', 'junit']) expectClean((await client.get<string>(`/runs/${run.id}/${page}`)).body);
      },
      30_000,
    );
  });

  describe('with a default key of the workspace', () => {
    const DEFAULT_KEY = 'default-key-of-the-workspace';

    it('never send it to an address that an EDITOR has set, in whatever order the settings are changed', async () => {
      const evil = await startAgent();
      const prepared = await prepareEvaluations(app, [shortEvaluation()], { apiKey: 'key-of-the-agent' });
      const { client: admin, agentId } = prepared;
      const editor = admin.as((await createKey(app, prepared, 'EDITOR')).value);
      await admin.put('/workspace/provider-keys/AGENT_PROVIDER_1', { apiKey: DEFAULT_KEY });
      const path = `/agents/${agentId}`;
      const changes: (() => Promise<unknown>)[] = [
        () => editor.patch(path, { isUsingDefaultApiKey: true }),
        () => editor.put(`${path}/connection`, { url: evil.url }),
        () => editor.patch(path, { isUsingDefaultApiKey: false }),
        () => editor.delete(`${path}/connection`),
      ];
      // Every order of three changes, each followed by a run, one right after another.
      for (const a of changes)
        for (const b of changes)
          for (const c of changes) {
            for (const change of [a, b, c]) await change();
            await editor.post(`${path}/runs`, {});
          }
      const { body } = await editor.get<any>(`${path}/runs?limit=100`);
      for (const { id } of body.data) await editor.get(`/runs/${id}?wait=30`);
      expect(evil.requests.length).toBeGreaterThan(0);
      expect(new Set(evil.requests.map(({ headers }) => headers.authorization))).toEqual(
        new Set(['Bearer key-of-the-agent']),
      );
    }, 60_000);

    it('send it to an address that an ADMIN has set', async () => {
      const agent = await startAgent();
      const { client, agentId } = await prepareEvaluations(app);
      await client.put('/workspace/provider-keys/AGENT_PROVIDER_1', { apiKey: DEFAULT_KEY });
      await client.patch(`/agents/${agentId}`, { isUsingDefaultApiKey: true });
      await connect(client, agentId, { url: agent.url });
      await executeRun(client, agentId);
      expect(agent.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${DEFAULT_KEY}`]);
    });
  });
});
