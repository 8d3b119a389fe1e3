import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { callEnv, prepareAgent } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const ROOT = path.resolve(__dirname, '../..');
const MAX_BYTES = 2 * 1024 * 1024;
const API_KEY = /vat_[0-9A-Za-z]{36}/;

describe('the client package', () => {
  let agent: ReferenceAgentServer;
  let app: TestApp;
  let folder: string;

  beforeAll(async () => {
    execFileSync(process.execPath, [path.join(ROOT, 'scripts/build-client.mjs')], { cwd: ROOT });
    agent = await startReferenceAgent({ port: 0 });
    app = await createTestApp({ env: callEnv(`${agent.url}/agents/{assistantId}/v1/chat/completions`) });
    folder = await mkdtemp(path.join(tmpdir(), 'client-package-'));
  });
  afterAll(async () => {
    await Promise.all([app.close(), agent.close()]);
    await rm(folder, { recursive: true });
  });

  it('is served without a key, with rate-limit headers and an entity tag', async () => {
    const response = await fetch(`${app.url}/client.tgz`);
    expect(response.status).toBe(200);
    const headers = Object.fromEntries(response.headers);
    expect(headers).toMatchObject({
      'content-type': 'application/gzip',
      'x-api-version': '1.0.0',
      'x-ratelimit-limit': expect.stringMatching(/^\d+$/),
      'x-ratelimit-remaining': expect.stringMatching(/^\d+$/),
      'x-ratelimit-reset': expect.stringMatching(/^\d+$/),
    });
    expect((await response.arrayBuffer()).byteLength).toBeLessThan(MAX_BYTES);

    // By default, fetch asks caches for a full response.
    const conditional = { 'If-None-Match': headers['etag']!, 'Cache-Control': 'max-age=0' };
    const again = await fetch(`${app.url}/client.tgz`, { headers: conditional });
    expect({ status: again.status, length: (await again.text()).length }).toEqual({ status: 304, length: 0 });
  });

  it('contains one program without dependencies, addresses or keys', async () => {
    const tar = path.join(ROOT, 'dist/client.tgz');
    const read = (file: string) =>
      execFileSync('tar', ['xzfO', tar, `package/${file}`], { maxBuffer: MAX_BYTES }).toString();
    expect(execFileSync('tar', ['tzf', tar]).toString().trim().split('\n').sort()).toEqual([
      'package/LICENSE',
      'package/THIRD-PARTY-NOTICES.txt',
      'package/package.json',
      'package/vat.mjs',
    ]);
    const manifest = JSON.parse(read('package.json'));
    expect(manifest).toMatchObject({ version: '1.0.0', bin: { vat: 'vat.mjs' } });
    const { headers } = await fetch(`${app.url}/client.tgz`, { method: 'HEAD' });
    expect(headers.get('x-client-build')).toBe(manifest.build);
    expect(manifest.build).toMatch(/^[0-9a-f]{12}$/);
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest).not.toHaveProperty('scripts');
    const program = read('vat.mjs');
    expect(program).not.toContain(ROOT);
    expect(program).not.toContain(app.url);
    expect(program).not.toMatch(API_KEY);
    // Bundled packages keep their licences.
    expect(read('THIRD-PARTY-NOTICES.txt')).toMatch(/^commander \d[^]*Permission is hereby granted/m);
  });

  it('runs with npx in an empty folder, with an empty npm cache and no registry', async () => {
    const { agentId, apiKey, client } = await prepareAgent(app, ['house-facts']);
    await client.patch(`/agents/${agentId}`, { assistantId: 'booking' });
    const work = await mkdtemp(path.join(folder, 'work-'));
    const env = {
      PATH: process.env['PATH'],
      HOME: await mkdtemp(path.join(folder, 'home-')),
      npm_config_cache: await mkdtemp(path.join(folder, 'cache-')),
      // Nothing listens on this port.
      npm_config_registry: 'http://127.0.0.1:1/',
      VAT_URL: app.url,
      VAT_API_KEY: apiKey,
    };
    const words = ['--yes', '--package', `${app.url}/client.tgz`, 'vat', 'run', '--agent', agentId];
    const { code, stdout, stderr } = await new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      execFile('npx', words, { cwd: work, env }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('1/1  passed') });
    expect(stderr).not.toContain('Note:');
    expect(stdout).toContain('Gate met: 1 call, 1 passed');
    expect(await readdir(work)).toEqual([]);
  });
});
