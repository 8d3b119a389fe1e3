import { access, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readWav } from '../../libs/audio/index.js';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { HttpClient } from '../support/http.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { startVoiceAgent, type VoiceAgentServer } from '../support/voice-agent.js';

const QUESTION = 'Until when are you open?';
const LINES = ['Hello.', QUESTION, 'Thank you, goodbye.'];
const EVALUATION = {
  name: 'Asks for the opening hours',
  scenarioText: 'You want to know until when the restaurant is open.',
  script: [
    { say: QUESTION },
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

/** The rest of an evaluation whose call ends with the first answer. */
const ANSWERED = {
  script: [{ say: QUESTION }, { end: 'Answered' }],
  checks: [{ name: 'Answers in time', type: 'max_latency_ms', ms: 60_000 }],
};
/** The rest of an evaluation whose caller is put through. */
const TRANSFER = {
  script: [{ say: 'Hello.' }, { press: '0' }, { waitSeconds: 10 }, { end: 'The agent does not transfer the call' }],
  checks: [{ name: 'Puts the caller through', type: 'hears_keys', keys: '0', then: { transfer: true } }],
};

describe('voice calls', () => {
  const unrecordedFolder = path.join(tmpdir(), 'vat-unrecorded');
  let agent: VoiceAgentServer;
  let app: TestApp;
  let unrecorded: TestApp;
  /** All calls take place at the same time, because they last as long as real ones. */
  let calls: Readonly<Record<Name, Promise<Placed>>>;

  beforeAll(async () => {
    agent = await startVoiceAgent({ lines: LINES, slowMs: 3_000 });
    const env = { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8', VOICE_CONCURRENCY: '8' };
    app = await createTestApp({ env });
    unrecorded = await createTestApp({ env: { ...env, RECORDINGS: 'off', DATA_DIR: unrecordedFolder } });
    const webhook = `${agent.url}/voice`;
    calls = {
      webhook: call(webhook),
      socket: call(`${agent.url.replace('http', 'ws')}/agents/booking:slow-answer/media`),
      scottish: call(webhook, { evaluated: ANSWERED, personality: { gender: 'MALE', accent: 'Scottish' } }),
      noisy: call(webhook, { evaluated: ANSWERED, personality: { voice_id: 'rms', backgroundNoise: true } }),
      transferred: call(webhook, { evaluated: TRANSFER }),
      unrecorded: call(webhook, { service: unrecorded }),
    };
    // The test of a call reports its failure.
    for (const placed of Object.values(calls)) placed.catch(() => undefined);
  }, 120_000);
  afterAll(async () => {
    await Promise.allSettled(Object.values(calls ?? {}));
    await app?.close();
    await unrecorded?.close();
    await agent?.close();
    await rm(unrecordedFolder, { recursive: true, force: true });
  });

  /**
   * Runs the only evaluation of a new agent. @returns the call with its details
   * @param personality fields of the caller's personality @param evaluated fields of the evaluation
   */
  async function call(
    url: string,
    { personality = {}, evaluated = {}, service = app }: Preparation = {},
  ): Promise<Placed> {
    const { apiKey } = await service.createWorkspace();
    const client = new HttpClient(service.url, apiKey);
    const agentId = (await client.post('/agents', agentBody())).body.data.id as string;
    const personalityId = (await client.post('/personalities', personalityBody(personality))).body.data.id as string;
    const connection = await client.put(`/agents/${agentId}/connection`, { protocol: 'twilio-media-streams', url });
    expect(connection.status).toBe(200);
    const evaluation = await client.post(`/agents/${agentId}/evaluations`, {
      ...EVALUATION,
      personalityId,
      ...evaluated,
    });
    expect(evaluation.status).toBe(201);
    const bytes = async (path: string) =>
      Buffer.from(
        await (await fetch(service.url + path, { headers: { Authorization: `Bearer ${apiKey}` } })).arrayBuffer(),
      );
    const run = await client.post(`/agents/${agentId}/runs`, {});
    expect(run.body).toMatchObject({ data: { totalCalls: 1 } });
    const { id } = run.body.data as { id: string };
    for (let waits = 0; waits < 3; waits++) {
      const { status } = (await client.get(`/runs/${id}?wait=60`)).body.data as { status: string };
      if (status !== 'QUEUED' && status !== 'RUNNING') break;
    }
    const [listed] = (await client.get(`/runs/${id}/calls`)).body.data as { id: string }[];
    const details = (await client.get(`/calls/${listed!.id}`)).body.data;
    return { client, bytes, runId: id, details };
  }

  it('reach an agent behind its webhook; latency is that of what was heard, and the audio is recorded', async () => {
    const { client, bytes, runId, details } = await calls.webhook;
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

    const wav = await client.get(`/calls/${details.id}/recording`);
    expect(wav.status).toBe(200);
    const file = await bytes(`/calls/${details.id}/recording`);
    const { channels, rate } = readWav(file);
    expect(rate).toBe(8_000);
    expect(channels).toHaveLength(2);
    expect(channels[0]!.length / rate).toBeCloseTo(recording.seconds, 3);
    for (const lane of channels) expect(lane.some((sample) => Math.abs(sample) > 3_000)).toBe(true);
    const wire = (await bytes(`/calls/${details.id}/wire`)).toString().trim();
    const events = wire.split('\n').map((line) => (JSON.parse(line) as { message: { event: string } }).message.event);
    expect(new Set(events)).toEqual(new Set(['connected', 'start', 'media', 'mark', 'stop']));

    const report = (await bytes(`/runs/${runId}/report`)).toString();
    expect(report).toContain('class="wave"');
    // As retention deletes it, whose days cannot pass here.
    await sql(app.databaseUrl, 'DELETE FROM recordings WHERE call_id = $1', [details.id]);
    expect((await client.get(`/calls/${details.id}`)).body.data.recording).toBeNull();
    expect((await client.get(`/calls/${details.id}/recording`)).status).toBe(404);
    expect((await bytes(`/runs/${runId}/report`)).toString()).toContain('There is no recording of this call.');
    const deleted = await client.delete(`/runs/${runId}`);
    expect(deleted.status).toBe(200);
    expect((await client.get(`/calls/${details.id}/recording`)).status).toBe(404);
  }, 120_000);

  it('reach an agent at its WebSocket address, and a slow answer fails for its latency', async () => {
    const { details } = await calls.socket;
    expect(details).toMatchObject({ outcome: 'failed', exchange: { protocol: 'twilio-media-streams' } });
    const unmet = (details.checks as { name: string; met: boolean }[]).filter(({ met }) => !met);
    expect(unmet.map(({ name }) => name)).toEqual(['Answers in time']);
    expect(details.voice.latencies[0].heardMs).toBeGreaterThan(3_000);
  }, 120_000);

  describe('of a personality', () => {
    /** @returns the length of the caller's line, and the loudest sample of the caller before it began */
    async function heard(name: Name) {
      const { bytes, details } = await calls[name];
      expect([details.outcome, details.reason]).toEqual(['passed', 'The only requirement was met.']);
      const { channels, rate } = readWav(await bytes(`/calls/${details.id}/recording`));
      const before = channels[0]!.subarray(0, (details.voice.greetingMs / 1_000) * rate);
      return { lineMs: details.voice.speech.callerMs, noise: Math.max(...before.map(Math.abs)) };
    }
    const lengthOf = async (voice: string) => {
      const { speechStart, speechEnd } = await agent.speech.synthesise({ text: QUESTION, voice });
      return (speechEnd - speechStart) / 8;
    };

    it('have its voice and background noise', async () => {
      const [scottish, noisy] = await Promise.all([heard('scottish'), heard('noisy')]);
      const [awb, rms] = [await lengthOf('awb'), await lengthOf('rms')];
      expect(Math.abs(awb - rms)).toBeGreaterThan(50);
      expect(scottish.lineMs).toBeCloseTo(awb, 0);
      expect(noisy.lineMs).toBeCloseTo(rms, 0);
      expect(scottish.noise).toBe(0);
      expect(noisy.noise).toBeGreaterThan(100);
    }, 120_000);
  });

  it('show in their timeline that the agent transferred the call', async () => {
    const { bytes, runId, details } = await calls.transferred;
    expect({ outcome: details.outcome, reason: details.reason }).toEqual({
      outcome: 'passed',
      reason: 'The only requirement was met.',
    });
    const { timeline } = details as { timeline: { type: string; start: number; detail?: string }[] };
    expect(timeline.slice(-2)).toMatchObject([
      { type: 'platform', event: 'transfer', detail: expect.stringMatching(/^\+\d+$/) as string },
      { type: 'end', by: 'agent', code: 'agent_hung_up' },
    ]);
    const report = (await bytes(`/runs/${runId}/report`)).toString();
    expect(report).toContain(`The agent transfers the call to ${timeline.at(-2)!.detail}`);
  }, 120_000);

  it('are measured and judged, but leave no file, with RECORDINGS=off', async () => {
    const { client, bytes, runId, details } = await calls.unrecorded;
    expect(details).toMatchObject({ reason: 'All 3 requirements were met.', outcome: 'passed', recording: null });
    expect(details.voice.latencies).toHaveLength(2);
    for (const file of ['recording', 'wire']) {
      expect((await client.get(`/calls/${details.id}/${file}`)).status).toBe(404);
    }
    expect((await bytes(`/runs/${runId}/report`)).toString()).toContain('There is no recording of this call.');
    await expect(access(path.join(unrecordedFolder, 'recordings'))).rejects.toThrow('ENOENT');
  }, 120_000);
});

type Name = 'webhook' | 'socket' | 'scottish' | 'noisy' | 'transferred' | 'unrecorded';

interface Placed {
  readonly client: HttpClient;
  /** The body of a response. */
  readonly bytes: (path: string) => Promise<Buffer>;
  readonly runId: string;
  readonly details: any;
}

interface Preparation {
  readonly personality?: object;
  readonly evaluated?: object;
  readonly service?: TestApp;
}
