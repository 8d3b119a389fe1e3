import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib';
import { RawConnection } from '../support/hostile/wire.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const MEBIBYTE = 1024 * 1024;

/** Bytes that no compression makes smaller. */
const noise = (length: number): Buffer => Buffer.from(Array.from({ length }, (_, i) => (i * 2_654_435_761) >>> 13));

/** At the highest quality, the default, this takes seconds. */
const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

describe('the connection of a compressed body stays usable', () => {
  let app: TestApp;
  let key: string;
  let connection: RawConnection;

  beforeAll(async () => {
    app = await createTestApp();
    key = (await app.createWorkspace()).apiKey;
  });
  beforeEach(async () => {
    connection = await RawConnection.open(app.url);
  });
  afterEach(() => connection.close());
  afterAll(() => app.close());

  const head = (line: string, ...headers: string[]) =>
    [`${line} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${key}`, ...headers, '', ''].join('\r\n');
  const statusOfNext = async () => (await connection.nextResponse())?.status;

  it.each([
    ['is not gzip', 'gzip', noise(300_000), 400],
    ['is not deflate', 'deflate', noise(300_000), 400],
    ['is not Brotli', 'br', noise(300_000), 400],
    ['is damaged', 'gzip', Buffer.concat([gzipSync(noise(100_000)).subarray(0, 50_000), noise(400_000)]), 400],
    ['is too large when decompressed by gzip', 'gzip', gzipSync(Buffer.alloc(150 * MEBIBYTE)), 413],
    ['is too large when decompressed by deflate', 'deflate', deflateSync(Buffer.alloc(150 * MEBIBYTE)), 413],
    ['is too large when decompressed by Brotli', 'br', brotliCompressSync(Buffer.alloc(100 * MEBIBYTE), quickly), 413],
    ['has another encoding', 'zstd', noise(300_000), 415],
    ['has data after its end', 'gzip', Buffer.concat([gzipSync('{"name":"x"}'), Buffer.alloc(500_000)]), 201],
  ])('if the body %s', async (_what, encoding, body, status) => {
    const headers = ['Content-Type: application/json', `Content-Encoding: ${encoding}`];
    connection.send(head('POST /personalities', ...headers, `Content-Length: ${body.length}`)).send(body);
    expect(await statusOfNext()).toBe(status);
    connection.send(head('GET /personalities'));
    expect(await statusOfNext()).toBe(200);
  });

  it('if the body is too large as sent, in chunks', async () => {
    const headers = ['Content-Type: application/json', 'Content-Encoding: gzip', 'Transfer-Encoding: chunked'];
    connection.send(head('POST /personalities', ...headers));
    const body = gzipSync(noise(2 * MEBIBYTE), { level: 0 });
    connection
      .send(`${body.length.toString(16)}\r\n`)
      .send(body)
      .send('\r\n0\r\n\r\n');
    expect(await statusOfNext()).toBe(413);
    connection.send(head('GET /personalities'));
    expect(await statusOfNext()).toBe(200);
  });
});
