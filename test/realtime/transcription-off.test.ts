import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { TODAY, VoiceCalls } from '../simulators/agent/testing/voice.js';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { HttpClient } from '../support/http.js';
import { callEnv, executeRun } from '../support/run-app.js';
import { createTestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const TIMES_ONLY = {
  ...{ key: 'times', name: 'Answers in time', scenarioText: 'You ask until when the restaurant is open.' },
  script: [{ say: 'Until when are you open?' }, { end: 'Answered' }],
  checks: [{ type: 'max_latency_ms', ms: 5_000 }],
};

describe('transcription: off', () => {
  const calls = new VoiceCalls();
  let agent: ReferenceAgentServer;

  beforeAll(async () => {
    const prepared = await calls.prepareFor(['Until when are you open?'], []);
    agent = await startReferenceAgent({ port: 0, telephone: { now: () => TODAY, prepare: async () => prepared } });
  });
  afterAll(async () => {
    await agent.close();
    await calls.close();
  });

  /** Bytes and connections that reach the server after the probe of the start, which has nothing of an agent. */
  const receivedIn = async (option?: 'auto' | 'off', setting?: 'off') => {
    let [received, closed] = [0, 0];
    const server = createServer((socket) => {
      received++;
      socket.on('close', () => closed++);
      socket.on('data', ({ length }) => (received += length)).on('error', () => undefined);
      setTimeout(() => socket.end('HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n'), 50);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const app = await createTestApp({
      env: {
        ...callEnv('http://127.0.0.1:9/'),
        STT_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        STT_ALWAYS: 'true',
        ...(setting && { AGENT_PROVIDER_1_TRANSCRIPTION: setting }),
      },
    });
    try {
      await until('the probe has failed twice', () => closed === 2);
      received = 0;
      const client = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
      const agentId = (await client.post('/agents', agentBody())).body.data.id as string;
      const personalityId = (await client.post('/personalities', personalityBody())).body.data.id as string;
      const options = option === undefined ? {} : { transcription: option };
      const connection = { protocol: 'twilio-media-streams', url: `${agent.url}/voice`, options };
      expect(await client.put(`/agents/${agentId}/connection`, connection)).toMatchObject({
        ...{ status: 200, body: { data: { options } } },
      });
      await client.post(`/agents/${agentId}/evaluations`, { ...TIMES_ONLY, personalityId });
      expect(await executeRun(client, agentId)).toMatchObject({ status: 'COMPLETED', counts: { passed: 1 } });
      return received;
    } finally {
      await app.close();
      server.close();
    }
  };

  it('sends not one byte to the server, for a connection and for a provider', async () => {
    const [own, ofProvider, auto, without] = await Promise.all([
      receivedIn('off'),
      receivedIn(undefined, 'off'),
      // The connection decides, and without either the call is transcribed.
      receivedIn('auto', 'off'),
      receivedIn(),
    ]);
    expect([own, ofProvider]).toEqual([0, 0]);
    for (const received of [auto, without]) expect(received).toBeGreaterThan(10_000);
  });
});
