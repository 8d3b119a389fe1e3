import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { HttpClient } from '../support/http.js';
import { type ForwardProxy, startForwardProxy } from '../support/forward-proxy.js';
import { describeWith } from '../support/programs.js';
import { freePort } from '../support/redis.js';
import { createRunApp, prepareAgent, type RunApp } from '../support/run-app.js';
import { startVat, vat } from '../support/vat.js';

const certificate = (name: string): string => path.resolve(__dirname, `../support/certificates/${name}.pem`);
const TOKEN = `Basic ${Buffer.from('user:p@ss#word').toString('base64')}`;

// TestSprite/testsprite-cli#119, fastagent#474, modelstudioai/cli#51, openclaw#20549: curl in the same job uses the proxy.
describe('vat and a proxy between it and the service', () => {
  let app: RunApp;
  let client: HttpClient;
  let agentId: string;
  let proxy: ForwardProxy;
  /** The host of the service is known to the proxy alone. */
  let service: string;
  let env: NodeJS.ProcessEnv;

  beforeAll(async () => {
    app = await createRunApp();
    const prepared = await prepareAgent(app, ['house-facts']);
    ({ client, agentId } = prepared);
    service = `http://vat.example.com:${new URL(app.url).port}`;
    env = { VAT_URL: service, VAT_API_KEY: prepared.apiKey };
  });
  afterAll(() => app.close());
  beforeEach(async () => {
    proxy = await startForwardProxy({ token: TOKEN });
  });
  afterEach(() => proxy.close());

  const address = () => `http://user:p%40ss%23word@127.0.0.1:${proxy.port}`;

  it.each(['HTTP_PROXY', 'http_proxy'])(
    'sends everything through %s, a whole run with its events',
    async (variable) => {
      const folder = await mkdtemp(path.join(tmpdir(), 'vat-proxy-'));
      const suite = path.join(folder, 'suite.yaml');
      await writeFile(
        suite,
        await client.get<string>(`/agents/${agentId}/evaluations/export?format=yaml`).then((r) => r.body),
      );
      const { code, stdout, stderr } = await vat(['run', '--agent', agentId, '--suite', suite], {
        ...env,
        [variable]: address(),
      });
      await rm(folder, { recursive: true });
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('Connection lost') });
      expect(stdout).toContain('Gate met');
      expect(proxy.seen.some((line) => /^GET .*\/runs\/[^/]+\/events /.test(line))).toBe(true);
      expect(proxy.seen.every((line) => line.includes(`${service}/`) && line.endsWith(TOKEN))).toBe(true);
    },
  );

  it('reaches a service with TLS through a tunnel, and does not show it the credentials', async () => {
    const [key, cert] = await Promise.all([readFile(certificate('key')), readFile(certificate('other-host'))]);
    const headers: object[] = [];
    const tls = createServer({ key, cert }, (incoming, response) => {
      headers.push(incoming.headers);
      const { method, url: target, headers: given } = incoming;
      const forwarded = request(app.url + target, { method, headers: given }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      incoming.pipe(forwarded);
    });
    await once(tls.listen(0, '127.0.0.1'), 'listening');
    const { port } = tls.address() as AddressInfo;
    const secure = { ...env, VAT_URL: `https://vat.example.com:${port}`, HTTPS_PROXY: address() };
    const trusted = await startVat(['agents'], { ...secure, NODE_EXTRA_CA_CERTS: certificate('other-host') }).ended;
    const untrusted = await startVat(['agents'], secure).ended;
    tls.closeAllConnections();
    tls.close();
    expect(trusted).toMatchObject({ code: 0, stdout: expect.stringContaining(agentId) });
    expect(proxy.seen).toContain(`CONNECT vat.example.com:${port} ${TOKEN}`);
    expect(JSON.stringify(headers)).not.toContain('proxy-');
    expect(untrusted).toMatchObject({ code: 3, stderr: expect.stringContaining('NODE_EXTRA_CA_CERTS') });
  });

  it.each([
    ['NO_PROXY', () => ({ HTTP_PROXY: address(), NO_PROXY: 'example.com' })],
    ['the variable of another scheme', () => ({ HTTPS_PROXY: address() })],
  ])('does not use the proxy by %s', async (_name, more) => {
    expect(await vat(['agents'], { ...env, ...more() })).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/),
    });
    expect(proxy.seen).toEqual([]);
  });

  it('never sends what is for this machine to a proxy', async () => {
    expect(await vat(['agents'], { ...env, VAT_URL: app.url, HTTP_PROXY: address() })).toMatchObject({ code: 0 });
    expect(proxy.seen).toEqual([]);
  });

  const TLS_URL = 'https://vat.example.com:8443';
  it.each([
    ['refuses the credentials', 'http', 407, 3, /HTTP_PROXY answered with status 407: it asks for a user name/],
    [
      'refuses the credentials of a tunnel',
      TLS_URL,
      407,
      3,
      /HTTPS_PROXY answered with status 407: it asks for a user name/,
    ],
    ['forbids the tunnel', TLS_URL, 403, 3, /HTTPS_PROXY answered with status 403/],
    ['cannot make the tunnel', TLS_URL, 502, 2, /HTTPS_PROXY answered with status 502/],
    ['cannot reach the service', 'http', 502, 2, /502 Bad Gateway.*HTTP_PROXY/s],
  ] as const)('names a proxy that %s, and not its password', async (_name, url, mode, code, line) => {
    proxy.mode = mode;
    const given = { ...env, VAT_URL: url === 'http' ? service : url, HTTP_PROXY: address(), HTTPS_PROXY: address() };
    const result = await vat(['agents'], given);
    expect(result).toMatchObject({ code, stderr: expect.stringMatching(line) });
    expect(result.stderr).toContain(`http://127.0.0.1:${proxy.port}`);
    expect(result.stderr).not.toMatch(/p%40ss|p@ss|Basic|<h1>/);
  });

  it('names a proxy that does not listen, or is not one', async () => {
    const port = await freePort();
    const closed = await vat(['agents'], { ...env, HTTP_PROXY: `user:p%40ss@127.0.0.1:${port}` });
    expect(closed).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(`through the proxy http://127.0.0.1:${port} \\(HTTP_PROXY\\): .*ECONNREFUSED`),
    });
    const wrong = await vat(['agents'], { ...env, HTTP_PROXY: 'socks5://user:p%40ss@127.0.0.1:1' });
    expect(wrong).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/HTTP_PROXY must be the address of an http or https proxy/),
    });
    expect(closed.stderr + wrong.stderr).not.toContain('p%40ss');
  });
});

describeWith('tinyproxy', 'vat through a real proxy', () => {
  it('authenticates, and reports its refusal', async () => {
    const app = await createRunApp();
    const { apiKey, agentId } = await prepareAgent(app, []);
    const folder = await mkdtemp(path.join(tmpdir(), 'tinyproxy-'));
    const port = await freePort();
    // Tunnels are allowed for port 443 alone, as many proxies do by default.
    const lines = [`Port ${port}`, 'Listen 127.0.0.1', 'BasicAuth user secret', 'ConnectPort 443', 'LogLevel Critical'];
    await writeFile(path.join(folder, 'conf'), `${lines.join('\n')}\n`);
    const tinyproxy = spawn('tinyproxy', ['-d', '-c', path.join(folder, 'conf')], { stdio: 'ignore' });
    try {
      // This machine, but not by an address that is exempt from proxies.
      const url = `http://0.0.0.0:${new URL(app.url).port}`;
      const run = (credentials: string) =>
        vat(['agents'], { VAT_URL: url, VAT_API_KEY: apiKey, HTTP_PROXY: `http://${credentials}@127.0.0.1:${port}` });
      expect(await run('user:secret')).toMatchObject({ code: 0, stdout: expect.stringContaining(agentId) });
      // It answers 401 in place of 407.
      expect(await run('user:wrong')).toMatchObject({
        code: 3,
        stderr: expect.stringMatching(/401 Unauthorized.*Or correct HTTP_PROXY/s),
      });
      const env = { VAT_URL: 'https://vat.example.com:8443', VAT_API_KEY: apiKey };
      const tunnel = await vat(['agents'], { ...env, HTTPS_PROXY: `http://user:secret@127.0.0.1:${port}` });
      expect(tunnel).toMatchObject({
        code: 3,
        stderr: expect.stringContaining('HTTPS_PROXY answered with status 403'),
      });
    } finally {
      tinyproxy.kill();
      await once(tinyproxy, 'exit');
      await rm(folder, { recursive: true });
      await app.close();
    }
  });
});
