import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { Connections, OutboundClient, OutboundError, type OutboundFailure } from './index.js';

const LOOPBACK = ['127.0.0.0/8', '::1/128'];
const servers: (Server | TcpServer)[] = [];
const sockets = new Set<Socket>();

async function listen(server: Server | TcpServer): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
const serve = (listener: RequestListener) => listen(createServer(listener));
/** A server that sends exactly the given bytes, HTTP or not. */
const serveRaw = (answer: (socket: Socket) => void) =>
  listen(
    createTcpServer((socket) => {
      sockets.add(socket.on('error', () => undefined));
      socket.once('data', () => answer(socket));
    }),
  );

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) {
    if ('closeAllConnections' in server) server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

const client = new OutboundClient({ allowedNetworks: LOOPBACK });
const get = (url: string, more: { timeoutMs?: number; maxBodyBytes?: number; client?: OutboundClient } = {}) =>
  (more.client ?? client).request({
    url,
    timeoutMs: more.timeoutMs ?? 5_000,
    maxBodyBytes: more.maxBodyBytes ?? 4_096,
  });
const failure = async (request: Promise<unknown>): Promise<OutboundFailure | 'none'> =>
  request.then(
    () => 'none',
    (error: unknown) => {
      if (error instanceof OutboundError) return error.reason;
      throw error;
    },
  );

describe('outbound client', () => {
  it('sends method, headers and body, and reads the response', async () => {
    let seen: unknown;
    const port = await serve((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method, url, headers } = request;
        seen = {
          method,
          url,
          type: headers['content-type'],
          encoding: headers['accept-encoding'],
          host: headers.host,
          body: Buffer.concat(chunks).toString(),
        };
        response.writeHead(202, { 'X-Answer': 'yes' }).end('fine');
      });
    });
    const response = await client.request({
      url: `http://127.0.0.1:${port}/hook?a=1`,
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'héllo',
      timeoutMs: 5_000,
      maxBodyBytes: 4_096,
    });
    expect(seen).toEqual({
      method: 'POST',
      url: '/hook?a=1',
      type: 'text/plain',
      encoding: 'identity',
      host: `127.0.0.1:${port}`,
      body: 'héllo',
    });
    expect(response).toMatchObject({ status: 202, truncated: false });
    expect(response.headers['x-answer']).toBe('yes');
    expect(response.body.toString()).toBe('fine');
  });

  it('does not follow redirects', async () => {
    let requests = 0;
    const port = await serve((_request, response) => {
      requests++;
      response.writeHead(301, { Location: '/elsewhere' }).end();
    });
    expect((await get(`http://127.0.0.1:${port}/`)).status).toBe(301);
    expect(requests).toBe(1);
  });

  it.each([
    ['http://127.0.0.1/', 'ADDRESS_REFUSED'],
    ['http://2130706433/', 'ADDRESS_REFUSED'],
    ['http://0x7f.1/', 'ADDRESS_REFUSED'],
    ['http://0177.0.0.01/', 'ADDRESS_REFUSED'],
    ['http://127.1./', 'ADDRESS_REFUSED'],
    ['http://[::1]/', 'ADDRESS_REFUSED'],
    ['http://[::ffff:10.0.0.1]/', 'ADDRESS_REFUSED'],
    ['http://[64:ff9b::7f00:1]/', 'ADDRESS_REFUSED'],
    ['http://169.254.169.254/latest/meta-data', 'ADDRESS_REFUSED'],
    ['ftp://example.com/', 'URL_REFUSED'],
    ['file:///etc/passwd', 'URL_REFUSED'],
    ['http://user:pass@example.com/', 'URL_REFUSED'],
    ['http://[fe80::1%25eth0]/', 'URL_REFUSED'],
    ['no address', 'URL_REFUSED'],
  ])('rejects %s before connecting: %s', async (url, reason) => {
    const strict = new OutboundClient({ resolve: async () => ['8.8.8.8'] });
    expect(await failure(get(url, { client: strict }))).toBe(reason);
  });

  it('asks for the name at each connection, so that a name that changes its mind is refused', async () => {
    let connections = 0;
    const port = await serve((_request, response) => {
      connections++;
      response.end();
    });
    const answers = [['127.0.0.1'], ['127.0.0.1', '10.0.0.1'], ['10.0.0.1'], ['::ffff:10.0.0.1', 'fd00::1'], []];
    const rebinding = new OutboundClient({ allowedNetworks: LOOPBACK, resolve: async () => answers.shift() ?? [] });
    const url = `http://rebinding.test:${port}/`;
    expect((await get(url, { client: rebinding })).status).toBe(200);
    // If a name resolves to several addresses, only permitted ones are connected to.
    expect((await get(url, { client: rebinding })).status).toBe(200);
    expect(await failure(get(url, { client: rebinding }))).toBe('ADDRESS_REFUSED');
    expect(await failure(get(url, { client: rebinding }))).toBe('ADDRESS_REFUSED');
    expect(await failure(get(url, { client: rebinding }))).toBe('NAME_NOT_FOUND');
    expect(connections).toBe(2);
  });

  it.each(['127.0.0.1', '127.1.2.3', '[::1]', '[::ffff:127.0.0.1]', 'own.test', 'mapped.test'])(
    'rejects a port of the service itself at %s, even inside an allowed network',
    async (host) => {
      const port = await serve((_request, response) => response.end());
      const resolve = async (name: string) => (name === 'mapped.test' ? ['::ffff:127.0.0.1'] : ['127.0.0.1']);
      for (const own of [{ port }, { host: '127.0.0.1', port }, { host: 'database.test', port }]) {
        const careful = new OutboundClient({ allowedNetworks: LOOPBACK, ownEndpoints: [own], resolve });
        expect(await failure(get(`http://${host}:${port}/`, { client: careful }))).toBe('ADDRESS_REFUSED');
      }
      const others = [{ port: port + 1 }, { host: '10.0.0.1', port }, { port: 0 }];
      const client = new OutboundClient({ allowedNetworks: LOOPBACK, ownEndpoints: others, resolve });
      if (host === '127.0.0.1') expect((await get(`http://${host}:${port}/`, { client })).status).toBe(200);
    },
  );

  it('rejects a name of the hosts file that resolves to a loopback address', async () => {
    expect(await failure(get('http://localhost:1/', { client: new OutboundClient() }))).toBe('ADDRESS_REFUSED');
  });

  it('reports that a name does not exist', async () => {
    const resolve = () => Promise.reject(new Error('queryA ENOTFOUND'));
    expect(await failure(get('http://nowhere.test/', { client: new OutboundClient({ resolve }) }))).toBe(
      'NAME_NOT_FOUND',
    );
  });

  it('includes the DNS look-up in the time-out', async () => {
    const resolve = () => new Promise<string[]>(() => undefined);
    const stuck = get('http://stuck.test/', { client: new OutboundClient({ resolve }), timeoutMs: 50 });
    expect(await failure(stuck)).toBe('TIMEOUT');
  });

  it('reads up to the size limit and then closes the connection', async () => {
    let written = 0;
    const closed = new Promise<void>((resolve) => {
      void serve((_request, response) => {
        response.on('close', resolve);
        const chunk = Buffer.alloc(64 * 1024);
        const more = () => {
          while (written < 100 * 1024 * 1024) {
            written += chunk.length;
            if (!response.write(chunk)) return void response.once('drain', more);
          }
          response.end();
        };
        more();
      }).then(async (port) => {
        const response = await get(`http://127.0.0.1:${port}/`);
        expect(response).toMatchObject({ status: 200, truncated: true });
        expect(response.body).toHaveLength(4_096);
      });
    });
    await closed;
    expect(written).toBeLessThan(20 * 1024 * 1024);
  });

  it('treats a body of exactly the size limit as complete', async () => {
    const port = await serve((_request, response) => response.end('x'.repeat(100)));
    expect(await get(`http://127.0.0.1:${port}/`, { maxBodyBytes: 100 })).toMatchObject({ truncated: false });
    expect(await get(`http://127.0.0.1:${port}/`, { maxBodyBytes: 99 })).toMatchObject({ truncated: true });
  });

  it('times out if a receiver hangs before its headers or sends its body too slowly', async () => {
    const hanging = await serveRaw(() => undefined);
    expect(await failure(get(`http://127.0.0.1:${hanging}/`, { timeoutMs: 60 }))).toBe('TIMEOUT');
    // Without a length, only the end of the connection marks the end of the body.
    for (const length of ['Content-Length: 1000\r\n', '']) {
      const dripping = await serveRaw((socket) => {
        socket.write(`HTTP/1.1 200 OK\r\n${length}\r\n`);
        const drip = setInterval(() => socket.write('x'), 10);
        socket.on('close', () => clearInterval(drip));
      });
      expect(await failure(get(`http://127.0.0.1:${dripping}/`, { timeoutMs: 120 }))).toBe('TIMEOUT');
    }
    const drippingHeaders = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX-Slow: ');
      const drip = setInterval(() => socket.write('x'), 10);
      socket.on('close', () => clearInterval(drip));
    });
    expect(await failure(get(`http://127.0.0.1:${drippingHeaders}/`, { timeoutMs: 120 }))).toBe('TIMEOUT');
  });

  it('reports the cause of an invalid response or connection', async () => {
    const resetting = await serveRaw((socket) => socket.resetAndDestroy());
    expect(await failure(get(`http://127.0.0.1:${resetting}/`))).toBe('CONNECTION_FAILED');
    const cut = await serveRaw((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf'));
    expect(await failure(get(`http://127.0.0.1:${cut}/`))).toBe('CONNECTION_FAILED');
    const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n';
    const closing = await serveRaw((socket) => socket.end(`${chunked}Connection: close\r\n\r\nff\r\nhalf`));
    expect(await failure(get(`http://127.0.0.1:${closing}/`))).toBe('CONNECTION_FAILED');
    const garbled = await serveRaw((socket) => socket.write(`${chunked}\r\nzz\r\n`));
    expect(await failure(get(`http://127.0.0.1:${garbled}/`))).toBe('BAD_RESPONSE');
    const nonsense = await serveRaw((socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'));
    expect(await failure(get(`http://127.0.0.1:${nonsense}/`))).toBe('BAD_RESPONSE');
    const zero = await serveRaw((socket) => socket.write('HTTP/1.1 000 None\r\n\r\n'));
    expect(await failure(get(`http://127.0.0.1:${zero}/`))).toBe('BAD_RESPONSE');
    const headless = await serveRaw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-type: tex'));
    expect(await failure(get(`http://127.0.0.1:${headless}/`))).toBe('BAD_RESPONSE');
    const boastful = await serveRaw((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`),
    );
    expect(await failure(get(`http://127.0.0.1:${boastful}/`))).toBe('BAD_RESPONSE');
    const switching = await serveRaw((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
    );
    expect(await failure(get(`http://127.0.0.1:${switching}/`))).toBe('BAD_RESPONSE');
    const unencrypted = await serve((_request, response) => response.end());
    expect(await failure(get(`https://127.0.0.1:${unencrypted}/`))).toBe('TLS_FAILED');
    const silent = await serve(() => undefined);
    const [server] = servers.splice(-1);
    await new Promise((resolve) => server?.close(resolve));
    expect(await failure(get(`http://127.0.0.1:${silent}/`))).toBe('CONNECTION_FAILED');
  });

  it('rejects endless interim responses', async () => {
    const port = await serveRaw((socket) => {
      const interim = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'), 5);
      socket.on('close', () => clearInterval(interim));
    });
    expect(await failure(get(`http://127.0.0.1:${port}/`, { timeoutMs: 100 }))).toBe('TIMEOUT');
  });

  it('limits the number of interim responses independently of the time-out', async () => {
    const port = await serveRaw((socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000)));
    expect(await failure(get(`http://127.0.0.1:${port}/`, { timeoutMs: 2_000 }))).toBe('BAD_RESPONSE');
    const few = await serveRaw((socket) =>
      socket.end(`${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(5)}HTTP/1.1 204 No Content\r\n\r\n`),
    );
    expect((await get(`http://127.0.0.1:${few}/`)).status).toBe(204);
  });

  it('accepts the response of a receiver that does not read a large request', async () => {
    const port = await serveRaw((socket) => {
      socket.pause();
      socket.end('HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
    });
    const request = {
      url: `http://127.0.0.1:${port}/`,
      method: 'POST',
      body: Buffer.alloc(8 * 1024 * 1024),
      timeoutMs: 5_000,
      maxBodyBytes: 100,
    };
    expect((await client.request(request)).status).toBe(413);
  });

  it('streams a body as it arrives, and stops when aborted', async () => {
    const port = await serve((_request, response) => {
      response.write('one');
      setTimeout(() => response.write('two'), 30);
    });
    const controller = new AbortController();
    const stream = await client.open({ url: `http://127.0.0.1:${port}/`, timeoutMs: 5_000, signal: controller.signal });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const chunk of stream.body) {
        seen.push(chunk.toString());
        if (seen.length === 2) controller.abort();
      }
    })();
    expect(await failure(reading)).toBe('ABORTED');
    expect(seen).toEqual(['one', 'two']);
    const aborted = client.open({ url: `http://127.0.0.1:${port}/`, timeoutMs: 5_000, signal: AbortSignal.abort() });
    expect(await failure(aborted)).toBe('ABORTED');
  });

  it('delivers chunks that arrive together as one piece', async () => {
    const count = 20_000;
    const port = await serveRaw((socket) => {
      socket.end(
        `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`,
      );
    });
    const { body } = await client.open({ url: `http://127.0.0.1:${port}/`, timeoutMs: 5_000 });
    const sizes: number[] = [];
    for await (const chunk of body) sizes.push(chunk.length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(count);
    expect(sizes.length).toBeLessThan(count / 20);
  });

  it('survives a reset connection while much of its response is unread', async () => {
    for (const head of ['HTTP/1.1 200 OK\r\nConnection: close\r\n', 'HTTP/1.0 200 OK\r\n']) {
      let written: () => void = () => undefined;
      const all = new Promise<void>((resolve) => (written = resolve));
      const port = await serveRaw((socket) => {
        socket.write(`${head}Content-Length: 1000000\r\n\r\n`);
        socket.write('x'.repeat(300_000), () => setTimeout(() => (socket.resetAndDestroy(), written()), 20));
      });
      const { body } = await client.open({ url: `http://127.0.0.1:${port}/`, timeoutMs: 5_000 });
      await all;
      await wait(20);
      const read = (async () => {
        let bytes = 0;
        for await (const chunk of body) bytes += chunk.length;
        return bytes;
      })();
      expect(await failure(read)).toBe('CONNECTION_FAILED');
    }
  });

  it('retries a request on a connection that was just closed, but not one that may have been processed', async () => {
    const endings: ((socket: Socket) => void)[] = [
      (socket) => socket.end(),
      (socket) => setTimeout(() => socket.end(), 700),
      (socket) => socket.end('HTTP/1.1 102 Processing\r\n\r\n'),
      (socket) => socket.end('HTTP/1.1 500 Oops\r\ncontent-type: tex'),
    ];
    const posts: number[] = [];
    for (const end of endings) {
      let seen = 0;
      const server = createTcpServer((socket) => {
        sockets.add(socket.on('error', () => undefined));
        socket.on('data', () => {
          if (++seen === 2) end(socket);
          else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        });
      });
      const url = `http://127.0.0.1:${await listen(server)}/`;
      const connections = new Connections();
      const post = () =>
        client.request({ url, method: 'POST', body: 'x', timeoutMs: 5_000, maxBodyBytes: 100, connections });
      await post();
      // The connection turns out to be alive in the next turn of the event loop.
      await wait(20);
      await failure(post());
      posts.push(seen);
      connections.close();
    }
    expect(posts).toEqual([3, 2, 2, 2]);
  });

  it('uses separate connections for concurrent requests', async () => {
    const port = await serve(({ url }, response) => void setTimeout(() => response.end('ok'), Number(url!.slice(1))));
    const connections = new Connections();
    const ask = (ms: number, timeoutMs = 5_000) =>
      client.request({ url: `http://127.0.0.1:${port}/${ms}`, timeoutMs, maxBodyBytes: 10, connections });
    await ask(0);
    const [slow, quick] = await Promise.allSettled([ask(400, 100), ask(200)]);
    expect(slow).toMatchObject({ reason: { reason: 'TIMEOUT' } });
    expect(quick).toMatchObject({ value: { status: 200 } });
    connections.close();
    expect(await failure(ask(0))).toBe('ABORTED');
  });

  it('resolves a name once for concurrent requests', async () => {
    let asked = 0;
    const port = await serve((_request, response) => response.end());
    const named = new OutboundClient({
      allowedNetworks: LOOPBACK,
      resolve: () => {
        asked++;
        return wait(50, ['127.0.0.1']);
      },
    });
    await Promise.all(Array.from({ length: 20 }, () => get(`http://named.test:${port}/`, { client: named })));
    expect(asked).toBe(1);
  });

  it('does not reveal anything about the network in its messages', async () => {
    await expect(get('http://127.0.0.1:1/')).rejects.toThrow(
      /^The connection could not be established or was interrupted$/,
    );
  });
});
