import type { ServerResponse } from 'node:http';
import { PROTOCOLS } from '../../libs/simulation/index.js';
import { streamText, TestServers } from '../simulators/servers.js';
import type { HttpClient } from '../support/http.js';
import { callEnv, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

// Can be judged over either protocol.
const EVALUATION = shortEvaluation({ checks: [{ name: 'Is short', type: 'max_turns', turns: 9 }] });
const TWILIO = { protocol: 'twilio-media-streams', url: 'ws://127.0.0.1:9/twilio' };

describe('the protocol of a run', () => {
  let servers: TestServers;
  let database: TestDatabase;
  let url: string;
  let answer: (response: ServerResponse) => void | Promise<void>;
  let requests = 0;
  /** Starts runs, which wait until `worker` executes them. */
  let api: TestApp;

  beforeAll(async () => {
    servers = new TestServers();
    url = `${await servers.http((response) => {
      requests++;
      void answer(response);
    })}/v1/chat/completions`;
    database = await createTestDatabase();
    api = await createTestApp({ env: { ...callEnv(url), ROLE: 'api' }, databaseUrl: database.url });
  });
  beforeEach(() => {
    requests = 0;
    answer = (response) => streamText(response, 'Welcome!');
  });
  afterAll(async () => {
    await api.close();
    await servers.close();
    await database.drop();
  });

  const prepare = async (connection?: object) => {
    const { client, agentId } = await prepareEvaluations(api, [EVALUATION]);
    const connect = async (body: object) =>
      expect(await client.put(`/agents/${agentId}/connection`, body)).toMatchObject({ status: 200 });
    if (connection) await connect(connection);
    const start = (body: object = {}) => client.post(`/agents/${agentId}/runs`, body);
    return { client, agentId, connect, start };
  };
  const idOf = (response: { status: number; body: any }): string => {
    expect(response).toMatchObject({ status: 201 });
    return response.body.data.id;
  };
  const callOf = async (client: HttpClient, runId: string): Promise<any> => {
    const { body } = await client.get(`/runs/${runId}/calls`);
    return (await client.get(`/calls/${body.data[0].id}`)).body.data;
  };
  /** Executes waiting calls until the run has ended, and returns its call. */
  const ended = async (client: HttpClient, runId: string): Promise<any> => {
    const worker = await createTestApp({ env: callEnv(url), databaseUrl: database.url });
    try {
      expect((await client.get(`/runs/${runId}?wait=60`)).body.data.endedAt).toEqual(expect.any(String));
      return await callOf(client, runId);
    } finally {
      await worker.close();
    }
  };

  it('is that of the settings, or of the own connection, and each call shows it before it begins', async () => {
    const { client, connect, start } = await prepare();
    expect(await callOf(client, idOf(await start()))).toMatchObject({ protocol: 'chat-completions', medium: 'text' });
    await connect(TWILIO);
    const call = await callOf(client, idOf(await start()));
    expect(call).toMatchObject({ status: 'QUEUED', protocol: 'twilio-media-streams', medium: 'voice' });
    expect((await start({ dryRun: true })).body.data).toMatchObject({
      protocol: 'twilio-media-streams',
      medium: 'voice',
    });
  });

  it('is asked for by medium, and the run is refused if the agent has none of that medium', async () => {
    const { client, agentId, connect, start } = await prepare();
    expect(idOf(await start({ medium: 'text' }))).toEqual(expect.any(String));
    const cure = (medium: string) => {
      const names = PROTOCOLS.names.filter((name) => PROTOCOLS.of(name).medium === medium);
      return `and there is no protocol of the same platform for ${medium} calls: leave medium out, or set a connection with a protocol for ${medium} calls (${names.join(', ')})`;
    };
    for (const dryRun of [false, true]) {
      expect(await start({ medium: 'voice', dryRun })).toMatchObject({
        status: 409,
        body: {
          message: `medium is voice, and the protocol of AGENT_PROVIDER_1_PROTOCOL, chat-completions, is for text calls, ${cure('voice')}`,
        },
      });
    }
    await connect(TWILIO);
    expect(idOf(await start({ medium: 'voice' }))).toEqual(expect.any(String));
    // Not those of the settings: another agent would be called.
    expect(await start({ medium: 'text' })).toMatchObject({
      status: 409,
      body: {
        message: `medium is text, and the protocol of the agent's connection, twilio-media-streams, is for voice calls, ${cure('text')}`,
      },
    });
    expect((await client.get(`/agents/${agentId}/runs`)).body.meta.total).toBe(2);
  });

  it.each(['sound', 'TEXT', '', null, 1, ['text']])(
    'is not decided on for the medium %j, which does not exist',
    async (medium) => {
      const { start } = await prepare();
      const response = await start({ medium });
      expect(response).toMatchObject({ status: 400, body: { code: 'BAD_REQUEST' } });
      expect(JSON.stringify(response.body)).toContain('medium must be one of');
    },
  );

  it('is an error of the call, which is not retried, if the connection has another one when the call begins', async () => {
    const { client, connect, start } = await prepare();
    const runId = idOf(await start());
    await connect(TWILIO);
    const reason =
      "The protocol of the agent's connection is not the one that the run was started with: twilio-media-streams instead " +
      'of chat-completions; start the run again';
    expect(await ended(client, runId)).toMatchObject({
      outcome: 'error',
      reason: expect.stringContaining(reason),
      failure: { code: 'connection_changed', message: reason, fault: 'infrastructure', retryable: false },
      retries: 0,
      attempts: [{ outcome: 'error', failureCode: 'connection_changed', callId: null }],
      protocol: 'chat-completions',
      medium: 'text',
    });
    expect(requests).toBe(0);
  });

  it('is compared before each attempt', async () => {
    const { client, connect, start } = await prepare();
    answer = async (response) => {
      await connect(TWILIO);
      response.writeHead(503).end();
    };
    const call = await ended(client, idOf(await start()));
    expect(call.attempts.map(({ failureCode }: any) => failureCode)).toEqual(['http_status', 'connection_changed']);
    expect(requests).toBe(1);
  });

  it('is decided on again in a rerun', async () => {
    const { client, connect, start } = await prepare(TWILIO);
    const runId = idOf(await start());
    await connect({ url });
    expect(await ended(client, runId)).toMatchObject({
      failure: { code: 'connection_changed', message: expect.stringContaining('chat-completions instead of twilio') },
      medium: 'voice',
    });
    const again = idOf(await client.post(`/runs/${runId}/rerun?only=failed`));
    expect(await ended(client, again)).toMatchObject({
      outcome: 'passed',
      protocol: 'chat-completions',
      medium: 'text',
    });
  });

  it('has in a rerun the medium that the run asked for', async () => {
    const { client, connect, start } = await prepare();
    const runId = idOf(await start({ medium: 'text' }));
    await connect(TWILIO);
    expect(await ended(client, runId)).toMatchObject({ failure: { code: 'connection_changed' } });
    expect(await client.post(`/runs/${runId}/rerun`)).toMatchObject({
      status: 409,
      body: { message: expect.stringContaining('medium is text, and the protocol of the agent') },
    });
    await connect({ url });
    expect(idOf(await client.post(`/runs/${runId}/rerun`))).toEqual(expect.any(String));
  });
});
