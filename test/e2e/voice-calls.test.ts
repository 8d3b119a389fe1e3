import { readWav } from '../../libs/audio/index.js';
import { prepareVoice, type ReferenceAgentServer, startReferenceAgent } from '../../libs/reference-agent/index.js';
import { FliteEngine } from '../../libs/speech/index.js';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { HttpClient } from '../support/http.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const LINES = ['Hello.', 'Until when are you open?', 'Thank you, goodbye.'];
const EVALUATION = {
  name: 'Asks for the opening hours',
  scenarioText: 'You want to know until when the restaurant is open.',
  script: [
    { say: 'Until when are you open?' },
    { say: 'Thank you, goodbye.' },
    { waitSeconds: 5 },
    { end: 'The agent does not hang up' },
  ],
  checks: [
    { name: 'Answers in time', type: 'max_latency_ms', ms: 1_500 },
    { name: 'Keeps to the protocol', type: 'clean_protocol' },
    { name: 'Hangs up', type: 'ends_by', by: 'agent' },
  ],
};

describe('calls with sound', () => {
  const engine = new FliteEngine();
  let agent: ReferenceAgentServer;
  let app: TestApp;

  beforeAll(async () => {
    const prepare = () => prepareVoice({ speech: engine, today: Date.now(), lines: LINES });
    agent = await startReferenceAgent({ port: 0, telephone: { slowMs: 3_000, prepare } });
    app = await createTestApp({ env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  }, 120_000);
  afterAll(async () => {
    await app?.close();
    await agent?.close();
    await engine.close();
  });

  async function prepared(url: string, values: object = {}) {
    const { apiKey } = await app.createWorkspace();
    const client = new HttpClient(app.url, apiKey);
    const agentId = (await client.post('/agents', agentBody())).body.data.id as string;
    const personalityId = (await client.post('/personalities', personalityBody())).body.data.id as string;
    const connection = await client.put(`/agents/${agentId}/connection`, { protocol: 'twilio-media-streams', url });
    expect(connection.status).toBe(200);
    const evaluation = await client.post(`/agents/${agentId}/evaluations`, { ...EVALUATION, personalityId, ...values });
    expect(evaluation.status).toBe(201);
    const bytes = async (path: string) =>
      Buffer.from(
        await (await fetch(app.url + path, { headers: { Authorization: `Bearer ${apiKey}` } })).arrayBuffer(),
      );
    return { client, agentId, bytes };
  }

  /** Runs all evaluations of an agent. @returns the call with its details */
  async function call({ client, agentId }: Awaited<ReturnType<typeof prepared>>) {
    const run = await client.post(`/agents/${agentId}/runs`, {});
    expect(run.body).toMatchObject({ data: { totalCalls: 1 } });
    const { id } = run.body.data as { id: string };
    for (let waits = 0; waits < 3; waits++) {
      const { status } = (await client.get(`/runs/${id}?wait=60`)).body.data as { status: string };
      if (status !== 'QUEUED' && status !== 'RUNNING') break;
    }
    const [listed] = (await client.get(`/runs/${id}/calls`)).body.data as { id: string }[];
    const details = (await client.get(`/calls/${listed!.id}`)).body.data;
    return { runId: id, details };
  }

  it('reach an agent behind its webhook; latency is that of what was heard, and the sound is recorded', async () => {
    const subject = await prepared(`${agent.url}/voice`);
    const { runId, details } = await call(subject);
    expect({ outcome: details.outcome, reason: details.reason }).toEqual({
      outcome: 'passed',
      reason: 'All 3 requirements were met.',
    });
    expect(details.attempts).toHaveLength(1);
    const { voice, recording, wireFindings, words, latencies, reliability } = details;
    expect(voice.latencies.map(({ answered }: { answered: boolean }) => answered)).toEqual([true, true]);
    expect(latencies).toEqual(voice.latencies.map(({ heardMs }: { heardMs: number }) => heardMs));
    for (const ms of latencies) expect(ms).toBeGreaterThan(300);
    expect(voice.greetingMs).toBeGreaterThan(0);
    expect(wireFindings.filter(({ severity }: { severity: string }) => severity === 'error')).toEqual([]);
    expect(words.map(({ text }: { text: string }) => text)).toEqual(
      expect.arrayContaining(['Until', 'open?', 'goodbye.']),
    );
    expect(reliability.frameLatenessMs.p50).toBeGreaterThanOrEqual(0);

    const { client } = subject;
    const wav = await client.get(`/calls/${details.id}/recording`);
    expect(wav.status).toBe(200);
    const file = await subject.bytes(`/calls/${details.id}/recording`);
    const { channels, rate } = readWav(file);
    expect(rate).toBe(8_000);
    expect(channels).toHaveLength(2);
    expect(channels[0]!.length / rate).toBeCloseTo(recording.seconds, 3);
    for (const lane of channels) expect(lane.some((sample) => Math.abs(sample) > 3_000)).toBe(true);
    const wire = (await subject.bytes(`/calls/${details.id}/wire`)).toString().trim();
    const events = wire.split('\n').map((line) => (JSON.parse(line) as { message: { event: string } }).message.event);
    expect(new Set(events)).toEqual(new Set(['connected', 'start', 'media', 'mark', 'stop']));

    const report = (await subject.bytes(`/runs/${runId}/report`)).toString();
    expect(report).toContain('class="wave"');
    // As retention deletes it, whose days cannot pass here.
    await sql(app.databaseUrl, 'DELETE FROM recordings WHERE call_id = $1', [details.id]);
    expect((await client.get(`/calls/${details.id}`)).body.data.recording).toBeNull();
    expect((await client.get(`/calls/${details.id}/recording`)).status).toBe(404);
    expect((await subject.bytes(`/runs/${runId}/report`)).toString()).toContain('There is no recording of this call.');
    const deleted = await client.delete(`/runs/${runId}`);
    expect(deleted.status).toBe(200);
    expect((await client.get(`/calls/${details.id}/recording`)).status).toBe(404);
  }, 120_000);

  it('reach an agent at its WebSocket address, and a slow answer fails for its latency', async () => {
    const url = `${agent.url.replace('http', 'ws')}/agents/booking:slow-answer/media`;
    const { details } = await call(await prepared(url));
    expect(details).toMatchObject({ outcome: 'failed', exchange: { protocol: 'twilio-media-streams' } });
    const unmet = (details.checks as { name: string; met: boolean }[]).filter(({ met }) => !met);
    expect(unmet.map(({ name }) => name)).toEqual(['Answers in time']);
    expect(details.voice.latencies[0].heardMs).toBeGreaterThan(3_000);
  }, 120_000);
});
