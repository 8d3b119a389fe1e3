import { readdir, rm } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readWav } from '../../libs/audio/index.js';
import { VapiServer } from '../../libs/simulation/testing/vapi.js';
import { CallFetcher } from '../../src/modules/monitoring/call-fetcher.service.js';
import { SoundFetcher } from '../../src/modules/monitoring/sound-fetcher.service.js';
import { RunFinisher } from '../../src/modules/run-ends/run-finisher.service.js';
import type { KeptCall } from '../simulators/records/kept-calls.js';
import { RetellServer } from '../simulators/retell/server.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { CALL, channelOf, LATENCY_MS, wavOf } from '../support/wav-call.js';

const KEY = 'key_of_the_test_1234567890';
const MINUTE_MS = 60_000;
const LINES: KeptCall['lines'] = [
  { speaker: 'agent', text: 'Good evening.', startMs: 500, endMs: 1_500 },
  { speaker: 'caller', text: 'Call me at 415-555-0142, please.', startMs: 2_500, endMs: 4_000 },
  { speaker: 'agent', text: 'We will.', startMs: 5_200, endMs: 7_200 },
];
const SOUND = wavOf();
const MIXED = channelOf(10_000, [
  [500, 1_000],
  [2_500, 1_500],
  [5_200, 2_000],
]);

describe.each(['vapi', 'retell'] as const)('the sound of production calls of %s', (name) => {
  const dataDir = path.join(tmpdir(), `vat-sound-${randomUUID()}`);
  let app: TestApp;
  let platform: VapiServer | RetellServer;
  let fetcher: CallFetcher;
  let sounds: SoundFetcher;

  beforeAll(async () => {
    platform = name === 'vapi' ? await VapiServer.start({ apiKey: KEY }) : await RetellServer.start({ apiKey: KEY });
    const protocol = name === 'vapi' ? 'vapi' : 'retell-text';
    const provider = { AGENT_PROVIDER_4_PROTOCOL: protocol, AGENT_PROVIDER_4_URL: platform.url };
    const env = { ROLE: 'api', OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8', DATA_DIR: dataDir, ...provider };
    app = await createTestApp({ env });
    fetcher = app.nest.get(CallFetcher, { strict: false });
    sounds = app.nest.get(SoundFetcher, { strict: false });
    Object.assign(fetcher, { turn: () => Promise.resolve() });
  }, 120_000);
  beforeEach(async () => {
    await sql(app.databaseUrl, 'UPDATE agents SET call_monitoring = false');
    platform.kept.all.clear();
    for (const fault of Object.keys(platform.kept.faults) as (keyof typeof platform.kept.faults)[]) {
      delete platform.kept.faults[fault];
    }
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(async () => {
    await app?.close();
    await platform?.stop();
    await rm(dataDir, { recursive: true, force: true });
  });

  async function prepare() {
    const owner = await app.createWorkspace();
    const client = new HttpClient(app.url, owner.apiKey);
    const { body } = await client.post<any>('/agents', {
      ...{ workspaceId: owner.workspaceId, provider: 'AGENT_PROVIDER_4', assistantId: 'assistant_1' },
      ...{ apiKey: KEY, callMonitoring: true },
    });
    const agentId: string = body.data.id;
    const calls = async (): Promise<any[]> => {
      const listed = (await client.get(`/agents/${agentId}/calls?origin=production`)).body.data;
      return Promise.all(listed.map(async ({ id }: any) => (await client.get(`/calls/${id}`)).body.data));
    };
    const monitoring = async () => (await client.get(`/agents/${agentId}/monitoring`)).body.data;
    return { owner, client, agentId, calls, call: async () => (await calls())[0], monitoring };
  }
  const kept = (more: Partial<KeptCall> = {}): KeptCall => {
    const endedAt = Date.now() - 1_000;
    const call = { id: 'call_1', agent: 'assistant_1', startedAt: endedAt - 10_000, endedAt, lines: LINES };
    return { ...call, sound: SOUND, latencies: [600], ...more };
  };
  /** Fetches what is due, with all that waits. */
  async function fetch() {
    await sql(app.databaseUrl, 'UPDATE agent_monitoring SET due_at = now(), lease_until = NULL');
    await sql(app.databaseUrl, 'UPDATE fetched_calls SET due_at = now() WHERE due_at IS NOT NULL');
    await fetcher.begin();
    await fetcher.settled();
  }
  const files = () => readdir(path.join(dataDir, 'recordings', 'uploads')).catch(() => []);

  it.each([
    ['in the documented channels', SOUND],
    ['in swapped channels', wavOf({ channels: [CALL.agent, CALL.caller] })],
    ['with a header that lies', Buffer.concat([SOUND.subarray(0, 40), Buffer.from([8, 0, 0, 0]), SOUND.subarray(44)])],
    ['in 16 kHz', wavOf({ rate: 16_000 })],
  ])('is measured %s, and not kept, and the words stay redacted', async (_, sound) => {
    const { call, monitoring } = await prepare();
    platform.kept.keep(kept({ sound }));
    await fetch();
    const { voice, checks, unmeasured, imported, ...found } = await call();
    expect([unmeasured, found.status, found.outcome]).toEqual([null, 'ENDED', 'passed']);
    const [{ heardMs, plusMinusMs }] = voice.latencies;
    expect(Math.abs(heardMs - LATENCY_MS)).toBeLessThanOrEqual(plusMinusMs);
    expect(found.latencies).toEqual([heardMs]);
    // The dashboard says 0.6 s, the caller waited 1.2 s.
    expect(imported.reported).toEqual({ [name === 'vapi' ? 'turn' : 'e2e']: [600] });
    expect(checks.map(({ type, met }: any) => [type, met])).toEqual([
      ['max_latency_ms', true],
      ['max_silence_ms', true],
      ['no_personal_data', true],
    ]);
    expect(found).toMatchObject({ recording: null, wordsFrom: { source: 'transcript' }, words: [] });
    const texts = found.timeline.flatMap(({ text }: any) => text ?? []);
    expect(texts).toEqual(['Good evening.', 'Call me at [phone number 1], please.', 'We will.']);
    const stored = await sql(app.databaseUrl, 'SELECT result::text AS text FROM call_results');
    expect(JSON.stringify(stored)).not.toContain('555');
    expect([await files(), (await monitoring()).today]).toMatchObject([[], { judged: 1, awaited: 0 }]);
  });

  it.each([
    ['with both voices in each channel', { sound: wavOf({ channels: [MIXED, MIXED] }) }, {}, /cannot be told/],
    ['with both voices in one channel', { sound: wavOf({ channels: [CALL.caller, MIXED] }) }, {}, /cannot be told/],
    [
      'of another call',
      { lines: LINES.map((line) => ({ ...line, startMs: line.startMs + 2_000, endMs: line.endMs + 2_000 })) },
      {},
      /cannot be told/,
    ],
    [
      'without an answer',
      { sound: wavOf({ channels: [CALL.caller, channelOf(10_000, [[500, 1_000]])] }) },
      {},
      /missing/,
    ],
    ['without the caller', { sound: wavOf({ channels: [channelOf(10_000, []), CALL.agent] }) }, {}, /missing/],
    ['that ends before the answer', { sound: SOUND.subarray(0, 44 + 4.2 * 32_000) }, {}, /missing/],
    ['with one channel', { sound: wavOf({ channels: [MIXED] }) }, {}, /two channels/],
    [
      'in another format',
      { sound: Buffer.from('ID3 is not a WAV file, but the start of an MP3 file') },
      {},
      /cannot be read/,
    ],
    ['that is empty', { sound: Buffer.alloc(0) }, {}, /cannot be read/],
    ['on a private address', {}, { soundAt: 'https://169.254.169.254/a.wav' }, /169\.254\.169\.254/],
    ['on an address without TLS', {}, { soundAt: 'http://recordings.example/a.wav' }, /https/],
  ])('is not measured %s: the words decide, and the call says why', async (_, more, faults, why) => {
    const { call, monitoring } = await prepare();
    Object.assign(platform.kept.faults, faults);
    platform.kept.keep(kept(more));
    await fetch();
    const { unmeasured, voice, checks, status, outcome } = await call();
    expect([status, outcome, voice]).toEqual(['ENDED', 'passed', null]);
    expect(checks.map(({ met }: any) => met)).toEqual([null, null, true]);
    expect(unmeasured).toMatch(why);
    expect([await files(), await monitoring()]).toMatchObject([
      [],
      { state: 'healthy', message: null, today: { judged: 1 } },
    ]);
  });

  it('that is a gzip bomb, or has more than 200 MiB, is not read to its end', async () => {
    const { call } = await prepare();
    platform.kept.keep(kept());
    const serve = platform.kept.serve.bind(platform.kept);
    platform.kept.serve = (pathname, _headers, response) => {
      if (!pathname.startsWith('/recordings/')) return false;
      response.writeHead(200, { 'content-type': 'audio/wav' });
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(4 * 1024 * 1024)));
      };
      response.on('drain', more);
      more();
      return true;
    };
    await fetch();
    platform.kept.serve = serve;
    expect((await call()).unmeasured).toContain('200 MiB');
    expect(await files()).toEqual([]);
  }, 60_000);

  it('is measured until the end of its call, though it goes on for a minute', async () => {
    const { call } = await prepare();
    const goodbye = { speaker: 'caller', text: 'Thank you, goodbye.', startMs: 8_000, endMs: 9_000 } as const;
    const caller = channelOf(70_000, [
      [2_500, 1_500],
      [8_000, 1_000],
    ]);
    const agent = channelOf(70_000, [
      [500, 1_000],
      [5_200, 2_000],
    ]);
    platform.kept.keep(kept({ lines: [...LINES, goodbye], sound: wavOf({ channels: [caller, agent] }) }));
    await fetch();
    const { unmeasured, checks } = await call();
    expect([unmeasured, checks.map(({ met }: any) => met)]).toEqual([null, [true, true, true]]);
  });

  it.each([401, 429])('whose host answers with %i is asked for again, beside that of other calls', async (status) => {
    const { calls, monitoring } = await prepare();
    platform.kept.keep(kept(), kept({ id: 'call_2' }));
    const serve = platform.kept.serve.bind(platform.kept);
    jest.spyOn(platform.kept, 'serve').mockImplementation((pathname, headers, response) => {
      if (!pathname.startsWith('/recordings/call_1-')) return serve(pathname, headers, response);
      response.writeHead(status).end();
      return true;
    });
    await fetch();
    const found = (await calls()).map(({ imported, status: now }) => [imported.externalId, now]);
    expect(Object.fromEntries(found)).toEqual({ call_1: 'RUNNING', call_2: 'ENDED' });
    expect(await monitoring()).toMatchObject({ state: 'healthy', message: null });
  });

  it('that comes late ends its call once, which until then goes on with what its words decide', async () => {
    const { call, calls, client, owner, agentId, monitoring } = await prepare();
    platform.kept.keep(kept({ sound: undefined }));
    await fetch();
    const preliminary = { outcome: 'passed', checks: [{ met: null }, { met: null }, { met: true }] };
    expect(await call()).toMatchObject({ status: 'RUNNING', outcome: null, preliminary, attempts: [], timeline: [] });
    expect((await client.get(`/agents/${agentId}/calls`)).body.data[0]).toMatchObject({ preliminary });
    expect(await monitoring()).toMatchObject({ state: 'healthy', today: { judged: 0, awaited: 1 } });
    const run = async () => (await client.get(`/runs/${(await call()).runId}`)).body.data;
    expect(await run()).toMatchObject({ counts: { passed: 0, pending: 1 } });
    const viewer = new HttpClient(app.url, (await createKey(app, owner, 'VIEWER')).value);
    const seen = (await viewer.get(`/calls/${(await call()).id}`)).body.data.preliminary;
    expect(seen.checks.map(({ met, evidence }: any) => [met, evidence])).toEqual([
      [null, []],
      [null, []],
      [true, []],
    ]);

    // Still not there.
    await fetch();
    expect(await call()).toMatchObject({ status: 'RUNNING' });
    platform.kept.keep(kept());
    await fetch();
    await fetch();
    expect(await calls()).toMatchObject([{ status: 'ENDED', outcome: 'passed', preliminary: null, attempts: [{}] }]);
    expect((await call()).voice.latencies).toHaveLength(1);
    expect(await run()).toMatchObject({ counts: { passed: 1, pending: 0 } });
    expect((await monitoring()).today).toMatchObject({ judged: 1, awaited: 0 });
  });

  it('is asked for after 1, 5, 15 and 60 minutes, then each hour for six hours; then the words decide', async () => {
    const { call, agentId } = await prepare();
    const one = kept({ sound: undefined });
    platform.kept.keep(one);
    const asked: number[] = [];
    const clock = jest.spyOn(sounds['clock'], 'now');
    await fetch();
    for (const { endedAt } = one; asked.length < 20;) {
      const [row] = await sql<{ due: Date }>(
        app.databaseUrl,
        `SELECT due_at AS due FROM fetched_calls WHERE agent_id = $1 AND awaits_sound`,
        [agentId],
      );
      if (!row) break;
      asked.push((row.due.getTime() - endedAt!) / MINUTE_MS);
      clock.mockReturnValue(row.due.getTime() + 1);
      await fetch();
    }
    expect(asked).toEqual([1, 5, 15, 60, 120, 180, 240, 300, 360]);
    expect(await call()).toMatchObject({ status: 'ENDED', unmeasured: expect.stringContaining('six hours') });
  });

  it('that comes after its call was deleted, or its agent erased, is not measured, and delays no other call', async () => {
    const { call, calls, client, agentId } = await prepare();
    const erased = await prepare();
    platform.kept.keep(kept({ sound: undefined }));
    await fetch();
    await fetch();
    expect([(await call()).status, (await erased.call()).status]).toEqual(['RUNNING', 'RUNNING']);
    expect(await client.delete(`/agents/${agentId}/calls?externalId=call_1`)).toMatchObject({ status: 200 });
    expect((await erased.client.delete(`/agents/${erased.agentId}?permanently=true`)).status).toBeLessThan(300);
    platform.kept.keep(kept(), kept({ id: 'call_2' }));
    platform.kept.downloads.length = 0;
    await fetch();
    await fetch();
    expect((await calls()).map(({ imported, status }) => [imported.externalId, status])).toEqual([['call_2', 'ENDED']]);
    expect(platform.kept.downloads).toHaveLength(1);
  });

  it('is not awaited any more, once six hours are over, of an agent that is not monitored any more', async () => {
    const { call, client, agentId } = await prepare();
    platform.kept.keep(kept({ sound: undefined }));
    await fetch();
    await client.patch(`/agents/${agentId}`, { callMonitoring: false });
    await fetch();
    expect(await call()).toMatchObject({ status: 'RUNNING' });
    await sql(app.databaseUrl, `UPDATE calls SET ended_at = now() - interval '7 h' WHERE agent_id = $1`, [agentId]);
    await sql(app.databaseUrl, `UPDATE fetched_calls SET due_at = now() - interval '2 h' WHERE agent_id = $1`, [
      agentId,
    ]);
    await fetcher.begin();
    await fetcher.settled();
    expect(await call()).toMatchObject({ status: 'ENDED', outcome: 'passed', preliminary: null });
  });

  it('holds no run open for more than seven hours, takes no capacity, and ends its call also later', async () => {
    const { call, client, agentId } = await prepare();
    platform.kept.keep(kept({ sound: undefined }));
    await fetch();
    const { runId } = await call();
    const finisher = app.nest.get(RunFinisher, { strict: false });
    const statusAfter = async (hours: number) => {
      const late = `UPDATE runs SET open_until = now() - interval '1 hour' * $2 WHERE id = $1`;
      await sql(app.databaseUrl, late, [runId, hours]);
      await finisher.finish(runId);
      return (await client.get(`/runs/${runId}`)).body.data;
    };
    expect(await statusAfter(5)).toMatchObject({ status: 'RUNNING' });
    expect(await statusAfter(6.1)).toMatchObject({ status: 'COMPLETED', counts: { passed: 0 } });
    platform.kept.keep(kept());
    await fetch();
    expect(await call()).toMatchObject({ status: 'ENDED', outcome: 'passed', unmeasured: null });
    expect((await client.get(`/runs/${runId}`)).body.data).toMatchObject({ counts: { passed: 1, pending: 0 } });
    expect(agentId).toBeDefined();
  });

  it('is kept if an ADMIN says so, for EDITOR keys, and deleted with its call', async () => {
    const { call, client, agentId, owner } = await prepare();
    const [editor, viewer] = await Promise.all(
      (['EDITOR', 'VIEWER'] as const).map(
        async (role) => new HttpClient(app.url, (await createKey(app, owner, role)).value),
      ),
    );
    const put = { recordings: 'keep' };
    expect(await editor!.put(`/agents/${agentId}/monitoring`, put)).toMatchObject({ status: 403 });
    expect(await client.put(`/agents/${agentId}/monitoring`, put)).toMatchObject({ status: 200, body: { data: put } });
    platform.kept.keep(kept({ sound: wavOf({ channels: [CALL.agent, CALL.caller] }) }));
    await fetch();
    const { id, recording, recordingOmitted } = await call();
    expect([recording, recordingOmitted]).toMatchObject([{ seconds: 10, sampleRate: 8_000 }, null]);
    const path = `/calls/${id}/recording`;
    const audio = await globalThis.fetch(`${app.url}${path}`, { headers: { Authorization: `Bearer ${owner.apiKey}` } });
    const { channels } = readWav(new Uint8Array(await audio.arrayBuffer()));
    expect(channels.map((pcm) => pcm.findIndex((sample) => Math.abs(sample) > 500) / 8)).toEqual([
      expect.closeTo(2_500, -1),
      expect.closeTo(500, -1),
    ]);
    expect((await editor!.get(path)).status).toBe(200);
    expect((await viewer!.get(path)).status).toBe(403);
    await client.delete(`/agents/${agentId}/calls?externalId=call_1`);
    expect((await client.get(path)).status).toBe(404);
  });
});
