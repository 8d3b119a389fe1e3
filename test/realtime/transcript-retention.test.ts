import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stubModel } from '../simulators/model/llm-stub.js';
import { wellBehavedJudge } from '../simulators/model/misbehaving-models.js';
import { TestServers } from '../simulators/servers.js';
import { Queue } from '../../src/platform/queue/queue.js';
import { expectError, expectNotFound } from '../support/expect.js';
import { jobContext } from '../support/job-context.js';
import { callEnv, executeRun, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { filesWith, tablesWith } from '../support/stored-words.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { startVoiceAgent } from '../support/voice-agent.js';

const QUESTION = 'Until when are you open?';
/** Of the agent's answer; no evaluation has it. */
const SAID = 'Tuesday';
const EVALUATION = {
  key: 'hours',
  name: 'Asks for the hours',
  scenarioText: 'You want to know until when the restaurant is open.',
  script: [{ say: QUESTION }, { end: 'Answered' }],
  checks: [
    { name: 'Never names a day', type: 'never_says', pattern: '(?i)\\bt\\w+day\\b' },
    { name: 'Answers in time', type: 'max_latency_ms', ms: 5_000 },
  ],
  criteria: [{ text: 'The agent says when the restaurant closes.', required: false }],
};
const DAYS = 7;
const DELETED =
  'The texts of the calls of the run were deleted (TRANSCRIPT_RETENTION_DAYS), so they cannot be judged again';

describe('TRANSCRIPT_RETENTION_DAYS', () => {
  const dataDir = path.join(tmpdir(), `vat-transcripts-${randomUUID()}`);
  const servers = new TestServers();
  let app: TestApp;
  let subject: Awaited<ReturnType<typeof prepareEvaluations>>;
  let run: any;
  let recent: any;
  let rejudged: any;

  beforeAll(async () => {
    const agent = await startVoiceAgent({ as: 'realtime', lines: [QUESTION] });
    const judge = wellBehavedJudge(({ lines }) => lines.some(({ text }) => text.includes(SAID)));
    const { url: model } = await stubModel(servers, judge);
    const env = { LLM_BASE_URL: model, LLM_MODEL: 'stub', TRANSCRIPT_RETENTION_DAYS: String(DAYS), DATA_DIR: dataDir };
    app = await createTestApp({ env: { ...callEnv('http://127.0.0.1:9/v1'), ...env } });
    subject = await prepareEvaluations(app, [EVALUATION]);
    const { client, agentId } = subject;
    const url = `${agent.url.replace(/^http/, 'ws')}/v1/realtime?model=booking:healthy`;
    await client.put(`/agents/${agentId}/connection`, { protocol: 'openai-realtime', url });
    const webhook = { url: 'http://127.0.0.1:9/', events: ['run.failed', 'evaluation.critical_failed'] };
    expect(await client.post('/workspace/webhooks', webhook)).toMatchObject({ status: 201 });
    [run, recent] = await Promise.all([executeRun(client, agentId), executeRun(client, agentId)]);
    const { body } = await client.post(`/runs/${run.id}/rejudge`);
    rejudged = (await client.get(`/runs/${body.data.id}?wait=60`)).body.data;
    await agent.close();
  }, 180_000);
  afterAll(async () => {
    await app?.close();
    await servers.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const query = (text: string, values: unknown[] = []) => sql<any>(app.databaseUrl, text, values);
  const callOf = async (id: string) => {
    const [listed] = (await subject.client.get(`/runs/${id}/calls`)).body.data;
    return (await subject.client.get(`/calls/${listed.id}`)).body.data;
  };
  const text = async (address: string) =>
    (await fetch(app.url + address, { headers: { Authorization: `Bearer ${subject.apiKey}` } })).text();
  const runJob = () =>
    app.nest
      .get(Queue)
      .handled.find(({ job }) => job.name === 'runs.prune-transcripts')!
      .handler({}, jobContext(new AbortController().signal));
  const tables = () => tablesWith(app.databaseUrl, SAID);
  /** Endings of the names of files. */
  const files = async () => (await filesWith(dataDir, SAID)).map((name) => name.slice(36)).sort();

  it('deletes what was said from database and DATA_DIR, with derived runs, and keeps verdicts and audio', async () => {
    const before = await callOf(run.id);
    expect(before).toMatchObject({ outcome: 'failed', reason: expect.stringContaining(SAID) });
    expect(await tables()).toEqual(['public.call_results', 'public.calls', 'public.webhook_events']);
    expect(await files()).toEqual(['.facts.json.gz', '.facts.json.gz', '.ndjson', '.ndjson']);
    expect(await callOf(rejudged.id)).toMatchObject({ reason: expect.stringContaining(SAID) });

    await query(`UPDATE runs SET ended_at = now() - interval '${DAYS - 1} days' WHERE id = $1`, [run.id]);
    await runJob();
    expect(await callOf(run.id)).toEqual(before);
    await query("UPDATE runs SET ended_at = now() - $2 * interval '25 hours' WHERE id = $1", [run.id, DAYS]);
    await runJob();

    // A run that ended later keeps its texts.
    expect(await callOf(recent.id)).toMatchObject({ reason: expect.stringContaining(SAID) });
    expect(await files()).toEqual(['.facts.json.gz', '.ndjson']);
    for (const id of [run.id, rejudged.id]) {
      const call = await callOf(id);
      expect(JSON.stringify(call)).not.toContain(SAID);
      expect(call).toMatchObject({
        ...{ outcome: 'failed', score: before.score, voice: before.voice, words: [] },
        reason: 'Not met: Never names a day. The texts of the call were deleted.',
        checks: [
          { name: 'Never names a day', met: false, evidence: [{ quote: '' }] },
          { met: true, detail: before.checks[1].detail },
        ],
        criteria: [{ verdict: 'met', reason: 'The texts of the call were deleted' }],
        measures: { durationMs: before.measures.durationMs, latency: before.measures.latency },
      });
      const speech = call.timeline.filter(({ type }: any) => type === 'speech');
      expect(speech.length).toBeGreaterThan(2);
      for (const entry of speech) expect(entry).toMatchObject({ text: '', words: 'deleted' });
      const report = await text(`/runs/${id}/report`);
      expect(report).toContain('words deleted');
      for (const page of [report, await text(`/runs/${id}/junit`)]) expect(page).not.toContain(SAID);
    }
    expect(await text(`/calls/${before.id}/recording`)).toMatch(/^RIFF/);
    expectNotFound(await subject.client.get(`/calls/${before.id}/wire`));

    await query("UPDATE runs SET ended_at = now() - $1 * interval '25 hours'", [DAYS]);
    await runJob();
    expect([await tables(), await files()]).toEqual([[], []]);
    const [event] = await query(`SELECT body::jsonb -> 'data' AS data FROM webhook_events WHERE type = 'run.failed'`);
    expect(event.data.failedCases).toEqual([
      expect.objectContaining({ key: 'hours', outcome: 'failed', reason: null }),
    ]);
  });

  it('makes that the calls cannot be judged or measured again, and says why', async () => {
    for (const kind of ['rejudge', 'remeasure']) {
      expectError(await subject.client.post(`/runs/${run.id}/${kind}`), 409, 'CONFLICT', DELETED);
    }
  });

  it('has nothing left to do', async () => {
    const rows = () => query('SELECT id, transcripts_deleted_at, xmin::text FROM runs ORDER BY id');
    const before = await rows();
    expect(before).toHaveLength(3);
    await runJob();
    expect(await rows()).toEqual(before);
  });
});
