import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '../..');
const OTHER_BUILD = '0123456789ab';

/** A service that serves a replaceable package and refuses every key. */
class UpgradableService {
  bytes: Uint8Array = new Uint8Array();
  build: string | undefined;
  readonly requests: string[] = [];
  private server!: Server;

  async open(): Promise<string> {
    this.server = createServer((request, response) => {
      this.requests.push(`${request.method} ${request.url}`);
      response.setHeader('X-API-Version', '1.0.0');
      if (!request.url?.startsWith('/client.tgz')) {
        const body = JSON.stringify({ code: 'UNAUTHORIZED', message: 'Invalid API key' });
        return void response.writeHead(401, { 'Content-Type': 'application/json' }).end(body);
      }
      if (this.build !== undefined) response.setHeader('X-Client-Build', this.build);
      response.writeHead(200, { 'Content-Type': 'application/gzip', 'Cache-Control': 'private, no-cache' });
      response.end(request.method === 'HEAD' ? undefined : this.bytes);
    });
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): Promise<unknown> {
    this.server.closeAllConnections();
    return new Promise((resolve) => this.server.close(resolve));
  }
}

describe('the client package after an upgrade of the service', () => {
  const service = new UpgradableService();
  let folder: string;
  let url: string;
  let builtBytes: Uint8Array;
  let builtBuild: string;
  let otherBytes: Uint8Array;

  beforeAll(async () => {
    execFileSync(process.execPath, [path.join(ROOT, 'scripts/build-client.mjs')], { cwd: ROOT });
    folder = await mkdtemp(path.join(tmpdir(), 'client-upgrade-'));
    builtBytes = await readFile(path.join(ROOT, 'dist/client.tgz'));
    // The same program as another build.
    await writeFile(path.join(folder, 'client.tgz'), builtBytes);
    execFileSync('tar', ['xzf', 'client.tgz'], { cwd: folder });
    const manifestFile = path.join(folder, 'package/package.json');
    const manifest = JSON.parse(await readFile(manifestFile, 'utf8'));
    builtBuild = manifest.build;
    await writeFile(manifestFile, `${JSON.stringify({ ...manifest, build: OTHER_BUILD }, null, 2)}\n`);
    execFileSync('tar', ['czf', 'other.tgz', 'package'], { cwd: folder });
    otherBytes = await readFile(path.join(folder, 'other.tgz'));
    url = await service.open();
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });

  /** Runs the command with npx in an empty folder and the given npm cache. */
  async function npx(cache: string, address: string, words: string[], env: NodeJS.ProcessEnv = {}) {
    const work = await mkdtemp(path.join(folder, 'work-'));
    const variables = {
      ...{ PATH: process.env['PATH'], HOME: work, npm_config_cache: cache, VAT_URL: url, VAT_API_KEY: 'vat_x', ...env },
      // Nothing listens on this port.
      npm_config_registry: 'http://127.0.0.1:1/',
    };
    return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const all = ['--yes', '--package', address, 'vat', ...words];
      execFile('npx', all, { cwd: work, env: variables }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
      });
    });
  }

  it('notes that a warm npm cache runs an old build, with a URL that runs the new one', async () => {
    expect(builtBuild).toMatch(/^[0-9a-f]{12}$/);
    const cache = await mkdtemp(path.join(folder, 'cache-'));
    const address = `${url}/client.tgz`;
    [service.bytes, service.build] = [builtBytes, builtBuild];
    const first = await npx(cache, address, ['agents']);
    expect(first).toMatchObject({ code: 3, stderr: expect.stringContaining('401 UNAUTHORIZED') });
    expect(first.stderr).not.toContain('Note:');

    [service.bytes, service.build] = [otherBytes, OTHER_BUILD];
    const second = await npx(cache, address, ['agents']);
    const cure = `${address}?v=${OTHER_BUILD}`;
    expect(second.stderr).toContain(
      `Note: this is build ${builtBuild} of vat, and the service has build ${OTHER_BUILD}. Download ${address} again, or run: npx --yes --package "${cure}" vat …\n`,
    );
    const cured = await npx(cache, cure, ['agents']);
    expect(cured.stderr).toContain('401 UNAUTHORIZED');
    expect(cured.stderr).not.toContain('Note:');
    expect((await npx(cache, cure, ['--version'])).stdout).toBe(`1.0.0 (build ${OTHER_BUILD})\n`);
    // Each command asks once.
    expect(service.requests.filter((request) => request === 'HEAD /client.tgz')).toHaveLength(3);
  });

  it('notes nothing if the service does not name its build', async () => {
    [service.bytes, service.build] = [builtBytes, undefined];
    const { code, stderr } = await npx(await mkdtemp(path.join(folder, 'cache-')), `${url}/client.tgz`, ['agents']);
    expect(code).toBe(3);
    expect(stderr).not.toContain('Note:');
  });
});
