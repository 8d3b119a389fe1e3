import { randomUUID } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ServerAnswer, TranscriptionDouble } from '../simulators/transcription/transcription-double.js';
import { RetentionRepository } from '../../src/modules/retention/retention.repository.js';
import { Queue } from '../../src/platform/queue/queue.js';
import { expectError } from '../support/expect.js';
import { importCall, type ImportFields } from '../support/imported-calls.js';
import { jobContext } from '../support/job-context.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { filesWith, tablesWith } from '../support/stored-words.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

/** Only the agent says it. */
const SAID = 'Zanzibar';
const GREETING = 'Good evening.';
const ANSWER = `We are open until ten, in ${SAID}.`;
const QUESTION = 'Until when are you open?';
const OF_CALLER = [{ speaker: 'caller', text: QUESTION, startMs: 2_500, endMs: 4_000 }];
const TRANSCRIPT = [{ speaker: 'agent', text: ANSWER, startMs: 5_200, endMs: 7_200 }];
const DAYS = 7;
const IMPORTED =
  'The calls of the run were imported; nothing can be run again. To call the agent, start a run of the evaluation';
const script = [{ say: QUESTION }, { end: 'Answered' }];
const scenarioText = 'You want to know until when the restaurant is open.';
const TIMES = [{ name: 'Answers in time', type: 'max_latency_ms', ms: 2_000 }];
const WORDS = [...TIMES, { name: 'Names the hour', type: 'says', text: 'until ten' }];

describe('an imported call without a transcript', () => {
  const dataDir = path.join(tmpdir(), `vat-imported-words-${randomUUID()}`);
  /** Pieces of the greeting are shorter than those of the answer. */
  const hears = ({ pcm, rate }: { pcm: Int16Array; rate: number }): ServerAnswer => ({
    body: { text: pcm.length / rate < 2 ? GREETING : ANSWER },
  });
  let behaviour: typeof hears = hears;
  const server = new TranscriptionDouble((audio) => behaviour(audio));
  let app: TestApp;
  let subject: Awaited<ReturnType<typeof prepareEvaluations>>;
  let ids: Record<'words' | 'times' | 'generated', string>;

  beforeAll(async () => {
    const url = await server.start();
    const env = { STT_BASE_URL: url, STT_MODEL: 'small', TRANSCRIPT_RETENTION_DAYS: String(DAYS), DATA_DIR: dataDir };
    // Nothing can call the agent.
    app = await createTestApp({ env: { ...callEnv('http://127.0.0.1:9/v1'), ...env } });
    subject = await prepareEvaluations(app, [
      { key: 'words', name: 'Words', scenarioText, script, checks: WORDS },
      { key: 'times', name: 'Times', scenarioText, script, checks: TIMES },
      { key: 'generated', name: 'Times without a script', scenarioText, checks: TIMES },
    ]);
    const [words, times, generated] = subject.evaluationIds;
    ids = { words: words!, times: times!, generated: generated! };
    await until('the server was probed', () => server.received.length === 1);
  }, 120_000);
  beforeEach(() => {
    behaviour = hears;
    server.received.splice(0);
  });
  afterAll(async () => {
    await app?.close();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  const imported = async (fields: ImportFields) => {
    const { client, agentId, apiKey } = subject;
    const response = await importCall({ url: app.url, apiKey }, agentId, fields);
    expect(response).toMatchObject({ status: 202 });
    const { id, runId } = response.body.data;
    const run = (await client.get(`/runs/${runId}?wait=60`)).body.data;
    return { run, call: (await client.get(`/calls/${id}`)).body.data };
  };
  const connect = (options: object) =>
    subject.client.put(`/agents/${subject.agentId}/connection`, {
      ...{ protocol: 'twilio-media-streams', url: 'http://127.0.0.1:9/voice', options },
    });
  const query = (text: string, values: unknown[] = []) => sql<any>(app.databaseUrl, text, values);
  const runJob = (name: string) =>
    app.nest
      .get(Queue)
      .handled.find(({ job }) => job.name === name)!
      .handler({}, jobContext(new AbortController().signal));

  it('has the words that the transcription server hears of the agent, and only the agent is sent', async () => {
    const { run, call } = await imported({ evaluationId: ids.words });
    expect(run).toMatchObject({ status: 'COMPLETED', exitCode: 0 });
    expect(call).toMatchObject({
      outcome: 'passed',
      wordsFrom: { source: 'recogniser', model: 'small', times: 'utterance' },
      timeline: [
        { speaker: 'agent', text: GREETING, words: 'known' },
        { speaker: 'caller', text: '' },
        { speaker: 'agent', text: ANSWER, words: 'known' },
        { type: 'end' },
      ],
    });
    const sent = server.received.map(({ pcm, rate }) => Math.round((pcm.length / rate) * 10) / 10);
    // A second and two seconds, with 200 ms around each; again with 400 ms, since one turn alone meets the required check.
    expect(sent.sort()).toEqual([1.4, 1.8, 2.4, 2.8]);
    expect(server.received.map(({ fields }) => fields['language'])).toEqual(['en', 'en', 'en', 'en']);
  });

  it('has the same words when it is measured again', async () => {
    const { run, call } = await imported({ evaluationId: ids.words });
    server.received.splice(0);
    const started = await subject.client.post(`/runs/${run.id}/remeasure`);
    expect(started.status).toBe(201);
    await subject.client.get(`/runs/${started.body.data.id}?wait=60`);
    const [{ id }] = (await subject.client.get(`/runs/${started.body.data.id}/calls`)).body.data;
    const again = (await subject.client.get(`/calls/${id}`)).body.data;
    for (const field of ['outcome', 'timeline', 'checks', 'words', 'wordsFrom']) {
      expect({ [field]: again[field] }).toEqual({ [field]: call[field] });
    }
    expect(server.received).toEqual([]);
    for (const runId of [run.id, started.body.data.id]) {
      expectError(await subject.client.post(`/runs/${runId}/rerun`), 409, 'CONFLICT', IMPORTED);
    }
  });

  it('has the words of both sides if its transcript is that of the caller alone', async () => {
    const { call } = await imported({ evaluationId: ids.words, transcript: OF_CALLER });
    const spoken = call.timeline.filter(({ type }: any) => type === 'speech');
    expect(spoken.map(({ text }: any) => text)).toEqual([GREETING, QUESTION, ANSWER]);
    expect(call).toMatchObject({ outcome: 'passed', wordsFrom: { source: 'recogniser' } });
  });

  it.each<[string, ServerAnswer, string]>([
    ['refuses', { status: 401, body: {} }, 'stt_failed'],
    ['hears nothing', { body: { text: '' } }, 'words_unknown'],
  ])(
    'blames no agent if the server %s',
    async (_name, answer, code) => {
      behaviour = () => answer;
      const { run, call } = await imported({ evaluationId: ids.words });
      expect(call).toMatchObject({ outcome: 'error', failure: { code, fault: 'infrastructure' } });
      expect(call.checks).toMatchObject([{ met: true }, { met: null }]);
      expect(run.exitCode).toBe(2);
    },
    60_000,
  );

  it('sends not one byte if transcription is off, a transcript was sent, or no words are needed', async () => {
    const before = server.bytes;
    for (const [evaluationId, transcript] of [
      [ids.words, TRANSCRIPT],
      [ids.times, undefined],
      [ids.generated, undefined],
    ] as const) {
      expect((await imported({ evaluationId, transcript })).call).toMatchObject({ outcome: 'passed' });
    }
    expect(await connect({ transcription: 'off' })).toMatchObject({ status: 200 });
    const { call } = await imported({ evaluationId: ids.words });
    expect(call).toMatchObject({ outcome: 'error', failure: { code: 'words_unknown' }, wordsFrom: null });
    expect([server.bytes, server.received]).toEqual([before, []]);
    expect(await connect({ transcription: 'heard' })).toMatchObject({ status: 200 });
    expect((await imported({ evaluationId: ids.words })).call).toMatchObject({ outcome: 'passed' });
    expect(server.bytes).toBeGreaterThan(before + 10_000);
  }, 60_000);

  it('loses its texts after TRANSCRIPT_RETENTION_DAYS like every voice call, and keeps its audio', async () => {
    const first = await imported({ evaluationId: ids.words });
    const second = await imported({ evaluationId: ids.words, transcript: TRANSCRIPT });
    const files = async () => new Set((await filesWith(dataDir, SAID)).map((name) => name.slice(36)));
    expect(await tablesWith(app.databaseUrl, SAID)).toContain('public.call_results');
    expect(await files()).toEqual(new Set(['.facts.json.gz']));
    await query("UPDATE runs SET ended_at = now() - $1 * interval '25 hours'", [DAYS]);
    await runJob('runs.prune-transcripts');
    expect(await tablesWith(app.databaseUrl, SAID)).toEqual([]);
    expect(await files()).toEqual(new Set());
    for (const { run, call } of [first, second]) {
      const after = (await subject.client.get(`/calls/${call.id}`)).body.data;
      expect(after).toMatchObject({ outcome: 'passed', voice: call.voice, words: [], recording: call.recording });
      const spoken = after.timeline.filter(({ speaker }: any) => speaker === 'agent');
      expect(spoken.map(({ words }: any) => words)).toEqual(spoken.map(() => 'deleted'));
      expect(await subject.client.post(`/runs/${run.id}/remeasure`)).toMatchObject({ status: 409 });
    }
  });

  it('is gone from database and disk with its run: audio, peaks, words and transcript', async () => {
    const { run, call } = await imported({ evaluationId: ids.words, externalId: `CA-${randomUUID()}` });
    const folder = path.join(dataDir, 'recordings', subject.workspaceId, run.id);
    const endings = (await readdir(folder)).map((name) => name.slice(36)).sort();
    expect(endings).toEqual(['.facts.json.gz', '.peaks.json', '.wav']);
    const rows = () =>
      query(
        `SELECT (SELECT count(*) FROM calls WHERE id = $1)::int AS calls,
                (SELECT count(*) FROM call_results WHERE call_id = $1)::int AS results,
                (SELECT count(*) FROM recordings WHERE call_id = $1)::int AS recordings,
                (SELECT count(*) FROM call_imports WHERE call_id = $1)::int AS imports`,
        [call.id],
      );
    expect(await rows()).toEqual([{ calls: 1, results: 1, recordings: 1, imports: 1 }]);
    expect(await subject.client.delete(`/runs/${run.id}`)).toMatchObject({ status: 200 });
    app.nest.get(RetentionRepository).pruneDelayMs = 0;
    await runJob('runs.prune');
    expect(await rows()).toEqual([{ calls: 0, results: 0, recordings: 0, imports: 0 }]);
    await expect(readdir(folder)).rejects.toThrow('ENOENT');
    expect(await tablesWith(app.databaseUrl, SAID)).toEqual([]);
    expect(await filesWith(dataDir, SAID)).toEqual([]);
  });
});
