import { randomUUID } from 'node:crypto';
import { readdir, rm, writeFile, mkdir } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expectError, expectForbidden, expectInvalid, expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { formOf, importCall, type ImportFields } from '../support/imported-calls.js';
import { createKey } from '../support/keys.js';
import { callEnv, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';
import { CALL, channelOf, wavOf } from '../support/wav-call.js';

const MIB = 1024 * 1024;
const BOUNDARY = 'boundary-of-the-test';
const HEAD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="recording"; filename="call.wav"\r\n\r\n`;
const TAIL = `\r\n--${BOUNDARY}--\r\n`;

/** A WAV file with other bytes at a position. */
const changed = (at: number, bytes: readonly number[]) => {
  const file = wavOf();
  file.set(bytes, at);
  return file;
};
const row = (values: object = {}) => ({ speaker: 'agent', text: 'Good evening.', startMs: 500, endMs: 900, ...values });

describe('imports of calls that are refused', () => {
  const dataDir = path.join(tmpdir(), `vat-import-faults-${randomUUID()}`);
  let app: TestApp;
  let subject: Awaited<ReturnType<typeof prepareEvaluations>>;
  let evaluationId: string;

  beforeAll(async () => {
    app = await createTestApp({ env: { ...callEnv('http://127.0.0.1:9/v1'), DATA_DIR: dataDir, ROLE: 'api' } });
    subject = await prepareEvaluations(app);
    [evaluationId] = subject.evaluationIds as [string];
  }, 120_000);
  afterAll(async () => {
    await app?.close();
    await rm(dataDir, { recursive: true, force: true });
  });
  /** Nothing is left of what was refused, and no run was started. */
  afterEach(async () => {
    const folder = path.join(dataDir, 'recordings', 'uploads');
    await until('no upload is left', async () => (await readdir(folder).catch(() => [])).length === 0);
  });

  const send = (fields: ImportFields, apiKey = subject.apiKey, agentId = subject.agentId) =>
    importCall({ url: app.url, apiKey }, agentId, { evaluationId, ...fields });
  const raw = (body: Uint8Array<ArrayBuffer> | string, headers: Record<string, string>) =>
    new HttpClient(app.url, subject.apiKey).post(`/agents/${subject.agentId}/calls/import`, body, headers);

  it.each<[string, Uint8Array<ArrayBuffer>, RegExp]>([
    ['no WAV file', Buffer.from('ID3 this is something else, and long enough'), /Not a WAV file/],
    ['an empty file', Buffer.alloc(0), /Not a WAV file/],
    ['a file that ends in its header', wavOf().subarray(0, 30), /ends inside its chunk|no data chunk|too short/],
    ['one channel', wavOf({ channels: [CALL.agent] }), /two channels.* it has 1/],
    ['three channels', wavOf({ channels: [CALL.agent, CALL.agent, CALL.agent] }), /two channels.* it has 3/],
    ['no samples', wavOf({ channels: [channelOf(0, []), channelOf(0, [])] }), /must have audio/],
    ['another rate', changed(24, [0x11, 0x2b, 0, 0]), /samples per second; it has 11025/],
    ['another encoding', changed(20, [3, 0]), /format 3/],
    ['a format of no bytes', changed(16, [0, 0, 0, 0]), /too short/],
    ['a chunk that is longer than the file', changed(16, [0xff, 0xff, 0xff, 0x7f]), /ends inside its chunk/],
  ])('names the fault of a recording with %s', async (_name, recording, fault) => {
    const response = await send({ recording });
    expectInvalid(response, 'recording');
    expect(response.body.issues[0].message).toMatch(fault);
  });

  it.each([0, 1, 0xffff_ffff])('reads what there is if the header declares %i bytes of audio', async (length) => {
    const recording = wavOf();
    recording.writeUInt32LE(length, 40);
    recording.writeUInt32LE(length === 0 ? 0 : 0xffff_ffff, 4);
    const response = await send({ recording });
    expect(response.status).toBe(202);
    await discard(response.body.data.runId);
  });

  /** Without a worker the run would go on. */
  const discard = async (runId: string) => {
    const client = new HttpClient(app.url, subject.apiKey);
    expect((await client.post(`/runs/${runId}/cancel`)).status).toBe(200);
    expect((await client.delete(`/runs/${runId}`)).status).toBe(200);
    await rm(path.join(dataDir, 'recordings', 'uploads', `${runId}.upload`), { force: true });
  };

  it.each<[string, ImportFields, string[]]>([
    ['channels', { channels: null }, ['channels']],
    ['channels', { channels: 'left-right' }, ['channels']],
    ['evaluationId', { evaluationId: null }, ['evaluationId']],
    ['evaluationId', { evaluationId: 'x' }, ['evaluationId']],
    ['evaluationId', { evaluationId: randomUUID() }, ['evaluationId']],
    ['startedAt', { startedAt: null }, ['startedAt']],
    ['startedAt', { startedAt: 'yesterday' }, ['startedAt']],
    ['startedAt', { startedAt: '2026-02-30T10:00:00Z' }, ['startedAt']],
    ['startedAt', { startedAt: '2026-11-20T09:30:00' }, ['startedAt']],
    ['startedAt', { startedAt: '2199-11-20T09:30:00Z' }, ['startedAt']],
    ['recording', { recording: null }, ['recording']],
    ['a recording that is not a file', { recording: 'RIFF' }, ['recording']],
    ['externalId', { externalId: '' }, ['externalId']],
    ['externalId', { externalId: 'x'.repeat(256) }, ['externalId']],
    ['externalId', { externalId: 'a\u0000b' }, ['externalId']],
    ['a field that is not known', { agentVersion: '1' }, ['agentVersion']],
    ['a field of every object', { constructor: 'x' }, ['constructor']],
    ['transcript', { transcript: '{' }, ['transcript']],
    ['transcript', { transcript: '{}' }, ['transcript']],
    ['transcript', { transcript: [1] }, ['transcript[0]']],
    ['transcript', { transcript: [row(), row({ speaker: 'user' })] }, ['transcript[1].speaker']],
    ['transcript', { transcript: [row({ text: 5 })] }, ['transcript[0].text']],
    ['transcript', { transcript: [row({ text: 'x'.repeat(4_001) })] }, ['transcript[0].text']],
    [
      'transcript',
      { transcript: '[{"speaker":"agent","text":"a\\u0000","startMs":1,"endMs":2}]' },
      ['transcript[0].text'],
    ],
    ['transcript', { transcript: [row({ startMs: -1 })] }, ['transcript[0].startMs']],
    ['transcript', { transcript: [row({ startMs: '1' })] }, ['transcript[0].startMs']],
    ['transcript', { transcript: [row({ endMs: 400 })] }, ['transcript[0].endMs']],
    ['transcript', { transcript: [row({ endMs: 11_001 })] }, ['transcript[0].endMs']],
    [
      'transcript',
      { transcript: '[{"speaker":"agent","text":"a","startMs":1e999,"endMs":1e999}]' },
      ['transcript[0].startMs', 'transcript[0].endMs'],
    ],
    ['transcript', { transcript: [row({ words: [] })] }, ['transcript[0]']],
    ['transcript', { transcript: Array.from({ length: 10_001 }, () => row()) }, ['transcript']],
    ['several fields', { channels: null, startedAt: null, recording: null }, ['startedAt', 'recording']],
  ])('names the fault of %s', async (_name, fields, named) => {
    expectInvalid(await send(fields), ...named);
  });

  it('names a field that is given twice', async () => {
    const form = formOf({ evaluationId, channels: 'caller-agent' });
    form.append('channels', 'agent-caller');
    const request = new Request('http://any', { method: 'POST', body: form });
    const body = new Uint8Array(await request.arrayBuffer());
    expectInvalid(await raw(body, { 'Content-Type': request.headers.get('content-type')! }), 'channels');
  });

  it('takes no other body than a complete form', async () => {
    const multipart = { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` };
    expect((await raw('{}', {})).status).toBe(415);
    expect((await raw('x', { 'Content-Type': 'multipart/form-data' })).status).toBe(400);
    expect((await raw('x', { ...multipart, 'Content-Encoding': 'gzip' })).status).toBe(415);
    for (const body of ['', 'x', HEAD, `${HEAD}RIFF`, `--${BOUNDARY}--\r\n`, `--${BOUNDARY}\r\n\r\n\r\n${TAIL}`]) {
      expect([body, (await raw(body, multipart)).status]).toEqual([body, 400]);
    }
    expect((await raw(`${HEAD}RIFF${TAIL}`.repeat(3), multipart)).status).toBe(400);
  });

  it('takes a recording of 200 MiB and no byte more', async () => {
    const streamed = (bytes: number) =>
      new Promise<{ status: number; body: any }>((resolve, reject) => {
        const headers = {
          Authorization: `Bearer ${subject.apiKey}`,
          'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
        };
        const url = `${app.url}/agents/${subject.agentId}/calls/import`;
        const request = httpRequest(url, { method: 'POST', headers }, (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('end', () =>
            resolve({ status: response.statusCode!, body: JSON.parse(Buffer.concat(parts).toString()) }),
          );
        });
        request.on('error', reject);
        request.write(HEAD);
        const block = Buffer.alloc(MIB);
        let left = bytes;
        const write = () => {
          while (left > 0) {
            const part = block.subarray(0, Math.min(left, MIB));
            left -= part.length;
            if (!request.write(part)) return void request.once('drain', write);
          }
          request.end(TAIL);
        };
        write();
      });
    const before = process.memoryUsage().rss;
    const whole = await streamed(200 * MIB);
    expect(whole.status).toBe(400);
    const more = await streamed(200 * MIB + 1);
    expect(more).toMatchObject({
      status: 413,
      body: { code: 'PAYLOAD_TOO_LARGE', issues: [{ message: 'recording must be at most 200 MiB' }] },
    });
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * MIB);
  }, 120_000);

  it('leaves no file if the client disconnects', async () => {
    const request = httpRequest(`${app.url}/agents/${subject.agentId}/calls/import`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${subject.apiKey}`,
        'Content-Type': `multipart/form-data; boundary=${BOUNDARY}`,
      },
    });
    request.on('error', () => undefined);
    request.write(HEAD);
    request.write(wavOf());
    const folder = path.join(dataDir, 'recordings', 'uploads');
    await until('the file arrives', async () => (await readdir(folder).catch(() => [])).length === 1);
    request.destroy();
    await until('it is deleted', async () => (await readdir(folder)).length === 0);
    // The place is free for the next one.
    const next = await send({});
    expect(next.status).toBe(202);
    await discard(next.body.data.runId);
  });

  it('is for editors, for agents and evaluations of their workspace', async () => {
    const viewer = await createKey(app, subject, 'VIEWER');
    expectForbidden(await send({}, viewer.value));
    const other = await prepareEvaluations(app);
    expectForbidden(await send({}, other.apiKey));
    expectForbidden(await send({ evaluationId: other.evaluationIds[0] }));
    expectNotFound(await send({}, subject.apiKey, randomUUID()));
    expectNotFound(await send({}, subject.apiKey, 'x'));
    const sibling = await prepareEvaluations({ ...app, createWorkspace: async () => subject });
    expectInvalid(await send({ evaluationId: sibling.evaluationIds[0]! }), 'evaluationId');
    await sibling.client.delete(`/agents/${sibling.agentId}`);
    expectNotFound(await send({ evaluationId: sibling.evaluationIds[0]! }, subject.apiKey, sibling.agentId));
  });

  it('takes an evaluation with one row of variables, not with several', async () => {
    const variables = [{ word: 'welcome' }, { word: 'hello' }];
    const values = { checks: [{ type: 'says', text: '{{word}}' }] };
    const several = await prepareEvaluations({ ...app, createWorkspace: async () => subject }, [
      shortEvaluation({ ...values, variables }),
      shortEvaluation({ ...values, variables: variables.slice(1) }),
    ]);
    const [two, one] = several.evaluationIds as [string, string];
    expectInvalid(await send({ evaluationId: two }, subject.apiKey, several.agentId), 'evaluationId');
    const accepted = await send({ evaluationId: one }, subject.apiKey, several.agentId);
    expect(accepted).toMatchObject({ status: 202, body: { data: { variables: { word: 'hello' } } } });
    await discard(accepted.body.data.runId);
  });
});

describe('imports of calls into a service without room', () => {
  const dataDir = path.join(tmpdir(), `vat-import-room-${randomUUID()}`);
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  const withSettings = async (
    env: NodeJS.ProcessEnv,
    use: (send: () => ReturnType<typeof importCall>) => Promise<void>,
  ) => {
    const app = await createTestApp({ env: { DATA_DIR: dataDir, ROLE: 'api', ...env } });
    try {
      const { apiKey, agentId, evaluationIds } = await prepareEvaluations(app);
      await use(() => importCall({ url: app.url, apiKey }, agentId, { evaluationId: evaluationIds[0]! }));
    } finally {
      await app.close();
    }
  };

  it(
    'are refused if recordings are switched off',
    () =>
      withSettings({ RECORDINGS: 'off' }, async (send) => {
        const message =
          'Recordings are switched off (RECORDINGS=off), so that a call can only be imported without its recording';
        expectError(await send(), 409, 'CONFLICT', message);
      }),
    60_000,
  );

  it(
    'are refused if the workspace keeps as much as it may, with what waits to be imported',
    () =>
      // A call of ten seconds takes 160,000 bytes.
      withSettings({ RECORDINGS_BYTES_PER_WORKSPACE: '200000' }, async (send) => {
        expect((await send()).status).toBe(202);
        const second = await send();
        expect(second).toMatchObject({
          status: 409,
          body: { message: expect.stringContaining('RECORDINGS_BYTES_PER') },
        });
      }),
    60_000,
  );

  it(
    'are refused if the disk cannot take them, as the fault of the service',
    () =>
      withSettings({}, async (send) => {
        await mkdir(path.join(dataDir, 'recordings'), { recursive: true });
        await writeFile(path.join(dataDir, 'recordings', 'uploads'), 'This is a file.');
        expect(await send()).toMatchObject({
          status: 503,
          body: { issues: [{ message: expect.stringMatching(/^recording cannot be stored/) }] },
        });
      }),
    60_000,
  );
});
