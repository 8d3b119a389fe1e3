import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { expectError, expectForbidden, expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { createKey } from '../support/keys.js';
import { insertRecording } from '../support/recordings.js';
import { prepareEvaluations } from '../support/run-app.js';
import { WITHOUT_WORKER } from '../support/resources.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const AUDIO = randomBytes(100_000);
const WIRE = '{"atMs":0,"direction":"sent"}\n{"atMs":20,"direction":"received"}\n';

describe('the recording of a call', () => {
  let app: TestApp;
  let key: string;
  let callId: string;
  let subject: Awaited<ReturnType<typeof prepareEvaluations>>;

  beforeAll(async () => {
    app = await createTestApp({ env: WITHOUT_WORKER });
    subject = await prepareEvaluations(app);
    key = subject.apiKey;
    callId = await newCall();
    await insertRecording(app.nest, callId, { audio: AUDIO, wire: WIRE });
  });
  afterAll(() => app.close());

  const newCall = async (): Promise<string> => {
    const run = await subject.client.post(`/agents/${subject.agentId}/runs`, {});
    return (await subject.client.get(`/runs/${run.body.data.id}/calls`)).body.data[0].id;
  };
  const read = async (headers: Record<string, string> = {}, { method = 'GET', file = 'recording' } = {}) => {
    const response = await fetch(`${app.url}/calls/${callId}/${file}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, ...headers },
    });
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: Buffer.from(await response.arrayBuffer()),
    };
  };

  it('is sent whole with its type, length and entity tag', async () => {
    const { status, headers, body } = await read();
    expect(status).toBe(200);
    expect(body.equals(AUDIO)).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'audio/wav',
      'content-length': '100000',
      'cache-control': 'private, no-cache',
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"[^"]+"$/),
      'x-api-version': '1.0.0',
      'x-request-id': expect.any(String),
      'x-ratelimit-limit': expect.any(String),
      'x-ratelimit-remaining': expect.any(String),
      'x-ratelimit-reset': expect.any(String),
    });
  });

  it.each([
    ['bytes=0-999', 0, 999],
    ['bytes=99000-', 99_000, 99_999],
    ['bytes=-500', 99_500, 99_999],
    ['bytes=-99999999', 0, 99_999],
    ['bytes=99999-99999', 99_999, 99_999],
    ['bytes=50000-900000', 50_000, 99_999],
    ['Bytes=7-7', 7, 7],
  ])('is sent in part for Range: %s', async (range, start, end) => {
    const { status, headers, body } = await read({ Range: range });
    expect(status).toBe(206);
    expect(headers).toMatchObject({
      'content-range': `bytes ${start}-${end}/100000`,
      'content-length': String(end - start + 1),
      'content-type': 'audio/wav',
      'cache-control': 'private, no-cache',
    });
    expect(body.equals(AUDIO.subarray(start, end + 1))).toBe(true);
  });

  it.each(['bytes=100000-', 'bytes=-0', 'bytes=5-2', 'bytes=0-1,5-9', 'bytes=x', 'bytes='])(
    'returns 416 for Range: %s',
    async (range) => {
      const { status, headers, body } = await read({ Range: range });
      expect(status).toBe(416);
      expect(headers).toMatchObject({
        'content-range': 'bytes */100000',
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
      });
      expect(headers).not.toHaveProperty('etag');
      expect(JSON.parse(body.toString())).toEqual({ code: 'RANGE_NOT_SATISFIABLE', message: 'Range cannot be served' });
    },
  );

  it('ignores a Range in other units than bytes', async () => {
    expect(await read({ Range: 'seconds=0-1' })).toMatchObject({ status: 200, body: { length: 100_000 } });
  });

  it('returns 304 while the client has the same file', async () => {
    const { headers } = await read();
    for (const tag of [headers['etag']!, `"other", ${headers['etag']}`]) {
      // Before Range, as RFC 9110 prescribes.
      const same = await read({ 'If-None-Match': tag, Range: 'bytes=100000-' });
      expect([same.status, same.body.length, same.headers['etag']]).toEqual([304, 0, headers['etag']]);
      expect(same.headers['cache-control']).toBe('private, no-cache');
    }
    expect((await read({ 'If-None-Match': '"other"' })).status).toBe(200);
  });

  it('is sent whole if the client has a part of another file', async () => {
    const { headers } = await read();
    const range = { Range: 'bytes=0-9' };
    expect((await read({ ...range, 'If-Range': headers['etag']! })).status).toBe(206);
    for (const other of ['"other"', `W/${headers['etag']}`, 'Sat, 21 Nov 2026 06:37:42 GMT']) {
      expect(await read({ ...range, 'If-Range': other })).toMatchObject({ status: 200, body: { length: 100_000 } });
    }
  });

  it('has no body for HEAD, and the headers of GET', async () => {
    const head = await read({}, { method: 'HEAD' });
    expect([head.status, head.body.length]).toEqual([200, 0]);
    expect(head.headers).toMatchObject({ 'content-length': '100000', 'content-type': 'audio/wav' });
    // RFC 9110 defines Range for GET only.
    expect((await read({ Range: 'bytes=0-9' }, { method: 'HEAD' })).status).toBe(200);
  });

  it('has a wire log with one JSON object per line', async () => {
    const { status, headers, body } = await read({}, { file: 'wire' });
    expect([status, headers['content-type'], body.toString()]).toEqual([200, 'application/x-ndjson', WIRE]);
    expect((await read({ Range: 'bytes=-1' }, { file: 'wire' })).body.toString()).toBe('\n');
  });

  it('is sent correctly to many clients at once', async () => {
    const parts = await Promise.all(
      Array.from({ length: 40 }, (_, n) => read({ Range: `bytes=${n * 1000}-${n * 1000 + 60_000}` })),
    );
    parts.forEach(({ body }, n) => expect(body.equals(AUDIO.subarray(n * 1000, n * 1000 + 60_001))).toBe(true));
  });

  it('can be read by a VIEWER of its workspace, and by no other workspace', async () => {
    const viewer = new HttpClient(app.url, (await createKey(app, subject, 'VIEWER')).value);
    const stranger = new HttpClient(app.url, (await app.createWorkspace()).apiKey);
    for (const file of ['recording', 'wire']) {
      expect((await viewer.send('HEAD', `/calls/${callId}/${file}`)).status).toBe(200);
      expectForbidden(await stranger.get(`/calls/${callId}/${file}`));
      expectError(
        await new HttpClient(app.url).get(`/calls/${callId}/${file}`),
        401,
        'UNAUTHORIZED',
        'Authorization not provided',
      );
    }
  });

  it('is not found for a call without one, a call in progress and an unknown call', async () => {
    const silent = await newCall();
    for (const id of [silent, subject.agentId, 'nope']) {
      for (const file of ['recording', 'wire']) expectNotFound(await subject.client.get(`/calls/${id}/${file}`));
    }
  });

  it('is not found after its run was deleted, or when its file is missing', async () => {
    const other = await newCall();
    const { runId, paths } = await insertRecording(app.nest, other);
    expect((await subject.client.get(`/calls/${other}/recording`)).status).toBe(200);
    await rm(paths.audio);
    expectNotFound(await subject.client.get(`/calls/${other}/recording`));
    expect((await subject.client.get(`/calls/${other}/wire`)).status).toBe(200);
    await subject.client.post(`/runs/${runId}/cancel`);
    expect((await subject.client.delete(`/runs/${runId}`)).status).toBe(200);
    expectNotFound(await subject.client.get(`/calls/${other}/wire`));
  });
});
