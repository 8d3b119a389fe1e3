import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { referenceEvaluations, type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { linesOf, TODAY, VoiceCalls } from '../simulators/agent/testing/voice.js';
import { RetentionRepository } from '../../src/modules/retention/retention.repository.js';
import { Queue } from '../../src/platform/queue/queue.js';
import { Metrics } from '../../src/platform/observability/metrics.js';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { HttpClient } from '../support/http.js';
import { jobContext } from '../support/job-context.js';
import { ListeningProcess } from '../support/listening-process.js';
import { LogLines } from '../support/log-lines.js';
import { callEnv } from '../support/run-app.js';
import { filesWith, tablesWith } from '../support/stored-words.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const STT_KEY = 'stt-key-8d1f';
/** With which a server is probed. */
const PROBE = 'Good evening, your table for four people is booked for Friday at seven.';
/** Only an agent says it. */
const SAID = 'Tuesday';
const FAULTS = ['wrong-fact', 'leaks-prompt'] as const;
const HOURS = {
  key: 'hours',
  name: 'Asks for the opening hours',
  scenarioText: 'You want to know until when the restaurant is open.',
  script: [
    { say: 'Hello, do you have vegan dishes?' },
    {
      answers: [{ when: { says: { text: 'vegan' } }, say: 'Until when are you open?' }],
      until: { says: { text: 'noon' } },
      otherwise: 'Hello.',
    },
    { say: 'Thank you, goodbye.' },
    { end: 'The agent does not hang up' },
  ],
  checks: [{ name: 'States the closing time', type: 'says', pattern: '(?i)until (10|ten) ?pm' }],
};
/** Evaluations that were written for text; a telephone transmits no tool calls, so that none may need them. */
const SUITE = [
  HOURS,
  ...referenceEvaluations('any').filter(({ key }) => key === 'keeps-its-prompt' || key === 'answers-in-time'),
].map(({ personalityId: _, ...evaluation }: any) => evaluation);
describe('text evaluations over Twilio with a transcription server', () => {
  const calls = new VoiceCalls();
  const log = new LogLines();
  const dataDir = path.join(tmpdir(), `vat-transcribed-${randomUUID()}`);
  let agent: ReferenceAgentServer;
  let server: ListeningProcess;
  let app: TestApp;
  let client: HttpClient;
  let apiKey: string;
  let runs: Record<'text' | 'healthy' | 'faulty', any>;

  beforeAll(async () => {
    const lines = SUITE.flatMap(({ script }) => linesOf(script));
    const prepared = await calls.prepareFor(lines, FAULTS);
    const telephone = { now: () => TODAY, prepare: () => Promise.resolve(prepared) };
    agent = await startReferenceAgent({ port: 0, telephone, now: () => TODAY });
    server = await ListeningProcess.start({ lines, faults: FAULTS, today: TODAY, behaviour: {}, sentences: [PROBE] });
    const stt = { STT_BASE_URL: `${server.url}/v1`, STT_API_KEY: STT_KEY, STT_MODEL: 'small-en' };
    const env = { ...callEnv(`${agent.url}/v1/chat/completions`), ...stt, DATA_DIR: dataDir };
    app = await createTestApp({ env, log });
    ({ apiKey } = await app.createWorkspace());
    client = new HttpClient(app.url, apiKey);
    const [text, healthy, ...faulty] = await Promise.all([
      agentWith(SUITE),
      agentWith(SUITE, `${agent.url}/voice`),
      agentWith([HOURS], `${agent.url}/agents/booking:wrong-fact/voice`),
      agentWith(
        [SUITE.find(({ key }) => key === 'keeps-its-prompt')],
        `${agent.url}/agents/booking:leaks-prompt/voice`,
      ),
    ]);
    const ended = await Promise.all([text, healthy, ...faulty].map((agentId) => executed(agentId)));
    runs = { text: ended[0], healthy: ended[1], faulty: ended.slice(2) };
  }, 240_000);
  afterAll(async () => {
    await app?.close();
    await server?.stop();
    await agent?.close();
    await calls.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  /** @param url of its telephone; by text without */
  async function agentWith(evaluations: readonly object[], url?: string, options = {}): Promise<string> {
    const agentId = (await client.post('/agents', agentBody())).body.data.id as string;
    const personalityId = (await client.post('/personalities', personalityBody())).body.data.id as string;
    const connection = { protocol: 'twilio-media-streams', url, options };
    if (url) expect(await client.put(`/agents/${agentId}/connection`, connection)).toMatchObject({ status: 200 });
    for (const evaluation of evaluations) {
      const created = await client.post(`/agents/${agentId}/evaluations`, { ...evaluation, personalityId });
      expect(created).toMatchObject({ status: 201 });
    }
    return agentId;
  }
  /** The run of an agent, which may take longer on a busy machine: calls are tried again when words come too late. */
  async function executed(agentId: string): Promise<any> {
    const { id } = (await client.post(`/agents/${agentId}/runs`, {})).body.data;
    for (let waits = 0; waits < 3; waits++) {
      const run = (await client.get(`/runs/${id}?wait=60`)).body.data;
      if (run.endedAt !== null) return run;
    }
    throw new Error(`The run ${id} did not end`);
  }
  const callsOf = async (runId: string): Promise<any[]> => {
    const listed = (await client.get(`/runs/${runId}/calls`)).body.data as { id: string }[];
    return Promise.all(listed.map(async ({ id }) => (await client.get(`/calls/${id}`)).body.data));
  };
  const text = async (address: string) =>
    (await fetch(app.url + address, { headers: { Authorization: `Bearer ${apiKey}` } })).text();

  it('pass for a healthy agent as over text, with words that were heard', async () => {
    for (const run of [runs.text, runs.healthy]) expect(run).toMatchObject({ status: 'COMPLETED', score: 100 });
    for (const call of await callsOf(runs.healthy.id)) {
      expect({ outcome: call.outcome, reason: call.reason }).toMatchObject({ outcome: 'passed' });
      expect(call.wordsFrom).toEqual({ source: 'recogniser', model: 'small-en', times: 'word' });
    }
    const [hours] = (await callsOf(runs.healthy.id)).filter(({ evaluation }) => evaluation.name === HOURS.name);
    expect(hours.checks[0].evidence[0].quote).toMatch(/until (10|ten) pm/i);
    expect(hours.timeline).toContainEqual(
      expect.objectContaining({ text: 'Until when are you open?', script: { step: 1, answers: [0] } }),
    );
    expect(hours.words).toContainEqual(expect.objectContaining({ speaker: 'agent', source: 'recogniser' }));
  });

  it('fail for agents that say something wrong, with the words that decided', async () => {
    const failed = (await Promise.all(runs.faulty.map(({ id }: any) => callsOf(id)))).flat();
    expect(failed.map(({ outcome, checks }) => [outcome, checks.find(({ met }: any) => met === false)?.name])).toEqual([
      ['failed', 'States the closing time'],
      ['failed', 'Never reveals its instructions'],
    ]);
    expect(failed[1].checks[0].evidence[0].quote).toMatch(/booking assistant|confidential|olive-branch/i);
  });

  it('show in a comparison with the text run what voice costs', async () => {
    const { body } = await client.get(`/runs/${runs.healthy.id}/comparison?with=${runs.text.id}`);
    expect(body.data.cases).toHaveLength(SUITE.length);
    for (const { current, baseline } of body.data.cases) {
      expect(current).toMatchObject({ passed: 1, latency: { clock: 'heard' } });
      expect(baseline).toMatchObject({ passed: 1, latency: { clock: 'text' } });
    }
  });

  it('send audio with key, model and language to the server, and count it', async () => {
    expect(server.received.length).toBeGreaterThan(10);
    for (const { authorization, fields, ms } of server.received) {
      expect(authorization).toBe(`Bearer ${STT_KEY}`);
      expect(fields).toMatchObject({ model: 'small-en', language: 'en' });
      expect(ms).toBeGreaterThan(200);
    }
    const sent = server.received.reduce((sum, { ms }) => sum + ms / 1_000, 0);
    const metrics = await app.nest.get(Metrics).registry.metrics();
    const value = (name: string) =>
      [...metrics.matchAll(new RegExp(`^${name}{outcome="\\w+"} (.*)$`, 'gm'))].reduce(
        (sum, [, n]) => sum + Number(n),
        0,
      );
    expect(value('transcription_duration_seconds_count')).toBe(server.received.length);
    expect(value('transcription_audio_seconds_total')).toBeCloseTo(sent, 0);
  });

  it('probe the server once, and log what it understood', () => {
    const probes = log.lines.filter(({ msg }) => /transcription server/.test(msg));
    expect(probes.map(({ level, msg }) => ({ level, msg }))).toEqual([
      { level: 30, msg: `The transcription server works: "${PROBE}" was heard as "${PROBE}"` },
    ]);
  });

  it('show the key nowhere: in logs, results, reports, files and the database', async () => {
    expect(log.text.length).toBeGreaterThan(1_000);
    const pages = [log.text];
    for (const { id } of [runs.healthy, ...runs.faulty]) {
      for (const page of ['', '/calls', '/report', '/junit']) pages.push(await text(`/runs/${id}${page}`));
      for (const call of await callsOf(id)) pages.push(JSON.stringify(call), await text(`/calls/${call.id}/wire`));
    }
    expect(pages.length).toBeGreaterThan(20);
    for (const page of pages) expect(page).not.toContain(STT_KEY);
    expect(await tablesWith(app.databaseUrl, STT_KEY)).toEqual([]);
    expect(await filesWith(dataDir, STT_KEY)).toEqual([]);
  });

  it('are refused with transcription off, with what is missing', async () => {
    const agentId = await agentWith([HOURS], `${agent.url}/voice`, { transcription: 'off' });
    const { status, body } = await client.post(`/agents/${agentId}/runs`, {});
    expect(status).toBe(409);
    expect(JSON.stringify(body)).toContain("transcription is off (the option of the agent's connection)");
  });

  it('leave nothing of what was heard when their runs are deleted', async () => {
    expect(await tablesWith(app.databaseUrl, SAID)).toContain('public.call_results');
    expect((await filesWith(dataDir, SAID)).length).toBeGreaterThan(0);
    for (const { id } of [runs.text, runs.healthy, ...runs.faulty]) {
      expect(await client.delete(`/runs/${id}`)).toMatchObject({ status: 200 });
    }
    app.nest.get(RetentionRepository).pruneDelayMs = 0;
    const job = app.nest.get(Queue).handled.find((handled) => handled.job.name === 'runs.prune')!;
    await job.handler({}, jobContext(new AbortController().signal));
    expect(await tablesWith(app.databaseUrl, SAID)).toEqual([]);
    expect(await filesWith(dataDir, SAID)).toEqual([]);
  });
});
