import { execFile, execFileSync } from 'node:child_process';
import { promisify } from 'node:util';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import path from 'node:path';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { openEventStream } from '../support/event-stream.js';
import { HttpClient } from '../support/http.js';
import { documentedLocation, type Nginx, startNginx } from '../support/nginx.js';
import { describeWith } from '../support/programs.js';
import { freePort } from '../support/redis.js';
import { createRunApp, prepareAgent, type RunApp } from '../support/run-app.js';
import { until } from '../support/until.js';
import { vat } from '../support/vat.js';

const ROOT = path.resolve(__dirname, '../..');

describeWith('nginx', 'the service behind nginx', () => {
  let app: RunApp;
  let nginx: Nginx;
  let agentId: string;
  let env: NodeJS.ProcessEnv;
  let folder: string;
  let direct: HttpClient;

  beforeAll(async () => {
    app = await createRunApp({}, { env: { TRUST_PROXY: '1' } });
    const prepared = await prepareAgent(app, ['house-facts']);
    ({ agentId, client: direct } = prepared);
    env = { VAT_API_KEY: prepared.apiKey };
    folder = await mkdtemp(path.join(tmpdir(), 'behind-nginx-'));
  });
  afterAll(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });
  afterEach(() => nginx.close());

  /** By default: with HTTP/1.0 to the service, a new connection for each request, and buffering. */
  const plainly = (more = '') => `location /vat/ { proxy_pass ${app.url}/; ${more} }`;
  const key = () => ({ Authorization: `Bearer ${env['VAT_API_KEY']}` });
  const command = (...words: string[]) => vat(words, { ...env, VAT_URL: `${nginx.url}/vat` });

  // nestjs/swagger#1105 and #1965, PhilanthropyDataCommons/service#2385, swagger-api/swagger-ui#5401.
  it('has page, API document, its server and client under the path of the proxy', async () => {
    nginx = await startNginx(documentedLocation(app.url));
    const page = await fetch(`${nginx.url}/vat/docs`);
    expect(page.status).toBe(200);
    const assets = [...(await page.text()).matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, asset]) => asset!);
    expect(assets.length).toBeGreaterThan(2);
    for (const asset of assets) expect((await fetch(new URL(asset, page.url))).status).toBe(200);
    expect((await fetch(`${nginx.url}/vat/`)).url).toBe(`${nginx.url}/vat/docs`);

    const document = await fetch(`${nginx.url}/vat/openapi.json`);
    const { servers } = (await document.json()) as { servers: { url: string }[] };
    const server = new URL(servers[0]!.url, document.url).href.replace(/\/$/, '');
    expect((await fetch(`${server}/agents`, { headers: key() })).status).toBe(200);
    const client = await fetch(`${nginx.url}/vat/client.tgz`, { method: 'HEAD' });
    expect([client.status, client.headers.get('content-type')]).toEqual([200, 'application/gzip']);
    const preflight = await fetch(`${server}/agents`, { method: 'OPTIONS' });
    expect(preflight.headers.get('x-api-version')).toBe('1.0.0');
  });

  it.each([
    ['the recommended configuration', () => documentedLocation(app.url), ''],
    ['the defaults of nginx', () => plainly(), ''],
    // django-eventstream#37, nginx/nginx#1505: events arrive when the buffer is full.
    ['compression of everything', () => plainly(), 'gzip on; gzip_types *; gzip_min_length 1; gzip_proxied any;'],
    ['a trailing slash', () => documentedLocation(app.url), ''],
  ])('executes a run for vat, and its events arrive while it goes on: %s', async (name, location, http) => {
    nginx = await startNginx(location(), http);
    const address = `${nginx.url}/vat${name === 'a trailing slash' ? '/' : ''}`;
    const started = await direct.post(`/agents/${agentId}/runs`, { repeat: 30, concurrency: 1 });
    const stream = await openEventStream(`${nginx.url}/vat/runs/${started.body.data.id}/events`, key());
    await until('the first event has arrived', () => stream.events.length > 0);
    expect(stream.events[0]?.data.status).not.toBe('COMPLETED');
    stream.disconnect();
    await direct.post(`/runs/${started.body.data.id}/cancel`);
    const result = await vat(['run', '--agent', agentId], { ...env, VAT_URL: address });
    expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining('Gate met') });
    expect(result.stderr).not.toMatch(/polling|Connection lost/);
  });

  // Caterva2#97, FitTrackee#256.
  it('says of 413 that a proxy limits the size, and which setting of nginx', async () => {
    nginx = await startNginx(plainly('client_max_body_size 1k;'));
    const file = path.join(folder, 'call.wav');
    await writeFile(file, randomBytes(100_000));
    const calls = await command(
      'import-call',
      file,
      '--agent',
      agentId,
      '--evaluation',
      'house-facts',
      '--channels',
      'caller-agent',
      '--started-at',
      '2026-11-20T09:30:00Z',
    );
    const suite = path.join(folder, 'suite.yaml');
    await writeFile(suite, `# ${'x'.repeat(5_000)}\nevaluations: []\n`);
    for (const result of [calls, await command('import', suite, '--agent', agentId)]) {
      expect(result).toMatchObject({ code: 3, stderr: expect.stringMatching(/413 .*\n.*client_max_body_size/) });
      expect(result.stderr).not.toContain('is not the URL');
    }
  });

  it.each<[string, () => string | Promise<string>, number, RegExp]>([
    [
      '502',
      async () => `location /vat/ { proxy_pass http://127.0.0.1:${await freePort()}/; }`,
      2,
      /502 Bad Gateway\n.*Start the service/,
    ],
    ['503', () => 'return 503;', 2, /503 Service .*\n.*Start the service/],
    ['504', () => 'return 504;', 2, /504 Gateway .*\n.*proxy_read_timeout/],
    ['429', () => 'return 429;', 2, /429 Too Many Requests\n.*The proxy limits the rate/],
    [
      'a redirect to https',
      () => 'return 301 https://tools.example.com$request_uri;',
      3,
      /redirects to https:\/\/tools\.example\.com\/vat\/agents/,
    ],
    // nginx-proxy/nginx-proxy#1738.
    [
      'a login of the proxy',
      () => `auth_basic "Tools"; auth_basic_user_file ${folder}/users; ${plainly()}`,
      3,
      /401 Unauthorized\).*\n.*login of its own/,
    ],
    [
      'a page of another server',
      () => 'location / { default_type text/html; return 200 "<html>Hello</html>"; }',
      3,
      /it has no X-API-Version|not JSON/,
    ],
    [
      'another path',
      () => `location /tools/ { proxy_pass ${app.url}/; }`,
      3,
      /404 Not Found\) is not from the service/,
    ],
  ])('differs for vat from what nginx answers itself: %s', async (_name, server, code, message) => {
    await writeFile(path.join(folder, 'users'), 'user:{PLAIN}secret\n');
    nginx = await startNginx(await server());
    const result = await command('agents');
    expect(result).toMatchObject({ code, stderr: expect.stringMatching(message) });
    expect(result.stderr).not.toContain('<html>');
  });

  it('serves a client that npm installs and that works there', async () => {
    execFileSync(process.execPath, [path.join(ROOT, 'scripts/build-client.mjs')], { cwd: ROOT });
    nginx = await startNginx(documentedLocation(app.url));
    const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', `${nginx.url}/vat/client.tgz`];
    // The service is in this process, so that nothing may block it.
    await promisify(execFile)('npm', args);
    const program = path.join(folder, 'node_modules/voice-agent-testing-client/vat.mjs');
    const { stdout } = await promisify(execFile)(process.execPath, [program, 'agents'], {
      env: { ...process.env, ...env, VAT_URL: `${nginx.url}/vat` },
    });
    expect(stdout).toContain(agentId);
  });

  // nodejs/node#20256, adonisjs/core#5081, growthbook-proxy#135, taskcluster#6692.
  it('keeps idle connections for longer than proxies, also for longer than headers may take', async () => {
    const server = app.nest.getHttpServer();
    const before = server.headersTimeout;
    server.headersTimeout = 1_000;
    // Requests of nginx go over one connection.
    nginx = await startNginx(
      'location /vat/ { proxy_pass http://service/; proxy_http_version 1.1; proxy_set_header Connection ""; }',
      `upstream service { server ${new URL(app.url).host}; keepalive 1; }`,
    );
    let connections = 0;
    server.on('connection', () => connections++);
    try {
      const statuses: number[] = [];
      for (const pause of [0, 2_500, 4_500]) {
        await sleep(pause);
        statuses.push((await fetch(`${nginx.url}/vat/agents`, { method: 'POST', headers: key(), body: 'x' })).status);
      }
      expect({ statuses, connections }).toEqual({ statuses: [415, 415, 415], connections: 1 });
      const answer = await new Promise<string>((resolve) => {
        const socket = connect(Number(new URL(app.url).port), '127.0.0.1', () =>
          socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'),
        );
        socket.once('data', (data) => resolve(data.toString()));
        socket.unref();
      });
      expect(Number(/^Keep-Alive: timeout=(\d+)/m.exec(answer)?.[1])).toBeGreaterThan(120);
    } finally {
      server.headersTimeout = before;
    }
  }, 30_000);
});
