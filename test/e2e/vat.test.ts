import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { callEnv, prepareAgent } from '../support/run-app.js';
import { createTcpProxy } from '../support/tcp-proxy.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';
import { startVat, vat } from '../support/vat.js';

const KEYS = ['books-a-table', 'house-facts'];
/** Milliseconds before each response of the slow agent, so that a run can be disturbed. */
const SLOW_MS = 250;

describe('the vat command', () => {
  let agent: ReferenceAgentServer;
  let slowAgent: ReferenceAgentServer;
  let app: TestApp;
  let folder: string;

  beforeAll(async () => {
    const address = (url: string) => `${url}/agents/{assistantId}/v1/chat/completions`;
    agent = await startReferenceAgent({ port: 0 });
    slowAgent = await startReferenceAgent({ port: 0, latencyMs: SLOW_MS });
    app = await createTestApp({
      env: {
        ...callEnv(address(agent.url)),
        AGENT_PROVIDER_2_URL: 'http://127.0.0.1:1/nobody',
        AGENT_PROVIDER_3_URL: address(slowAgent.url),
      },
    });
    folder = await mkdtemp(path.join(tmpdir(), 'vat-'));
  });
  afterAll(async () => {
    await app.close();
    await Promise.all([agent.close(), slowAgent.close()]);
    await rm(folder, { recursive: true });
  });

  /** Creates an agent with two evaluations; returns the environment for the command. */
  async function prepare(agentFields: object = {}) {
    const prepared = await prepareAgent(app, KEYS);
    const { client, agentId, apiKey } = prepared;
    await client.patch(`/agents/${agentId}`, { assistantId: 'booking', ...agentFields });
    return { ...prepared, env: { VAT_URL: app.url, VAT_API_KEY: apiKey } };
  }

  it('exits with 0 and writes all files if the gate is met', async () => {
    const { agentId, env, client } = await prepare();
    const file = (name: string) => path.join(folder, 'met/deep', name);
    const { code, stdout, stderr } = await startVat(
      [
        ...['run', '--agent', agentId, '--repeat', '2', '--min-score', '90', '--name', 'Nightly'],
        ...['--junit', file('junit.xml'), '--json', file('run.json')],
        ...['--markdown', file('run.md'), '--report', file('report.html')],
      ],
      env,
    ).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('4/4  passed') });
    expect(stderr.match(/^\d\/4 {2}passed /gm)).toHaveLength(4);
    expect(stderr).toMatch(/^Wrote .*run\.md, .*report\.html$/m);
    expect(stdout).toMatch(/^passed +Books a table, detail by detail +2\/2 +stable pass +100 +\d+ ms +\d+ ms$/m);
    expect(stdout).toContain('Gate met: 4 calls, 4 passed; score 100 of at least 90.');
    // Output that is not a terminal has no colours and no redrawn line.

    expect(stdout + stderr).not.toMatch(/[\u001B\r]/);

    const { run, evaluations, calls } = JSON.parse(await readFile(file('run.json'), 'utf8'));
    expect(run).toEqual((await client.get(`/runs/${run.id}`)).body.data);
    expect(run).toMatchObject({ name: 'Nightly', status: 'COMPLETED', repeat: 2, minimumScore: 90 });
    expect(evaluations).toMatchObject([
      { name: 'Books a table, detail by detail', outcome: 'passed', calls: 2, passed: 2, stability: 'stable pass' },
      {
        name: 'Answers questions about the restaurant',
        outcome: 'passed',
        calls: 2,
        passed: 2,
        score: 100,
        reason: null,
      },
    ]);
    expect(calls).toEqual((await client.get(`/runs/${run.id}/calls`)).body.data);
    expect(await readFile(file('run.md'), 'utf8')).toContain('| ✅ passed | Books a table, detail by detail | 2/2 |');
    expect(await readFile(file('junit.xml'), 'utf8')).toMatch(/<testsuites name="Nightly" tests="5" failures="0"/);
    expect(await readFile(file('report.html'), 'utf8')).toMatch(/^<!doctype html>/);
    // No temporary files are left.
    expect((await readdir(path.dirname(file('x')))).sort()).toEqual(['junit.xml', 'report.html', 'run.json', 'run.md']);
  });

  it('compares runs, and fails a run in which a case became worse', async () => {
    const { agentId, env, client } = await prepare();
    const run = ['run', '--agent', agentId, '--repeat', '6', '--min-pass-rate', '0', '--agent-version'];
    const first = await vat([...run, 'v1', '--name', 'Before', '--not-worse-than', 'previous'], env);
    const note = 'Note: There is no previous completed run to compare with.';
    expect(first).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(note),
      stderr: expect.stringContaining(note),
    });
    await client.patch(`/agents/${agentId}`, { assistantId: 'booking:wrong-fact' });
    const second = await vat([...run, 'v2', '--not-worse-than', 'previous'], env);
    expect(second.code).toBe(1);
    expect(second.stdout).toContain(
      '"Answers questions about the restaurant" became worse than in run "Before": 0 of 6 counted calls passed, instead of 6 of 6',
    );
    const runs = (await client.get(`/agents/${agentId}/runs`)).body.data as { id: string }[];
    const [after = '', before = ''] = runs.map(({ id }) => id);
    const worse = await vat(['compare', after], env);
    expect(worse).toMatchObject({ code: 1, stderr: '' });
    expect(worse.stdout).toMatch(/^Earlier: "Before" \(.*\), agent v1, score 100, 100 % passed$/m);
    expect(worse.stdout).toMatch(/^worse +Answers questions about the restaurant +6\/6 +0\/6 +100 → [\d.]+ /m);
    expect(worse.stdout).toMatch(/^same +Books a table, detail by detail +6\/6 +6\/6 +100 /m);
    expect(worse.stdout).toContain('1 case worse, 0 better, 1 without a difference larger than chance');
    expect(await vat(['compare', before, after], env)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^better +Answers/m),
    });
    expect((await vat(['compare', after, before, '--strict'], env)).code).toBe(1);
    const missing = (what: string) => ({
      code: 3,
      stderr: expect.stringMatching(`^vat: ${what} not found at .* \\(404 `),
    });
    expect(await vat(['compare', before], env)).toMatchObject(missing('An earlier run to compare with'));
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect(await vat(['compare', after, unknown], env)).toMatchObject(missing(`Run ${unknown}`));
    expect(await vat(['compare', unknown, before], env)).toMatchObject(missing(`Run ${unknown}`));
    const page = ['--out', path.join(folder, 'none.html')];
    const report = ['report', after, '--compare-with', unknown, ...page];
    expect(await vat(report, env)).toMatchObject(missing(`Run ${unknown}`));
    const invalid = await vat([...run, 'v3', '--not-worse-than', 'latest'], env);
    expect(invalid).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('--not-worse-than: notWorseThan must be'),
    });
  });

  it('prints another run beside the result, which the gate alone decides', async () => {
    const { agentId, env } = await prepare();
    const page = path.join(folder, 'compared.html');
    const run = ['run', '--agent', agentId, '--medium', 'text', '--compare-with'];
    const first = await vat([...run, 'previous'], env);
    expect(first).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Note: not compared: .*no other run/m) });
    const second = await vat([...run, 'previous', '--name', 'Second', '--report', page], env);
    expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('2 with too few calls to decide') });
    expect(await readFile(page, 'utf8')).toContain('Compared with');
    const [after = '', before = ''] = [second, first].map(({ stderr }) => /^Run (\S+)/m.exec(stderr)?.[1]);
    expect((await vat(['compare', after, before], env)).code).toBe(0);
    expect(await vat(['compare', after, before, '--strict'], env)).toMatchObject({ code: 2, stderr: '' });
    const saved = await vat(['report', after, '--compare-with', before, '--out', page], env);
    expect(saved.code).toBe(0);
    const unknown = await vat([...run, '00000000-0000-4000-8000-000000000000'], env);
    expect(unknown).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('404') });
  });

  it('refuses a medium that the agent has no protocol for, with 3', async () => {
    const { agentId, env } = await prepare();
    const voice = await vat(['run', '--agent', agentId, '--medium', 'voice'], env);
    expect(voice).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('409') });
  });

  it('compares no run that has not ended: exits with 2', async () => {
    const { agentId, env, client } = await prepare({ provider: 'AGENT_PROVIDER_3' });
    const { id } = (await client.post(`/agents/${agentId}/runs`, { repeat: 20, concurrency: 1 })).body.data;
    const compared = await vat(['compare', id], env);
    expect(compared).toMatchObject({ code: 2, stderr: expect.stringContaining('The run has not ended yet') });
    await client.post(`/runs/${id}/cancel`);
  });

  it('exits with 1 and still writes the files if the agent fails', async () => {
    const { agentId, env } = await prepare({ assistantId: 'booking:wrong-fact' });
    const [junit, json] = [path.join(folder, 'failed.xml'), path.join(folder, 'failed.json')];
    const args = ['run', '--agent', agentId, '--min-score', '95', '--junit', junit, '--json', json];
    const { code, stdout, stderr } = await vat(args, env);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('failed   Answers questions') });
    expect(stdout).toMatch(/^failed +Answers questions about the restaurant +0\/1 .*Not met: States the closing time/m);
    expect(stdout).toMatch(
      /Gate not met: 2 calls, 1 passed, 1 failed; score [\d.]+ of at least 95\.\n {2}The score of/,
    );
    expect(await readFile(junit, 'utf8')).toMatch(/failures="2" errors="0"[^]*<failure /);
    const { run } = JSON.parse(await readFile(json, 'utf8'));

    // The service stores the result: a later `status` reports the same.
    expect(await vat(['status', run.id], env)).toMatchObject({ code: 1, stdout });
    const again = await vat(['rerun', run.id, '--only', 'failed'], env);
    expect(again).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('Gate not met: 1 call, 0 passed, 1 failed'),
    });
    const saved = path.join(folder, 'saved/report.html');
    expect(await vat(['report', run.id, '--out', saved], env)).toMatchObject({ code: 0 });
    expect(await readFile(saved, 'utf8')).toContain(run.id);
    const savedJunit = path.join(folder, 'saved/junit.xml');
    expect(await vat(['junit', run.id, '--out', savedJunit], env)).toMatchObject({ code: 0 });
    expect(await readFile(savedJunit, 'utf8')).toBe(await readFile(junit, 'utf8'));
  });

  it('exits with 2 if the agent is unreachable', async () => {
    const { agentId, env } = await prepare({ provider: 'AGENT_PROVIDER_2' });
    const { code, stdout } = await vat(['run', '--agent', agentId, '--tag', 'facts'], env);
    expect(code).toBe(2);
    expect(stdout).toMatch(/^error +Answers questions/m);
    expect(stdout).toContain('No result: 1 call (1 retried), 0 passed, 1 error; no score.');
    expect(stdout).toContain('No call could be counted: 1 ended as error.');
  });

  it('exits with 1 if a critical evaluation could not be tested', async () => {
    const { agentId, env } = await prepare({ provider: 'AGENT_PROVIDER_2' });
    const { code, stdout } = await vat(['run', '--agent', agentId, '--tag', 'booking'], env);
    expect(code).toBe(1);
    expect(stdout).toContain('The critical evaluation "Books a table, detail by detail" has no counted calls.');
  });

  it('exits with 1 for a failed call without a minimum, and with 0 if the pass rate allows it', async () => {
    const { agentId, env } = await prepare({ assistantId: 'booking:wrong-fact' });
    const strict = await vat(['run', '--agent', agentId], env);
    expect(strict).toMatchObject({ code: 1, stdout: expect.stringContaining('1 of 2 counted calls failed') });
    const loose = ['run', '--agent', agentId, '--min-pass-rate', '0.5', '--allow-uncounted', '1'];
    expect(await vat(loose, env)).toMatchObject({ code: 0, stdout: expect.stringContaining('Gate met: 2 calls') });
    const plan = await vat([...loose, '--dry-run'], env);
    expect(plan.stdout).toContain(
      'Gate: at most 1 planned calls not tested, every counted call of the critical evaluations (1) passed, a pass rate of at least 0.5.',
    );
    expect(await vat(['run', '--agent', agentId, '--min-pass-rate', '90'], env)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('Must be a number from 0 to 1.'),
    });
  });

  it('exits with 2 if the service is down', async () => {
    const env = { VAT_URL: 'http://127.0.0.1:1', VAT_API_KEY: 'vat_x' };
    const { code, stderr } = await startVat(['status', 'x'], env).ended;
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining('The service at http://127.0.0.1:1 cannot be reached'),
    });
  });

  describe('usage errors', () => {
    let agentId: string;
    let env: NodeJS.ProcessEnv;

    beforeAll(async () => {
      ({ agentId, env } = await prepare());
    });

    const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000';
    it.each<[string, () => [string[], NodeJS.ProcessEnv?], string | RegExp]>([
      ['a missing command', () => [[]], 'Usage: vat'],
      ['a missing agent', () => [['run']], "required option '--agent <id>' not specified"],
      ['an unknown option', () => [['run', '--agent', agentId, '--minscore', '9']], "unknown option '--minscore'"],
      ['a misspelt agent', () => [['run', '--agnt', agentId]], "unknown option '--agnt'"],
      ['a score out of range', () => [['run', '--agent', agentId, '--min-score', '101']], 'a number from 0 to 100'],
      [
        'evaluations selected by tag and id',
        () => [['run', '--agent', agentId, '--tag', 'a', '--evaluation', UNKNOWN_ID]],
        "'--tag <tag>' cannot be used with option '--evaluation <id or key>'",
      ],
      [
        'a folder that cannot be created',
        () => [['run', '--agent', agentId, '--report', '/proc/x/y']],
        '/proc/x/y cannot be written',
      ],
      [
        'an option that is not a number',
        () => [['run', '--agent', agentId, '--repeat', 'x']],
        "argument 'x' is invalid",
      ],
      ['a missing key', () => [['run', '--agent', agentId], { VAT_API_KEY: '' }], 'VAT_API_KEY is not set'],
      [
        'an address that is not a URL',
        () => [['status', 'x', '--url', 'localhost:3000']],
        '--url is not an http or https URL',
      ],
      ['a wrong key', () => [['run', '--agent', agentId], { VAT_API_KEY: 'vat_wrong' }], '401 UNAUTHORIZED'],
      [
        'an unknown agent',
        () => [['run', '--agent', UNKNOWN_ID]],
        new RegExp(`Agent ${UNKNOWN_ID} not found at http://[^ ]+ \\(404 NOT_FOUND\\)`),
      ],
      [
        'an unknown run',
        () => [['report', UNKNOWN_ID, '--out', path.join(folder, 'x')]],
        new RegExp(`Run ${UNKNOWN_ID} not found at http://[^ ]+ \\(404 NOT_FOUND\\)`),
      ],
      [
        'a host name that does not resolve',
        () => [['run', '--agent', agentId, '--url', 'http://vat.invalid']],
        'The service at http://vat.invalid cannot be reached',
      ],
      ['an output file that is a folder', () => [['run', '--agent', agentId, '--json', folder]], 'is a folder'],
      [
        'options that the service rejects',
        () => [['run', '--agent', agentId, '--concurrency', '101', '--repeat', '51']],
        /400 BAD_REQUEST: Invalid input data\n(.*\n)*  - --repeat: repeat must .*\n(.*\n)*  - --concurrency: concurrency must /,
      ],
      ['another server', () => [['run', '--agent', agentId, '--url', agent.url]], 'is not the URL of the service'],
    ])('exits with 3 for %s', async (_, args, expected) => {
      const [given, overriding = {}] = args();
      const { code, stdout, stderr } = await vat(given, { ...env, ...overriding });
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect(stderr).toMatch(expected);
    });
  });

  it('prints the plan and starts nothing', async () => {
    const { agentId, env, client } = await prepare();
    const { code, stdout } = await vat(['run', '--agent', agentId, '--repeat', '3', '--dry-run'], env);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Books a table, detail by detail +books-a-table +booking +scripted +3 +critical$/m);
    // What the calls do and check, in words.
    expect(stdout).toMatch(/^Books a table, detail by detail:\n {2}The caller says "Hello/m);
    expect(stdout).toMatch(/^ {2}Check "Checks availability": Agent calls check_availability/m);
    expect(stdout).toContain('would make 6 calls of 2 evaluations');
    expect((await client.get(`/agents/${agentId}/runs`)).body.meta.total).toBe(0);
  });

  it('starts a run without waiting and waits for it later', async () => {
    const { agentId, env } = await prepare({ provider: 'AGENT_PROVIDER_3' });
    const started = await vat(['run', '--agent', agentId, '--no-wait'], env);
    expect(started).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[0-9a-f-]{36}\n$/), stderr: '' });
    const waited = await vat(['status', started.stdout.trim(), '--wait'], env);
    expect(waited).toMatchObject({ code: 0, stdout: expect.stringContaining('Gate met: 2 calls, 2 passed') });
  });

  it('resumes after a broken connection and reports every call once', async () => {
    const { agentId, env, client } = await prepare({ provider: 'AGENT_PROVIDER_3' });
    const proxy = await createTcpProxy(app.url);
    try {
      const args = ['run', '--agent', agentId, '--repeat', '3', '--concurrency', '1', '--url', proxy.url];
      const running = startVat(args, env);
      await until('the first call has ended', () => running.stderr().includes('1/6  passed'), 30_000);
      proxy.open = false;
      proxy.cut();
      await until('the break is noticed', () => running.stderr().includes('Connection lost; resuming.'));
      proxy.open = true;
      const { code, stderr } = await running.ended;
      expect(code).toBe(0);
      expect(stderr.match(/^\d\/6 /gm)).toEqual(['1/6 ', '2/6 ', '3/6 ', '4/6 ', '5/6 ', '6/6 ']);
      expect((await client.get(`/agents/${agentId}/runs`)).body.meta.total).toBe(1);
    } finally {
      await proxy.close();
    }
  });

  it.each([
    ['a signal', [], 'Stopped by SIGINT: cancelling the run'],
    ['its time-out', ['--timeout', '2'], 'Not ended after 2 s: cancelling the run'],
  ])('cancels its run on %s', async (_, more, expected) => {
    const { agentId, env, client } = await prepare({ provider: 'AGENT_PROVIDER_3' });
    const json = path.join(folder, `cancelled-${more.length}.json`);
    const args = ['run', '--agent', agentId, '--repeat', '20', '--concurrency', '1', '--json', json, ...more];
    const running = startVat(args, env);
    if (more.length === 0) {
      await until('the first call has ended', () => running.stderr().includes('1/40  passed'), 30_000);
      running.child.kill('SIGINT');
    }
    const { code, stdout, stderr } = await running.ended;
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(expected) });
    expect(stdout).toMatch(/^Cancelled: 40 calls, \d+ passed, \d+ cancelled/m);
    const { run } = JSON.parse(await readFile(json, 'utf8'));
    expect((await client.get(`/runs/${run.id}`)).body.data.status).toBe('CANCELLED');
  });
});
