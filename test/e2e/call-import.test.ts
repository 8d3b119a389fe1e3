import { randomUUID } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readWav } from '../../libs/audio/index.js';
import { sample } from '../../libs/statistics/testing/sample.js';
import { RetentionRepository } from '../../src/modules/retention/retention.repository.js';
import { HttpClient } from '../support/http.js';
import { importCall, type ImportFields, STARTED_AT } from '../support/imported-calls.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';
import { vat } from '../support/vat.js';
import { CALL, LATENCY_MS, wavOf } from '../support/wav-call.js';

const QUESTION = 'Until when are you open?';
const ANSWER = 'We are open until ten in the evening.';
const TRANSCRIPT = [
  { speaker: 'agent', text: 'Good evening.', startMs: 500, endMs: 1_500 },
  { speaker: 'caller', text: QUESTION, startMs: 2_400, endMs: 4_100 },
  { speaker: 'agent', text: ANSWER, startMs: 5_150, endMs: 7_300 },
];
const evaluation = (name: string, checks: object[]) => ({
  key: name.toLowerCase().replaceAll(' ', '-'),
  name,
  scenarioText: 'You want to know until when the restaurant is open.',
  script: [{ say: QUESTION }, { end: 'Answered' }],
  checks,
});
const TIMES = [{ name: 'Answers in time', type: 'max_latency_ms', ms: 2_000 }];
const WORDS = [{ name: 'Names the hour', type: 'says', text: 'ten' }];
const TOOL = [{ name: 'Looks it up', type: 'calls_tool', tool: 'hours' }];

describe('the import of a call', () => {
  const dataDir = path.join(tmpdir(), `vat-imported-${randomUUID()}`);
  let app: TestApp;
  let subject: Awaited<ReturnType<typeof prepareEvaluations>>;
  let client: HttpClient;
  let ids: { times: string; words: string; tool: string; both: string; number: string };

  beforeAll(async () => {
    // Nothing can call the agent.
    app = await createTestApp({ env: { ...callEnv('http://127.0.0.1:9/v1'), DATA_DIR: dataDir } });
    subject = await prepareEvaluations(app, [
      evaluation('Answers', TIMES),
      evaluation('Answers with words', [...TIMES, ...WORDS]),
      evaluation('Answers by tool', TOOL),
      evaluation('Answers both ways', [...TIMES, { ...TOOL[0], required: false }]),
      evaluation('Says a number', [
        ...TIMES,
        { name: 'Says it', type: 'says', pattern: '415-555-0142' },
        { type: 'no_personal_data', speaker: 'agent' },
      ]),
    ]);
    ({ client } = subject);
    const [times, words, tool, both, number] = subject.evaluationIds;
    ids = { times: times!, words: words!, tool: tool!, both: both!, number: number! };
    const webhook = { url: 'http://127.0.0.1:9/', events: ['run.completed', 'run.failed'] };
    expect(await client.post('/workspace/webhooks', webhook)).toMatchObject({ status: 201 });
  }, 120_000);
  afterAll(async () => {
    await app?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const send = (fields: ImportFields, headers?: Record<string, string>) =>
    importCall({ url: app.url, apiKey: subject.apiKey }, subject.agentId, fields, headers);
  const uploads = () => readdir(path.join(dataDir, 'recordings', 'uploads'));
  /** Imports a call and waits for its end. */
  const imported = async (fields: ImportFields) => {
    const response = await send(fields);
    expect(response).toMatchObject({ status: 202, body: { message: 'Call accepted for import' } });
    const { id, runId } = response.body.data;
    const run = (await client.get(`/runs/${runId}?wait=60`)).body.data;
    return { run, call: (await client.get(`/calls/${id}`)).body.data };
  };
  const recordingOf = async (callId: string) => {
    const response = await fetch(`${app.url}/calls/${callId}/recording`, {
      headers: { Authorization: `Bearer ${subject.apiKey}` },
    });
    return { status: response.status, bytes: new Uint8Array(await response.arrayBuffer()) };
  };

  it('is a call of its own run, measured from its recording', async () => {
    const { run, call } = await imported({ evaluationId: ids.times });
    expect(run).toMatchObject({
      ...{ label: 'READ', name: 'Imported calls', status: 'COMPLETED', derivedFrom: null, exitCode: 0 },
      counts: { passed: 1 },
    });
    expect(call).toMatchObject({
      ...{ outcome: 'passed', startedAt: STARTED_AT, protocol: 'recording', medium: 'voice', wireFindings: null },
      end: { code: 'recording_over' },
      versions: { caller: 'recorded' },
      voice: {
        clock: 'recorded',
        latencies: [{ turn: 1, firstByteMs: null, leadingSilenceMs: null, answered: true, plusMinusMs: 40 }],
        choppiness: { gaps: null, perMinute: null },
      },
      wordsFrom: null,
      recording: { seconds: 10, sampleRate: 8_000 },
    });
    const [{ heardMs, plusMinusMs }] = call.voice.latencies;
    expect(Math.abs(heardMs - LATENCY_MS)).toBeLessThanOrEqual(plusMinusMs);
    // It is deleted when the end of the run is stored, which the client may see first.
    await until('the uploaded file is deleted', async () => (await uploads()).length === 0);
    expect((await client.get(`/calls/${call.id}/wire`)).status).toBe(404);
  });

  it('has the words of its transcript, for checks and for what is shown', async () => {
    const { call } = await imported({ evaluationId: ids.words, transcript: TRANSCRIPT });
    expect(call).toMatchObject({
      outcome: 'passed',
      wordsFrom: { source: 'transcript', times: 'estimated' },
      timeline: [
        { speaker: 'agent', text: 'Good evening.', turn: 0 },
        { speaker: 'caller', text: QUESTION, turn: 1 },
        { speaker: 'agent', text: ANSWER, turn: 1, words: 'known' },
        { type: 'end' },
      ],
    });
    const rows = await sql<any>(app.databaseUrl, 'SELECT transcript FROM call_imports WHERE call_id = $1', [call.id]);
    expect(rows).toEqual([{ transcript: null }]);
  });

  it('decides what the words of a production call said, which it does not keep, and its times by its recording', async () => {
    const number = '415-555-0142';
    const transcript = TRANSCRIPT.map((entry, at) =>
      at === 2 ? { ...entry, text: `Call us at ${number} in the evening.` } : entry,
    );
    const { call } = await imported({ evaluationId: ids.number, transcript, origin: 'production' });
    expect(call).toMatchObject({
      ...{ outcome: 'failed', checks: [{ met: true }, { met: true }, { met: false }] },
      timeline: [{}, {}, { speaker: 'agent', text: 'Call us at [phone number 1] in the evening.' }, {}],
    });
    expect(JSON.stringify([call.timeline, call.checks, call.reason])).not.toContain(number);
  });

  it('has no verdict on words that are not known', async () => {
    const { run, call } = await imported({ evaluationId: ids.words });
    expect(call).toMatchObject({ outcome: 'error', failure: { code: 'words_unknown' } });
    expect(run).toMatchObject({ exitCode: 2 });
  }, 60_000);

  it('decides no check on what a recording does not show', async () => {
    const { call } = await imported({ evaluationId: ids.tool, transcript: TRANSCRIPT });
    expect(call).toMatchObject({
      outcome: 'error',
      failure: { code: 'check_undecided' },
      checks: [{ met: null, detail: 'A recording does not show tool calls' }],
    });
    const both = await imported({ evaluationId: ids.both, transcript: TRANSCRIPT });
    expect(both.call).toMatchObject({ outcome: 'passed', checks: [{ met: true }, { met: null }] });
  });

  it('is read to the end of a file whose header was never completed, with a note (VoiceBlender/voiceblender#81)', async () => {
    const recording = wavOf({ encoding: 'mulaw' });
    // One second of the ten.
    for (const at of [4, 54]) recording.writeUInt32LE(16_000, at);
    const { call } = await imported({ evaluationId: ids.times, recording });
    expect([call.outcome, call.recording.seconds]).toEqual(['passed', 10]);
    expect(call.timeline[0]).toMatchObject({
      type: 'platform',
      event: 'note',
      detail: 'The header of the recording declares 1.0 s of audio; all 10.0 s in the file were read',
    });
  });

  const formats = [
    ['mulaw', 8_000, 8_000],
    ['alaw', 8_000, 8_000],
    ['pcm16', 16_000, 16_000],
    ['pcm16', 22_050, 24_000],
    ['pcm16', 24_000, 24_000],
    ['pcm16', 44_100, 24_000],
    ['pcm16', 48_000, 24_000],
  ] as const;
  it.each(sample(formats))('takes %s at %i samples per second and stores %i', async (encoding, rate, sampleRate) => {
    const recording = wavOf({ encoding, rate });
    const { call } = await imported({ evaluationId: ids.times, recording });
    expect(call.recording).toMatchObject({ sampleRate, channels: ['caller', 'agent'] });
    const [{ heardMs, plusMinusMs }] = call.voice.latencies;
    expect(Math.abs(heardMs - LATENCY_MS)).toBeLessThanOrEqual(plusMinusMs);
    const { bytes } = await recordingOf(call.id);
    expect(readWav(bytes)).toMatchObject({ rate: sampleRate, encoding: sampleRate === 8_000 ? 'mulaw' : 'pcm16' });
  });

  it('takes the sides from the channels that the form names', async () => {
    const recording = wavOf({ channels: [CALL.agent, CALL.caller] });
    const { call } = await imported({ evaluationId: ids.times, recording, channels: 'agent-caller' });
    expect(call).toMatchObject({ outcome: 'passed', voice: { greetingMs: expect.closeTo(500, -1) } });
  });

  it('is measured again from the recording that was stored, with the same result', async () => {
    const { run, call } = await imported({ evaluationId: ids.words, transcript: TRANSCRIPT });
    const started = await client.post(`/runs/${run.id}/remeasure`);
    expect(started.status).toBe(201);
    await client.get(`/runs/${started.body.data.id}?wait=60`);
    const [{ id }] = (await client.get(`/runs/${started.body.data.id}/calls`)).body.data;
    const again = (await client.get(`/calls/${id}`)).body.data;
    for (const field of ['outcome', 'timeline', 'voice', 'checks', 'words', 'wordsFrom', 'versions']) {
      expect({ [field]: again[field] }).toEqual({ [field]: call[field] });
    }
  });

  it('sends no event, and is not an earlier run that others are compared with', async () => {
    const first = await imported({ evaluationId: ids.times });
    const second = await imported({ evaluationId: ids.times });
    const [{ n }] = await sql<any>(app.databaseUrl, 'SELECT count(*)::int AS n FROM webhook_deliveries');
    expect(n).toBe(0);
    expect((await client.get(`/runs/${second.run.id}/comparison`)).status).toBe(404);
    const compared = await client.get(`/runs/${second.run.id}/comparison?with=${first.run.id}`);
    expect(compared).toMatchObject({
      status: 200,
      body: { data: { cases: [{ current: { latency: { clock: 'recorded' } } }] } },
    });
    const metrics = await client.get(`/agents/${subject.agentId}/metrics`);
    expect(metrics).toMatchObject({ status: 200, body: { data: { runs: { total: 0 } } } });
    for (const page of ['report', 'junit'])
      expect((await client.get(`/runs/${second.run.id}/${page}`)).status).toBe(200);
  });

  it('is done once for an external id, however the form looks', async () => {
    const fields = { evaluationId: ids.times, externalId: `CA-${randomUUID()}` };
    const { call } = await imported(fields);
    expect(await send(fields)).toMatchObject({
      status: 200,
      body: { message: 'Call was imported before', data: { id: call.id } },
    });
    const other = await send({ ...fields, recording: wavOf({ channels: [CALL.agent, CALL.caller] }) });
    expect(other).toMatchObject({ status: 409, body: { message: expect.stringMatching(/^externalId /) } });
    expect((await client.delete(`/runs/${call.runId}`)).status).toBe(200);
    // The call is gone, so that it can be imported again.
    expect((await send(fields)).status).toBe(202);
  });

  it('is done once for two requests with one external id at the same time', async () => {
    const fields = { evaluationId: ids.times, externalId: `CA-${randomUUID()}` };
    const [one, two] = await Promise.all([send(fields), send(fields)]);
    expect([one.status, two.status].sort()).toEqual([200, 202]);
    expect(one.body.data.id).toBe(two.body.data.id);
  });

  it('honours an Idempotency-Key, though each form has another boundary', async () => {
    const key = { 'Idempotency-Key': randomUUID() };
    const first = await send({ evaluationId: ids.times }, key);
    const second = await send({ evaluationId: ids.times }, key);
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.body.data.id).toBe(first.body.data.id);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect((await send({ evaluationId: ids.both }, key)).status).toBe(422);
  });

  it('is imported and followed by the vat command', async () => {
    const file = path.join(dataDir, 'a call.wav');
    const transcript = path.join(dataDir, 'transcript.json');
    await writeFile(file, wavOf());
    await writeFile(transcript, JSON.stringify(TRANSCRIPT));
    const env = { VAT_URL: app.url, VAT_API_KEY: subject.apiKey };
    const of = ['--agent', subject.agentId, '--channels', 'caller-agent', '--started-at', STARTED_AT];
    const words = ['--evaluation', 'answers-with-words', '--transcript', transcript];
    const { code, stdout, stderr } = await vat(['import-call', file, ...of, ...words], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('"Imported calls"') });
    expect(stdout).toContain('Answers with words');
    const missing = await vat(['import-call', `${file}x`, ...of, ...words], env);
    expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining('cannot be read') });
    const refused = await vat(['import-call', transcript, ...of, ...words], env);
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('recording cannot be read') });
  }, 60_000);

  it('is gone from the disk with its run', async () => {
    Object.assign(app.nest.get(RetentionRepository), { pruneDelayMs: 0 });
    const { run, call } = await imported({ evaluationId: ids.times });
    expect((await client.delete(`/runs/${run.id}`)).status).toBe(200);
    expect((await recordingOf(call.id)).status).toBe(404);
    const folder = path.join(dataDir, 'recordings', subject.workspaceId);
    await until(
      'its folder is deleted',
      async () => !(await readdir(folder).catch((): string[] => [])).includes(run.id),
    );
  });
});
