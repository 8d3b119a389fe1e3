import { execFile, execFileSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { callEnv, prepareAgent } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const ROOT = path.resolve(__dirname, '../..');
const SHA = '0123456789abcdef0123456789abcdef01234567';
type Variables = Record<string, string>;

interface Pipeline {
  /** Commands of the steps that are not actions of others. */
  readonly script: string;
  readonly env: Variables;
}

const template = async (name: string) => parse(await readFile(path.join(ROOT, 'docs/ci', name), 'utf8'));

/** The `run:` steps of the GitHub workflow; expressions are resolved from the given settings. */
async function gitHub(settings: Variables): Promise<Pipeline> {
  const workflow = (await template('github-actions.yml')) as {
    jobs: Record<string, { steps: { run?: string; env?: Variables; with?: object; uses?: string }[] }>;
  };
  const { steps } = workflow.jobs['voice-agent']!;
  // The repository of the workflow itself is checked out: the agent's.
  expect(steps[0]).toEqual({
    uses: expect.stringMatching(/^actions\/checkout@/),
    with: { 'persist-credentials': false },
  });
  const [step, ...others] = steps.filter(({ run }) => run !== undefined);
  expect(others).toEqual([]);
  const env = Object.entries(step!.env!).map(([name, value]) => [
    name,
    value.replace(/^\$\{\{ (?:vars|secrets)\.(\w+) \}\}$/, (_, setting: string) => settings[setting]!),
  ]);
  return { script: step!.run!, env: Object.fromEntries(env) };
}

/** The script of the GitLab job. */
async function gitLab(settings: Variables): Promise<Pipeline> {
  const job = (await template('gitlab-ci.yml'))['voice-agent'] as { script: string[]; variables: Variables };
  return { script: job.script.join('\n'), env: { ...settings, ...job.variables } };
}

describe('the pipeline templates', () => {
  let agent: ReferenceAgentServer;
  let app: TestApp;
  let folder: string;

  beforeAll(async () => {
    execFileSync(process.execPath, [path.join(ROOT, 'scripts/build-client.mjs')], { cwd: ROOT });
    agent = await startReferenceAgent({ port: 0 });
    app = await createTestApp({ env: callEnv(`${agent.url}/agents/{assistantId}/v1/chat/completions`) });
    folder = await mkdtemp(path.join(tmpdir(), 'pipelines-'));
  });
  afterAll(async () => {
    await Promise.all([app.close(), agent.close()]);
    await rm(folder, { recursive: true });
  });

  /** Executes a pipeline in a folder that contains only the agent's repository, with its suite. */
  async function execute(pipeline: (settings: Variables) => Promise<Pipeline>, assistantId: string, url = app.url) {
    const { agentId, apiKey, client } = await prepareAgent(app, []);
    await client.patch(`/agents/${agentId}`, { assistantId });
    const { script, env } = await pipeline({ VAT_URL: url, VAT_API_KEY: apiKey, VAT_AGENT_ID: agentId });
    const work = await mkdtemp(path.join(folder, 'work-'));
    const suite = path.join(work, env['VAT_SUITE']!);
    await mkdir(path.dirname(suite), { recursive: true });
    await copyFile(path.join(ROOT, 'docs/examples/restaurant.yaml'), suite);
    const summary = path.join(await mkdtemp(path.join(folder, 'runner-')), 'summary.md');
    const variables = {
      ...{ PATH: process.env['PATH'], HOME: work, TMPDIR: path.dirname(summary), ...env },
      // Nothing listens on this port.
      npm_config_registry: 'http://127.0.0.1:1/',
      ...{ GITHUB_REPOSITORY: 'team/agent', GITHUB_SHA: SHA, GITHUB_STEP_SUMMARY: summary },
      ...{ CI_PROJECT_PATH: 'team/agent', CI_COMMIT_SHA: SHA, CI_COMMIT_SHORT_SHA: SHA.slice(0, 8) },
    };
    const { code, output } = await new Promise<{ code: number; output: string }>((resolve) => {
      const words = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script];
      execFile('bash', words, { cwd: work, env: variables }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), output: stderr + stdout });
      });
    });
    const read = (file: string) => readFile(path.resolve(work, file), 'utf8');
    return { code, output, read, summary };
  }

  it.each([
    ['GitHub Actions', gitHub, undefined],
    ['GitLab', gitLab, 'results/run.md'],
  ])('%s: imports the suite, passes with a healthy agent, and publishes the results', async (_, pipeline, markdown) => {
    const { code, output, read, summary } = await execute(pipeline, 'booking');
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('Imported evaluations: 3 created') });
    expect(await read(markdown ?? summary)).toMatch(/^### ✅ team[^\n]*01234567\n[^]*\| ✅ passed \| /);
    expect(await read('results/junit.xml')).toContain('failures="0" errors="0"');
    expect(JSON.parse(await read('results/run.json')).run).toMatchObject({
      agentVersion: SHA,
      repeat: 10,
      exitCode: 0,
    });
    expect(await read('results/report.html')).toMatch(/^<!doctype html>/);
  });

  it.each([
    ['GitHub Actions', gitHub, undefined],
    ['GitLab', gitLab, 'results/run.md'],
  ])('%s: fails with a faulty agent, and publishes the results', async (_, pipeline, markdown) => {
    const { code, read, summary } = await execute(pipeline, 'booking:wrong-tool-argument');
    expect(code).toBe(1);
    expect(await read(markdown ?? summary)).toMatch(/^### ❌ /);
    expect(await read('results/junit.xml')).toContain('<failure ');
  });

  describe.each([
    ['GitHub Actions', gitHub],
    ['GitLab', gitLab],
  ])('%s: exits with 2, which says nothing about the agent,', (_, pipeline) => {
    it('if the service is down', async () => {
      const { code, output } = await execute(pipeline, 'booking', 'http://127.0.0.1:1');
      expect({ code, output }).toEqual({
        code: 2,
        output: expect.stringContaining('No client at http://127.0.0.1:1/client.tgz'),
      });
    });

    it('if another server answers', async () => {
      const server = createServer((_, response) => response.end('<h1>Maintenance</h1>'));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { code, output } = await execute(pipeline, 'booking', url);
      server.close();
      expect({ code, output }).toEqual({ code: 2, output: expect.stringContaining(`No client at ${url}/client.tgz`) });
    });
  });
});
