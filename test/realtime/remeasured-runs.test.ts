import { randomUUID } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { RetentionRepository } from '../../src/modules/retention/retention.repository.js';
import { expectError, expectForbidden, expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { callEnv, executeRun, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { vat } from '../support/vat.js';
import { startVoiceAgent } from '../support/voice-agent.js';

const QUESTION = 'Until when are you open?';
const evaluation = (name: string, checks: object[] = []) => ({
  key: name.toLowerCase(),
  name,
  scenarioText: 'You want to know until when the restaurant is open.',
  script: [{ say: QUESTION }, { end: 'Answered' }],
  checks: [{ name: 'Answers in time', type: 'max_latency_ms', ms: 5_000 }, ...checks],
});
const NOTHING = 'No call of the run has a recording that can be measured again';
/** Fields of a call that is another row. */
const OF_ITS_OWN = new Set(['id', 'runId', 'startedAt', 'endedAt', 'createdAt', 'updatedAt']);
/** Samples of silence, as mu-law. */
const SILENCE = 0xff;
const HEADER_BYTES = 100;

describe('a run that is measured again', () => {
  const dataDir = path.join(tmpdir(), `vat-remeasured-${randomUUID()}`);
  let app: TestApp;
  let subject: Awaited<ReturnType<typeof prepareEvaluations>>;
  let client: HttpClient;
  /** Two evaluations with two calls each; the second one fails. */
  let source: any;

  beforeAll(async () => {
    const agent = await startVoiceAgent({ lines: [QUESTION] });
    const env = { ...callEnv('http://127.0.0.1:9/v1'), VOICE_CONCURRENCY: '8', DATA_DIR: dataDir };
    app = await createTestApp({ env });
    subject = await prepareEvaluations(app, [
      evaluation('Asks'),
      evaluation('At once', [{ name: 'Answers at once', type: 'max_latency_ms', ms: 1 }]),
    ]);
    ({ client } = subject);
    const url = `${agent.url}/voice`;
    await client.put(`/agents/${subject.agentId}/connection`, { protocol: 'twilio-media-streams', url });
    const webhook = { url: 'http://127.0.0.1:9/', events: ['run.completed', 'run.failed', 'agent.score_dropped'] };
    expect(await client.post('/workspace/webhooks', webhook)).toMatchObject({ status: 201 });
    source = await executeRun(client, subject.agentId, { name: 'Nightly', repeat: 2, agentVersion: 'a1b2c3d' });
    // Nothing can call it any more.
    await agent.close();
  }, 120_000);
  afterAll(async () => {
    await app?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  const query = (text: string, values: unknown[] = []) => sql<any>(app.databaseUrl, text, values);
  const start = (id: string = source.id) => client.post(`/runs/${id}/remeasure`);
  const ended = async (id: string) => (await client.get(`/runs/${id}?wait=60`)).body.data;
  const remeasured = async (id?: string) => {
    const response = await start(id);
    expect(response).toMatchObject({ status: 201, body: { message: 'Run started successfully' } });
    return ended(response.body.data.id);
  };
  const callsOf = async (id: string): Promise<any[]> => {
    const listed: { id: string }[] = (await client.get(`/runs/${id}/calls`)).body.data;
    return Promise.all(listed.map(async (call) => (await client.get(`/calls/${call.id}`)).body.data));
  };
  const recording = async (callId: string) => {
    const response = await fetch(`${app.url}/calls/${callId}/recording`, {
      headers: { Authorization: `Bearer ${subject.apiKey}` },
    });
    return { status: response.status, bytes: Buffer.from(await response.arrayBuffer()) };
  };
  /** The path of a file of the recordings of a call. */
  const fileOf = async (callId: string, ending: string) => {
    const [row] = await query('SELECT id, run_id, workspace_id FROM recordings WHERE call_id = $1', [callId]);
    return path.join(dataDir, 'recordings', row.workspace_id, row.run_id, `${row.id}.${ending}`);
  };
  const deliveries = async () => (await query('SELECT count(*)::int AS n FROM webhook_deliveries'))[0].n as number;

  it('has calls like those of the run, decided from their recordings, and no call was made', async () => {
    expect(source).toMatchObject({ status: 'FAILED', counts: { passed: 2, failed: 2 }, derivedFrom: null });
    const sent = await deliveries();
    expect(sent).toBe(1);
    const run = await remeasured();
    expect(run).toMatchObject({
      name: 'Remeasured: Nightly',
      derivedFrom: { runId: source.id, kind: 'remeasure' },
      ...{ status: 'FAILED', exitCode: 1, score: source.score, totalCalls: 4, repeat: 2, agentVersion: 'a1b2c3d' },
      ...{ counts: source.counts, reasons: source.reasons, warnings: [], retriedCalls: 0 },
    });
    const [was, is] = [await callsOf(source.id), await callsOf(run.id)];
    for (const [index, call] of is.entries()) {
      const { attempts, measures, ...before } = was[index];
      const rest = Object.fromEntries(Object.entries(before).filter(([field]) => !OF_ITS_OWN.has(field)));
      expect(call).toMatchObject({ ...rest, measures: { ...measures, tester: expect.anything() } });
      expect(call.attempts).toEqual([expect.objectContaining({ callId: attempts[0].callId })]);
      expect(call.voice.latencies.length).toBeGreaterThan(0);
    }
    const [first, again] = [await recording(was[0].id), await recording(is[0].id)];
    expect([again.status, again.bytes.equals(first.bytes), again.bytes.length > 10_000]).toEqual([200, true, true]);
    expect(await deliveries()).toBe(sent);
  });

  it('is compared with the run, in the report, too, and is not a run that others are compared with', async () => {
    const run = await remeasured();
    const { body } = await client.get(`/runs/${run.id}/comparison`);
    expect(body.data).toMatchObject({ baseline: { id: source.id, counted: 4 }, current: { counted: 4 } });
    const text = async (file: string) =>
      (
        await fetch(`${app.url}/runs/${run.id}/${file}`, { headers: { Authorization: `Bearer ${subject.apiKey}` } })
      ).text();
    expect(await text('report')).toContain(`measured again from the recordings of run <code>${source.id}</code>`);
    expect(await text('junit')).toContain(`<property name="derivedFrom" value="${source.id}"/>`);

    const plan = (notWorseThan: string) =>
      client.post(`/agents/${subject.agentId}/runs`, { dryRun: true, notWorseThan });
    const dependent = await plan(run.id);
    expect(dependent).toMatchObject({
      status: 400,
      body: { issues: [{ message: 'notWorseThan must be a run that called the agent' }] },
    });
    await query(`UPDATE runs SET status = 'COMPLETED' WHERE id = $1`, [run.id]);
    expect((await plan('previous')).body.data.baselineRunId).toBeNull();
    const metrics = (await client.get(`/agents/${subject.agentId}/metrics`)).body.data;
    expect(metrics).toMatchObject({ runs: { total: 1 }, calls: { passed: 2, failed: 2 } });
  });

  it('leaves out calls without a recording that can be measured, with a warning', async () => {
    const [first, second] = await callsOf(source.id);
    const [{ id: left }] = await query('SELECT id FROM recordings WHERE call_id = $1', [first.id]);
    await query('UPDATE recordings SET facts_bytes = 0 WHERE id = $1', [left]);
    try {
      const run = await remeasured();
      expect(run).toMatchObject({
        ...{ totalCalls: 3, repeat: 2 },
        counts: { passed: 1, failed: 2, pending: 0 },
        warnings: [
          '1 call of the run left out, which the gate counts as not tested: no recording that can be measured again.',
        ],
        reasons: expect.arrayContaining([expect.stringContaining('of 4 planned calls could not be tested')]),
      });
      const calls = await callsOf(run.id);
      expect(calls.map(({ evaluationName, repetition }) => [evaluationName, repetition])).toEqual([
        ...[[second.evaluationName, 1]],
        ...[1, 2].map((repetition) => ['At once', repetition]),
      ]);
      const page = await client.get(`/runs/${run.id}/comparison`);
      expect(page.body.data.cases).toHaveLength(2);
    } finally {
      await query('UPDATE recordings SET facts_bytes = 1 WHERE id = $1', [left]);
    }
  });

  it('decides by the audio as it is on disk, and can itself be measured again', async () => {
    const [call] = await callsOf(source.id);
    const file = await fileOf(call.id, 'wav');
    const wav = await readFile(file);
    await writeFile(
      file,
      wav.map((byte, index) => (index >= HEADER_BYTES && index % 2 === 1 ? SILENCE : byte)),
    );
    try {
      const earlier = await remeasured();
      const run = await remeasured(earlier.id);
      expect(run.derivedFrom).toEqual({ runId: earlier.id, kind: 'remeasure' });
      const [silent, heard] = await callsOf(run.id);
      expect(silent.outcome).not.toBe('passed');
      expect(silent.voice.latencies.every(({ answered }: { answered: boolean }) => !answered)).toBe(true);
      expect(heard.outcome).toBe('passed');
    } finally {
      await writeFile(file, wav);
    }
  });

  it('ends a call as an error, once, whose recording is deleted in between', async () => {
    const [call] = await callsOf(source.id);
    const file = await fileOf(call.id, 'facts.json.gz');
    const facts = await readFile(file);
    await rm(file);
    try {
      const run = await remeasured();
      expect(run).toMatchObject({ exitCode: 1, counts: { passed: 1, failed: 2, error: 1 } });
      const [lost] = await callsOf(run.id);
      expect(lost).toMatchObject({
        failure: { code: 'not_remeasured' },
        reason: expect.stringContaining('could not be measured again: it was deleted'),
      });
      expect(lost.attempts).toHaveLength(1);
    } finally {
      await writeFile(file, facts);
    }
  });

  it('does not try a call again that broke off: its recording stays the same', async () => {
    const [call] = await callsOf(source.id);
    const file = await fileOf(call.id, 'facts.json.gz');
    const stored = await readFile(file);
    const { version, facts } = JSON.parse(gunzipSync(stored).toString()) as { version: number; facts: any };
    const failure = { code: 'tester_overloaded', message: 'Too busy', fault: 'infrastructure', retryable: true };
    const brokenOff = { ...facts, failure, end: { ...facts.end, by: 'tester', code: 'failure', reason: 'Too busy' } };
    await writeFile(file, gzipSync(JSON.stringify({ version, facts: brokenOff })));
    try {
      const run = await remeasured();
      expect(run).toMatchObject({ counts: { passed: 1, failed: 2, error: 1 }, retriedCalls: 0 });
      const [lost] = await callsOf(run.id);
      expect(lost.failure.code).toBe('tester_overloaded');
      expect(lost.attempts).toHaveLength(1);
    } finally {
      await writeFile(file, stored);
    }
  });

  it('is followed by `vat remeasure`, which exits as the gate decides', async () => {
    const env = { VAT_URL: app.url, VAT_API_KEY: subject.apiKey };
    const { code, stdout, stderr } = await vat(['remeasure', source.id], env);
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('"Remeasured: Nightly"') });
    expect(stdout).toContain('Answers at once');
    const [latest] = (await client.get(`/agents/${subject.agentId}/runs`)).body.data;
    expect(await ended(latest.id)).toMatchObject({
      derivedFrom: { runId: source.id },
      counts: { passed: 2, failed: 2 },
    });
    const unknown = await vat(['remeasure', randomUUID()], env);
    expect(unknown).toMatchObject({ code: 3, stderr: expect.stringContaining('not found') });
  });

  it('is refused to others, before the end of a run, and without a recording', async () => {
    const stranger = await app.createWorkspace();
    expectForbidden(await new HttpClient(app.url, stranger.apiKey).post(`/runs/${source.id}/remeasure`));
    const viewer = await createKey(app, subject, 'VIEWER');
    expectForbidden(await new HttpClient(app.url, viewer.value).post(`/runs/${source.id}/remeasure`));
    expectNotFound(await start(randomUUID()));
    const text = await prepareEvaluations(app);
    const open = (await text.client.post(`/agents/${text.agentId}/runs`, {})).body.data.id;
    expectError(await text.client.post(`/runs/${open}/remeasure`), 409, 'CONFLICT', 'The run has not ended yet');
    expect(await text.client.post(`/runs/${open}/cancel`)).toMatchObject({ status: 200 });
    expectError(await text.client.post(`/runs/${open}/remeasure`), 409, 'CONFLICT', NOTHING);
  });

  it('stays when the run is deleted, without recordings', async () => {
    const run = await remeasured();
    app.nest.get(RetentionRepository).pruneDelayMs = 0;
    await query('DELETE FROM recordings WHERE run_id = $1', [source.id]);
    expect(await client.delete(`/runs/${source.id}`)).toMatchObject({ status: 200 });
    const [call] = await callsOf(run.id);
    expect(call).toMatchObject({ outcome: 'passed', recording: null });
    expect((await recording(call.id)).status).toBe(404);
    expect(await ended(run.id)).toMatchObject({ derivedFrom: { runId: source.id }, counts: { passed: 2 } });
    expectError(await start(run.id), 409, 'CONFLICT', NOTHING);
  });
});
