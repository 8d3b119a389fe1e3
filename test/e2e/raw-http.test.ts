import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { Database } from '../../src/platform/database/database.js';
import { violationsOf } from '../support/hostile/response-checks.js';
import { RawConnection, type WireResponse } from '../support/hostile/wire.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const MEBIBYTE = 1024 * 1024;

describe('raw HTTP', () => {
  let app: TestApp;
  let key: string;
  const lines: { level: number; msg?: string }[] = [];
  const open: RawConnection[] = [];

  const connect = async (): Promise<RawConnection> => {
    const connection = await RawConnection.open(app.url);
    open.push(connection);
    return connection;
  };
  /** Sends bytes on a new connection and returns the response. */
  const exchange = async (...data: (string | Buffer)[]): Promise<WireResponse> => {
    const connection = await connect();
    for (const each of data) connection.send(each);
    const isHead = data[0]?.toString().startsWith('HEAD ') ?? false;
    const response = await connection.nextResponse({ toHead: isHead });
    // Nothing may follow it.
    if (isHead) expect(await connection.allResponses()).toEqual([]);
    if (!response) throw new Error('The connection ended without a response');
    return response;
  };
  const expectRejection = (response: WireResponse, status: number, ...issues: string[]) => {
    expect(violationsOf(response)).toEqual([]);
    expect(response.status).toBe(status);
    const body = JSON.parse(response.text) as { issues?: { message: string }[] };
    expect((body.issues ?? []).map(({ message }) => message)).toEqual(issues);
  };
  const head = (line: string, ...headers: string[]) =>
    [`${line} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${key}`, ...headers, '', ''].join('\r\n');
  const post = (...headers: string[]) => head('POST /personalities', 'Content-Type: application/json', ...headers);
  const errorsSince = (start: number) => lines.slice(start).filter(({ level }) => level >= 50);

  beforeAll(async () => {
    app = await createTestApp({ log: { write: (line) => void lines.push(JSON.parse(line) as { level: number }) } });
    key = (await app.createWorkspace()).apiKey;
  });
  afterEach(() => {
    for (const connection of open.splice(0)) connection.close();
    // No request may cause an error of the service.
    expect(errorsSince(0)).toEqual([]);
  });
  afterAll(() => app.close());

  it('goes on if a connection cannot be accepted', async () => {
    app.nest.getHttpServer().emit('error', new Error('accept EMFILE'));
    expect((await exchange(head('GET /agents'))).status).toBe(200);
    expect(lines.map(({ msg }) => msg)).toContain('A connection was lost: accept EMFILE');
  });

  describe('requests that Node cannot parse are rejected in the form of the contract', () => {
    it.each([
      ['text that is not HTTP', 'hello\r\n\r\n'],
      ['TLS', Buffer.from('16030100a5010000a10303', 'hex')],
      ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      ['an unknown version', 'GET /agents HTTP/9.9\r\nHost: x\r\n\r\n'],
      ['a made-up method', 'BREW /agents HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['a space in the target', 'GET /agents /x HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['a raw NUL in the target', 'GET /agents\u0000 HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['a non-ASCII byte in the target', 'GET /\u00e9 HTTP/1.1\r\nHost: x\r\n\r\n'],
      ['a header without a colon', 'GET /agents HTTP/1.1\r\nHost: x\r\nrubbish\r\n\r\n'],
      ['a NUL in a header', 'GET /agents HTTP/1.1\r\nHost: x\r\nX-A: a\u0000b\r\n\r\n'],
      ['a space before the colon', 'GET /agents HTTP/1.1\r\nHost: x\r\nX-A : b\r\n\r\n'],
      ['two Content-Lengths', 'POST /agents HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}'],
      ['a negative Content-Length', 'POST /agents HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
      [
        'a Content-Length over 64 bits',
        `POST /agents HTTP/1.1\r\nHost: x\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\n`,
      ],
    ])('rejects %s', async (_name, bytes) => {
      expectRejection(await exchange(bytes), 400, 'request must be valid HTTP/1.1');
    });

    it('rejects request headers over 16 KiB', async () => {
      const response = await exchange(head('GET /agents', `X-Long: ${'x'.repeat(20_000)}`));
      expectRejection(response, 400, 'request headers must be at most 16 KiB');
    });

    it('rejects HEAD without a response body', async () => {
      const response = await exchange(head('HEAD /agents', `X-Long: ${'x'.repeat(20_000)}`));
      expect([response.status, response.text]).toEqual([400, '']);
    });

    it('rejects a request target over 16 KiB while the client is sending it', async () => {
      const connection = await connect();
      connection
        .send('GET /')
        .send('x'.repeat(100_000))
        .send('x'.repeat(4 * MEBIBYTE));
      expectRejection((await connection.nextResponse())!, 400, 'request headers must be at most 16 KiB');
    });

    it('rejects CONNECT, which only a proxy accepts', async () => {
      const response = await exchange('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
      expectRejection(response, 400, 'request method CONNECT is not supported');
    });
  });

  describe('ambiguous requests (request smuggling) are rejected and their connection is closed', () => {
    const smuggled = 'GET /agents HTTP/1.1\r\nHost: x\r\n\r\n';
    it.each([
      [
        'Content-Length and Transfer-Encoding',
        ['Content-Length: 4', 'Transfer-Encoding: chunked'],
        `0\r\n\r\n${smuggled}`,
      ],
      [
        'Transfer-Encoding and Content-Length',
        ['Transfer-Encoding: chunked', 'Content-Length: 4'],
        `0\r\n\r\n${smuggled}`,
      ],
      ['chunked that is not the last coding', ['Transfer-Encoding: chunked, identity'], `0\r\n\r\n${smuggled}`],
      ['an unknown transfer coding', ['Transfer-Encoding: xchunked'], smuggled],
      ['an obfuscated Transfer-Encoding', ['Content-Length: 4', 'Transfer-Encoding:\tchunked'], `0\r\n\r\n${smuggled}`],
      ['a folded header', ['Content-Length: 4', 'X-A: b', ' Transfer-Encoding: chunked'], smuggled],
      ['a chunk size that is not a number', ['Transfer-Encoding: chunked'], `zz\r\n{}\r\n0\r\n\r\n${smuggled}`],
      ['a chunk longer than its size', ['Transfer-Encoding: chunked'], `1\r\n{}\r\n0\r\n\r\n${smuggled}`],
      ['a chunk size over 64 bits', ['Transfer-Encoding: chunked'], `${'f'.repeat(20)}\r\n{}\r\n0\r\n\r\n${smuggled}`],
    ])('rejects %s', async (_name, headers, rest) => {
      const connection = await connect();
      connection.send(post(...headers) + rest);
      const responses = await connection.allResponses();
      expect(responses).toHaveLength(1);
      expectRejection(responses[0]!, 400, 'request must be valid HTTP/1.1');
    });

    it.each([
      ['none', 'GET /agents HTTP/1.1\r\n\r\n'],
      ['none, by HTTP/0.9', 'GET /agents\r\n\r\n'],
      ['two', 'GET /agents HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ])('rejects a request without exactly one Host header: %s', async (_name, bytes) => {
      expectRejection(await exchange(bytes), 400, 'Host must be given exactly once');
    });
  });

  describe('unusual but valid requests', () => {
    it.each([
      ['absolute form', 'GET http://localhost/agents?limit=1', 200],
      ['absolute form of another scheme, without a path', 'POST ftp://localhost', 404],
      ['absolute form with dots, which are not resolved', 'GET http://localhost/x/../agents', 404],
      ['an unparsable authority', 'GET http://[::bad/agents', 200],
      ['an authority with a port that is not a number', 'GET http://a:b/agents', 200],
      ['asterisk form', 'OPTIONS *', 404],
      ['OPTIONS of a path', 'OPTIONS /agents', 404],
      ['TRACE', 'TRACE /agents', 404],
      ['a method of WebDAV', 'PROPFIND /agents', 404],
      ['two slashes', 'GET //agents', 404],
      ['a trailing slash', 'GET /agents/', 404],
      ['another letter case', 'GET /Agents', 404],
      ['an encoded slash', 'GET /agents%2Fx', 404],
      ['an encoded line break', 'GET /agents/%0d%0aX-A:%20b', 404],
      ['a fragment', 'GET /agents#x', 404],
      ['a semicolon', 'GET /agents;x=1', 404],
    ])('responds to %s: %s with %i', async (_name, line, status) => {
      const response = await exchange(head(line, 'Connection: close'));
      expect(violationsOf(response)).toEqual([]);
      expect(response.status).toBe(status);
    });

    it('HEAD returns the headers of GET without a body', async () => {
      const connection = await connect();
      const got = (await connection.send(head('GET /agents')).nextResponse())!;
      const headed = (await connection.send(head('HEAD /agents')).nextResponse({ toHead: true }))!;
      expect(violationsOf(headed, true)).toEqual([]);
      expect([headed.status, headed.headers.get('content-length')]).toEqual([200, String(Buffer.byteLength(got.text))]);
      // The next response on the connection must be parsed correctly.
      expect((await connection.send(head('GET /healthz')).nextResponse())?.status).toBe(200);
    });

    it('accepts HTTP/1.0 with and without Host', async () => {
      for (const host of ['', 'Host: localhost\r\n']) {
        const connection = await connect();
        const responses = await connection.send(`GET /healthz HTTP/1.0\r\n${host}\r\n`).allResponses();
        expect(responses.map(({ status }) => status)).toEqual([200]);
        expect(violationsOf(responses[0]!)).toEqual([]);
      }
    });

    it('ignores an unsupported Upgrade', async () => {
      const response = await exchange(head('GET /healthz', 'Connection: Upgrade', 'Upgrade: websocket'));
      expect(response.status).toBe(200);
      expect(violationsOf(response)).toEqual([]);
    });

    it('ignores a condition on an entity tag, because there are none', async () => {
      const response = await exchange(head('GET /agents', 'If-None-Match: *'));
      expect(response.status).toBe(200);
    });
  });

  describe('Expect', () => {
    const body = '{"name":"Waits for 100"}';

    it('sends 100 Continue when the body is read', async () => {
      const connection = await connect();
      connection.send(post('Expect: 100-continue', `Content-Length: ${body.length}`));
      expect((await connection.nextResponse())?.status).toBe(100);
      expect((await connection.send(body).nextResponse())?.status).toBe(201);
    });

    it.each([
      ['a body too large', () => post('Expect: 100-continue', `Content-Length: ${2 * MEBIBYTE}`), 413],
      [
        'a caller without a key',
        () => 'POST /agents HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n',
        401,
      ],
    ])('rejects %s before the body is sent', async (_name, request, status) => {
      const response = await exchange(request());
      expect(violationsOf(response)).toEqual([]);
      expect(response.status).toBe(status);
    });

    it('ignores any other expectation', async () => {
      const response = await exchange(post('Expect: something', `Content-Length: ${body.length}`), body);
      expect(response.status).toBe(201);
      expect(violationsOf(response)).toEqual([]);
    });
  });

  describe('pipelining', () => {
    it('responds in order', async () => {
      const connection = await connect();
      connection.send(
        head('GET /agents') + head('GET /unknown') + head('GET /personalities?limit=x') + head('GET /healthz'),
      );
      const statuses: (number | undefined)[] = [];
      for (let i = 0; i < 4; i++) statuses.push((await connection.nextResponse())?.status);
      expect(statuses).toEqual([200, 404, 400, 200]);
    });

    it('responds to the valid requests before the malformed one', async () => {
      const connection = await connect();
      connection.send(`${head('GET /agents')}${head('GET /personalities')}rubbish\r\n\r\n`);
      const responses = await connection.allResponses();
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 400]);
      expect(responses.flatMap((response) => violationsOf(response))).toEqual([]);
    });
  });

  describe('a body over 1 MiB is rejected while the client is sending it', () => {
    const large = Buffer.alloc(8 * MEBIBYTE, ' ');

    it('because of its Content-Length, before it is read', async () => {
      expectRejection(await exchange(post(`Content-Length: ${1024 * MEBIBYTE}`)), 413, 'body must be at most 1 MiB');
    });

    it('with a Content-Length and sent completely; the connection stays open', async () => {
      const connection = await connect();
      connection
        .send(post(`Content-Length: ${large.length}`))
        .send(large)
        .send(head('GET /healthz'));
      expectRejection((await connection.nextResponse())!, 413, 'body must be at most 1 MiB');
      expect((await connection.nextResponse())?.status).toBe(200);
    });

    it('in endless chunks', async () => {
      const connection = await connect();
      connection
        .send(post('Transfer-Encoding: chunked'))
        .send(`${large.length.toString(16)}\r\n`)
        .send(large);
      expectRejection((await connection.nextResponse())!, 413, 'body must be at most 1 MiB');
    });

    it('if it is small but decompresses to more', async () => {
      const bomb = gzipSync(Buffer.alloc(64 * MEBIBYTE));
      const response = await exchange(post('Content-Encoding: gzip', `Content-Length: ${bomb.length}`), bomb);
      expectRejection(response, 413, 'body must be at most 1 MiB');
    });

    it('but accepted with exactly 1 MiB', async () => {
      const exact = Buffer.from(`{"name":"Exact"${' '.repeat(MEBIBYTE - 16)}}`);
      expect(exact.length).toBe(MEBIBYTE);
      expect((await exchange(post(`Content-Length: ${exact.length}`), exact)).status).toBe(201);
    });
  });

  describe('clients that disconnect or are slow', () => {
    const settle = async (condition: () => boolean | Promise<boolean>) => {
      for (let i = 0; i < 200 && !(await condition()); i++) await delay(25);
      expect(await condition()).toBe(true);
    };
    const connections = () =>
      new Promise<number>((resolve, reject) => {
        app.nest
          .getHttpServer()
          .getConnections((error: Error | null, count: number) => (error ? reject(error) : resolve(count)));
      });

    it('many aborted uploads leave nothing behind', async () => {
      const aborted = async (i: number) => {
        const connection = await connect();
        connection.send(
          post('Content-Length: 1000', ...(i % 2 ? ['Idempotency-Key: aborted', 'Content-Encoding: gzip'] : [])),
        );
        connection.send('{"name":');
        if (i % 3) await delay(20);
        connection.close();
      };
      await Promise.all(Array.from({ length: 200 }, (_, i) => aborted(i)));
      await settle(async () => (await connections()) === 0);
      // Work in the background has a connection of its own for a moment.
      await settle(() => {
        const { idle, total, waiting } = app.nest.get(Database).poolState;
        return idle === total && waiting === 0;
      });
      expect((await exchange(head('GET /agents'))).status).toBe(200);
    });

    it('connections that are reset right after the request do no harm', async () => {
      const requests = [
        'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
        'rubbish\r\n\r\n',
        head('GET /agents'),
        post('Content-Length: 9'),
      ];
      for (let i = 0; i < 100; i++) {
        const connection = await connect();
        connection.send(requests[i % requests.length] ?? '');
        if (i % 3) await delay(1);
        connection.socket.resetAndDestroy();
      }
      await settle(async () => (await connections()) === 0);
      expect((await exchange(head('GET /agents'))).status).toBe(200);
    });

    it('a truncated body is rejected', async () => {
      const connection = await connect();
      connection.send(post('Content-Length: 100')).send('{"name":"half"').socket.end();
      const responses = await connection.allResponses();
      expect(responses).toHaveLength(1);
      expectRejection(responses[0]!, 400, 'request must be valid HTTP/1.1');
    });

    it('a request that takes too long is rejected and its connection closed', async () => {
      const server = app.nest.getHttpServer() as { requestTimeout: number; headersTimeout: number };
      const { requestTimeout, headersTimeout } = server;
      try {
        server.requestTimeout = 300;
        server.headersTimeout = 300;
        const slowBody = await connect();
        const slowHead = await connect();
        const earlyRejected = await connect();
        slowBody.send(post('Content-Length: 100')).send('{"name":');
        slowHead.send('GET /agents HTTP/1.1\r\nHost: x\r\nX-Slow');
        earlyRejected.send('POST /agents HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{');
        for (const connection of [slowBody, slowHead]) {
          const responses = await connection.allResponses();
          expect(responses).toHaveLength(1);
          expectRejection(responses[0]!, 400, 'request took too long to arrive');
        }
        // It was rejected before its body was due, and gets no second response.
        expect((await earlyRejected.allResponses()).map(({ status }) => status)).toEqual([401]);
      } finally {
        Object.assign(server, { requestTimeout, headersTimeout });
      }
    });
  });

  it('responds correctly to randomly mutated requests, or closes the connection', async () => {
    const valid = () => post('Content-Length: 16', 'X-Request-Id: fuzz') + '{"name":"fuzz"} ';
    const mutation = fc.record({
      at: fc.nat({ max: 10_000 }),
      drop: fc.nat({ max: 4 }),
      put: fc.uint8Array({ maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 4 }), async (mutations) => {
        let bytes = Buffer.from(valid(), 'latin1');
        for (const { at, drop, put } of mutations) {
          const cut = at % bytes.length;
          bytes = Buffer.concat([bytes.subarray(0, cut), put, bytes.subarray(cut + drop)]);
        }
        const connection = await RawConnection.open(app.url);
        connection.send(bytes).socket.end();
        const responses = await connection.allResponses();
        connection.close();
        expect(responses.flatMap((response) => violationsOf(response))).toEqual([]);
      }),
      { seed: 20_261_121, numRuns: 300 },
    );
  });
});
