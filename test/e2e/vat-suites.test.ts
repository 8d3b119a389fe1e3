import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ReferenceAgentServer, startReferenceAgent } from '../simulators/agent/index.js';
import { createKey } from '../support/keys.js';
import { callEnv, prepareAgent } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { startVat, vat } from '../support/vat.js';

const SUITE = `
personalities:
  - name: Guest
evaluations:
  - key: hours
    name: Asks for the opening hours
    personality: Guest
    scenarioText: You ask when the restaurant closes.
    tags: [facts]
    script:
      - say: When do you close?
      - end: Answered
    checks:
      - { type: never_says, name: Stays on the subject, text: zebra }
  - key: greeting
    name: Is greeted
    personality: Guest
    scenarioText: You greet the restaurant.
    script:
      - say: Hello
      - end: Greeted
    checks:
      - { type: max_latency_ms, ms: 60000 }
`;

describe('the vat command: agents and suites', () => {
  let agent: ReferenceAgentServer;
  let app: TestApp;
  let folder: string;

  beforeAll(async () => {
    agent = await startReferenceAgent({ port: 0 });
    app = await createTestApp({ env: callEnv(`${agent.url}/agents/{assistantId}/v1/chat/completions`) });
    folder = await mkdtemp(path.join(tmpdir(), 'vat-suites-'));
  });
  afterAll(async () => {
    await Promise.all([app.close(), agent.close()]);
    await rm(folder, { recursive: true });
  });

  async function prepare(keys: string[] = []) {
    const prepared = await prepareAgent(app, keys, { name: 'Bella Vista' });
    await prepared.client.patch(`/agents/${prepared.agentId}`, { assistantId: 'booking' });
    return { ...prepared, env: { VAT_URL: app.url, VAT_API_KEY: prepared.apiKey } };
  }

  async function file(name: string, text: string): Promise<string> {
    const saved = path.join(folder, name);
    await writeFile(saved, text);
    return saved;
  }

  it('prints its version', async () => {
    expect(await startVat(['--version'], {}).ended).toEqual({ code: 0, stdout: '1.0.0\n', stderr: '' });
  });

  it('lists the agents of the workspace, on all pages, without their keys', async () => {
    const { client, agentId, env } = await prepare();
    const body = { provider: 'AGENT_PROVIDER_1', assistantId: 'booking', apiKey: 'provider-secret', phoneNumber: '+1' };
    for (let n = 0; n < 101; n++)
      await client.post('/agents', { ...body, name: n === 0 ? 'Bad\u001B[31m ##vso[x]' : `Agent ${n}` });
    const { code, stdout, stderr } = await vat(['agents'], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trim().split('\n')).toHaveLength(1 + 102);
    expect(stdout).toMatch(new RegExp(`^${agentId} +Bella Vista +AGENT_PROVIDER_1 `, 'm'));
    expect(stdout).toContain('Bad�[31m #\u200B#vso[x]');
    expect(stdout).not.toContain('provider-secret');
  });

  it('deletes agents, evaluations, personalities and runs only with --yes, and only those of the workspace', async () => {
    const { client, agentId, env, evaluations } = await prepare(['house-facts']);
    const started = await vat(['run', '--agent', agentId, '--no-wait'], env);
    const runId = started.stdout.trim();
    await client.get(`/runs/${runId}?wait=60`);
    const personality = (await client.post('/personalities', { name: 'Guest', prompt: 'You are a guest.' })).body.data;
    const stranger = (await prepare()).env;
    const all = [
      ['run', runId, `/runs/${runId}`],
      ['evaluation', evaluations.get('house-facts')!, `/agents/${agentId}/evaluations`],
      ['personality', personality.id, '/personalities'],
      ['agent', agentId, '/agents'],
    ] as const;
    for (const [kind, id, path] of all) {
      const foreign = await vat(['delete', kind, id, '--yes'], stranger);
      expect(foreign).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('403') });
      const unconfirmed = await vat(['delete', kind, id], env);
      expect(unconfirmed).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('Not deleted: ') });
      expect(JSON.stringify((await client.get(path)).body)).toContain(id);
      const deleted = await vat(['delete', kind, id, '--yes'], env);
      expect(deleted).toEqual({
        code: 0,
        stderr: kind === 'agent' ? `To restore it: vat restore ${id}\n` : '',
        stdout: expect.stringMatching(`^Deleted ${kind} ".*" \\(${id}\\)\n$`),
      });
      expect(JSON.stringify((await client.get(path)).body)).not.toContain(`"id":"${id}"`);
    }
    expect(await vat(['delete', 'agent', agentId, '--yes'], env)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`The agent ${agentId} not found`),
    });
    expect((await vat(['delete', 'call', agentId, '--yes'], env)).code).toBe(3);
  });

  it('lists and restores deleted agents', async () => {
    const { agentId, env } = await prepare();
    const [shown, none] = [`agent "Bella Vista" (${agentId})\n`, 'The workspace has no deleted agents.\n'];
    expect((await vat(['agents', '--deleted'], env)).stdout).toBe(none);
    expect(await vat(['restore', agentId], env)).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('409 CONFLICT: The agent is not deleted'),
    });
    await vat(['delete', 'agent', agentId, '--yes'], env);
    expect((await vat(['agents', '--deleted'], env)).stdout).toMatch(new RegExp(`^${agentId} +Bella Vista `, 'm'));
    expect((await vat(['agents'], env)).stdout).not.toContain(agentId);
    const stranger = await vat(['restore', agentId], (await prepare()).env);
    expect(stranger).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('403') });
    expect(await vat(['restore', agentId], env)).toEqual({ code: 0, stdout: `Restored ${shown}`, stderr: '' });
    expect((await vat(['agents'], env)).stdout).toContain(agentId);
    expect((await vat(['agents', '--deleted'], env)).stdout).toBe(none);
  });

  it.each([
    ['an agent', false],
    ['a deleted agent', true],
  ])('erases %s with --permanently and --yes', async (_, isDeleted) => {
    const { client, agentId, env, ...subject } = await prepare();
    if (isDeleted) await client.delete(`/agents/${agentId}`);
    const erase = ['delete', 'agent', agentId, '--permanently'];
    expect(await vat(erase, env)).toEqual({
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(
        `^vat: Not deleted: agent "Bella Vista" \\(${agentId}\\)\n.*Add --yes to erase it\\. It cannot be restored\\.`,
      ),
    });
    const editor = { ...env, VAT_API_KEY: (await createKey(app, subject, 'EDITOR')).value };
    expect(await vat([...erase, '--yes'], editor)).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining('  - permanently requires an ADMIN key\n'),
    });
    expect((await client.get(`/agents?deleted=${isDeleted}`)).body.data).toMatchObject([{ id: agentId }]);
    expect(await vat([...erase, '--yes'], env)).toEqual({
      code: 0,
      stdout: `Erased agent "Bella Vista" (${agentId})\n`,
      stderr: '',
    });
    for (const args of [
      ['restore', agentId],
      [...erase, '--yes'],
    ]) {
      expect(await vat(args, env)).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('404') });
    }
    expect((await vat(['agents', '--deleted'], env)).stdout).toBe('The workspace has no deleted agents.\n');
  });

  it('refuses --permanently for anything but an agent', async () => {
    const { agentId, env, evaluations } = await prepare(['house-facts']);
    const id = evaluations.get('house-facts')!;
    expect(await vat(['delete', 'evaluation', id, '--permanently', '--yes'], env)).toMatchObject({
      code: 3,
      stdout: '',
      stderr: expect.stringContaining("option '--permanently' is only for agents"),
    });
    expect((await vat(['evaluations', '--agent', agentId], env)).stdout).toContain(id);
  });

  it('lists the evaluations of an agent', async () => {
    const { agentId, env, evaluations } = await prepare(['books-a-table', 'house-facts']);
    const { code, stdout } = await vat(['evaluations', '--agent', agentId], env);
    expect(code).toBe(0);
    const id = evaluations.get('books-a-table')!;
    expect(stdout).toMatch(
      new RegExp(`^${id} +books-a-table +Books a table, detail by detail +critical +booking$`, 'm'),
    );
    expect(stdout).toMatch(/ house-facts +Answers questions about the restaurant +– +facts$/m);
  });

  it('shows keys and tags in full, because options take them', async () => {
    const { client, agentId, env } = await prepare();
    const key = 'answers-questions-about-the-opening-hours-on-public-holidays';
    const tag = 'smoke-tests-of-bookings-over-the-telephone';
    const personality = { name: 'Guest' };
    const evaluation = { key, name: 'Asks', personality: 'Guest', scenarioText: 'You ask.', tags: [tag] };
    const body = { personalities: [personality], evaluations: [evaluation] };
    expect((await client.post(`/agents/${agentId}/evaluations/import`, body)).status).toBe(200);
    const { stdout } = await vat(['evaluations', '--agent', agentId], env);
    expect(stdout).toContain(` ${key} `);
    expect(stdout).toContain(` ${tag}\n`);
  });

  it('finds neither agents nor evaluations of another workspace', async () => {
    const { agentId } = await prepare(['house-facts']);
    const { env } = await prepare();
    expect((await vat(['agents'], env)).stdout).not.toContain(agentId);
    const suite = await file('other.yaml', SUITE);
    for (const args of [['evaluations'], ['export'], ['import', suite], ['run', '--suite', suite]]) {
      const { code, stdout, stderr } = await vat([...args, '--agent', agentId], env);
      expect({ args, code, stdout }).toEqual({ args, code: 3, stdout: '' });
      expect(stderr).toMatch(/404 NOT_FOUND|403 FORBIDDEN/);
    }
  });

  it('imports a suite and prints what it did; a dry run writes nothing', async () => {
    const { client, agentId, env } = await prepare();
    const suite = await file('suite.yml', SUITE);
    const dry = await vat(['import', suite, '--agent', agentId, '--dry-run'], env);
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(dry.stdout).toContain('created    personality "Guest"\ncreated    hours\ncreated    greeting\n');
    expect(dry.stdout).toContain('Dry run: nothing was imported.');
    expect((await client.get(`/agents/${agentId}/evaluations`)).body.meta.total).toBe(0);

    expect((await vat(['import', suite, '--agent', agentId], env)).stdout).toContain(
      'Evaluations: 2 created, 0 updated, 0 unchanged. Personalities: 1 created, 0 updated, 0 unchanged.',
    );
    const changed = await file('changed.yml', SUITE.replace('Is greeted', 'Is welcomed'));
    const again = await vat(['import', changed, '--agent', agentId], env);
    expect(again.stdout).toMatch(/^unchanged {2}hours\nupdated {4}greeting$/m);
    expect((await client.get(`/agents/${agentId}/evaluations`)).body.meta.total).toBe(2);
  });

  it('prints every fault of a file and exits with 3', async () => {
    const { agentId, env } = await prepare();
    const suite = await file(
      'faults.yaml',
      SUITE.replace('name: Is greeted', 'name: 5').replace('type: never_says', 'type: sais'),
    );
    const { code, stdout, stderr } = await vat(['import', suite, '--agent', agentId], env);
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toContain(`vat: ${suite} was not imported: `);
    expect(stderr).toMatch(/^ {2}- evaluations\[1\]\.name .*"greeting", line \d+/m);
    expect(stderr).toMatch(/^ {2}- evaluations\[0\]\.checks\[0\]\.type .*"hours", line \d+/m);
    expect(stderr).toContain('Correct the file; nothing was imported.');
  });

  it.each([
    ['an unknown extension', 'suite.txt', 'Use a name that ends with .yaml, .yml, .json or .csv.'],
    ['a missing file', 'missing.yaml', 'Check the path of the suite.'],
  ])('exits with 3 for %s', async (_, name, expected) => {
    const env = { VAT_URL: 'http://127.0.0.1:1', VAT_API_KEY: 'vat_x' };
    const { code, stderr } = await vat(['import', path.join(folder, name), '--agent', 'x'], env);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining(expected) });
  });

  it.each(['json', 'yaml', 'csv'])('exports %s that imports unchanged', async (format) => {
    const { client, agentId, env } = await prepare(['books-a-table', 'house-facts']);
    const printed = await startVat(['export', '--agent', agentId, '--format', format], env).ended;
    expect(printed).toMatchObject({ code: 0, stderr: '' });
    const out = path.join(folder, `deep/export.${format}`);
    const saved = await vat(['export', '--agent', agentId, '--out', out], env);
    expect(saved).toEqual({ code: 0, stdout: '', stderr: `Written to ${out}\n` });
    expect(await readFile(out, 'utf8')).toBe(printed.stdout);
    const imported = await vat(['import', out, '--agent', agentId], env);
    expect(imported.stdout).toContain('Evaluations: 0 created, 0 updated, 2 unchanged.');
    expect((await client.get(`/agents/${agentId}/evaluations`)).body.meta.total).toBe(2);
  });

  it('runs evaluations selected by id and by key', async () => {
    const { agentId, env, evaluations } = await prepare(['books-a-table', 'house-facts', 'asks-for-missing-details']);
    const select = ['--evaluation', 'house-facts', '--evaluation', evaluations.get('books-a-table')!];
    const { code, stdout } = await vat(['run', '--agent', agentId, ...select, '--dry-run'], env);
    expect(code).toBe(0);
    expect(stdout).toContain('of 2 evaluations');
    const unknown = ['run', '--agent', agentId, '--evaluation', 'house-fact', '--evaluation', 'x'];
    const refused = await vat(unknown, env);
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refused.stderr).toContain('--evaluation: no evaluation has the key "house-fact"\n');
    expect(refused.stderr).toContain('--evaluation: no evaluation has the key "x"\n');
  });

  it('imports a suite and runs only its evaluations', async () => {
    const { agentId, env } = await prepare(['books-a-table']);
    const suite = await file('run.yaml', SUITE);
    const { code, stdout, stderr } = await vat(['run', '--agent', agentId, '--suite', suite], env);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringContaining('Imported evaluations: 2 created, 0 updated, 0 unchanged;'),
    });
    expect(stdout).toContain('Gate met: 2 calls, 2 passed');
    const one = await vat(['run', '--agent', agentId, '--suite', suite, '--evaluation', 'hours'], env);
    expect(one).toMatchObject({ code: 0, stdout: expect.stringContaining('Gate met: 1 call, 1 passed') });
    const tagged = await vat(['run', '--agent', agentId, '--suite', suite, '--tag', 'booking'], env);
    expect(tagged).toMatchObject({ code: 0, stdout: expect.stringContaining('Books a table, detail by detail') });
  });

  describe('before a suite is imported', () => {
    const HEARD = SUITE.replace('type: max_latency_ms, ms: 60000', 'type: max_overlap_ms, ms: 300');
    const stored = async ({ client, agentId }: Awaited<ReturnType<typeof prepare>>) =>
      (await client.get<any>(`/agents/${agentId}/evaluations`)).body.data.map(({ key }: any) => key);

    it('prints with --dry-run what the import would change and the run would do', async () => {
      const prepared = await prepare(['house-facts']);
      const { agentId, env, client } = prepared;
      const suite = await file('dry.yaml', SUITE.replace('key: hours', 'key: house-facts'));
      const run = ['run', '--agent', agentId, '--suite', suite, '--dry-run'];
      const all = await vat([...run, '--repeat', '3', '--min-score', '90'], env);
      expect(all).toMatchObject({ code: 0, stderr: '' });
      expect(all.stdout).toContain('created    personality "Guest"\nupdated    house-facts\ncreated    greeting\n');
      expect(all.stdout).toMatch(/^Asks for the opening hours +house-facts +facts +scripted +3 *$/m);
      expect(all.stdout).toContain('  The caller says "Hello".\n');
      expect(all.stdout).toContain('The run would make 6 calls of 2 evaluations, 3 of each.\n');
      expect(all.stdout).toContain('Gate: every planned call tested, a score of at least 90.\n');
      expect(all.stdout).toContain(
        '"Asks for the opening hours": has only checks for what must never happen, so an agent that does nothing useful passes.\n',
      );
      expect(all.stdout).toMatch(/Nothing was imported or started\.\n$/);
      const one = await vat([...run, '--evaluation', 'greeting'], env);
      expect(one.stdout).toContain('would make 1 call of 1 evaluation,');
      expect(await stored(prepared)).toEqual(['house-facts']);
      expect((await client.get<any>('/personalities')).body.data).not.toContainEqual(
        expect.objectContaining({ name: 'Guest' }),
      );
      expect((await client.get<any>(`/agents/${agentId}/runs`)).body.meta.total).toBe(0);
    });

    it('plans also the evaluations of the agent that --tag and --evaluation select beside the file', async () => {
      const { agentId, env, evaluations } = await prepare(['books-a-table', 'house-facts']);
      const suite = await file('beside.yaml', SUITE);
      const run = ['run', '--agent', agentId, '--suite', suite, '--dry-run'];
      const tagged = await vat([...run, '--tag', 'facts', '--repeat', '2'], env);
      expect(tagged.stdout).toMatch(/^Asks for the opening hours +hours .* 2 *$/m);
      expect(tagged.stdout).toMatch(/^Answers questions about the restaurant +house-facts .* 2 *$/m);
      expect(tagged.stdout).toContain('would make 4 calls of 2 evaluations, 2 of each.');
      const id = evaluations.get('books-a-table')!;
      const chosen = await vat([...run, '--evaluation', id, '--evaluation', 'greeting'], env);
      expect(chosen.stdout).toMatch(/^Is greeted .*\nBooks a table, detail by detail /m);
    });

    it.each(['run', 'dry run'])('imports nothing that the agent cannot be tested with: %s', async (kind) => {
      const prepared = await prepare();
      const { agentId, env, client } = prepared;
      const suite = await file('heard.yaml', HEARD);
      const run = ['run', '--agent', agentId, '--suite', suite, ...(kind === 'dry run' ? ['--dry-run'] : [])];
      const refused = await vat(run, env);
      expect(refused).toMatchObject({ code: 3, stdout: '' });
      expect(refused.stderr).toContain(`vat: ${suite} was not imported: 1 evaluation of it cannot be run\n`);
      expect(refused.stderr).toMatch(
        /^ {2}- greeting: it needs a voice call, which chat-completions does not provide/m,
      );
      expect(refused.stderr).toContain('nothing was imported.');
      expect(refused.stderr).not.toContain('protocol: ');
      const voice = await vat([...run, '--medium', 'voice', '--evaluation', 'hours'], env);
      expect(voice).toMatchObject({ code: 3, stderr: expect.stringMatching(/^ {2}- hours: medium is voice, /m) });
      expect(await stored(prepared)).toEqual([]);
      expect((await client.get<any>(`/agents/${agentId}/runs`)).body.meta.total).toBe(0);
    });

    it('names once what would provide the words that evaluations need', async () => {
      const { agentId, env, client } = await prepare();
      const twilio = { protocol: 'twilio-media-streams', url: 'ws://127.0.0.1:9/twilio' };
      await client.put(`/agents/${agentId}/connection`, twilio);
      const suite = await file('words.yaml', SUITE);
      const refused = await vat(['run', '--agent', agentId, '--suite', suite], env);
      expect(refused).toMatchObject({ code: 3, stderr: expect.stringMatching(/it needs the agent's words/) });
      expect(refused.stderr.match(/^ {2}- transcription: .*STT_BASE_URL.*$/gm)).toHaveLength(1);
      expect(refused.stderr.match(/^ {2}- protocol: .* a second agent with a text connection/gm)).toHaveLength(1);
      const dry = await vat(['import', suite, '--agent', agentId, '--dry-run'], env);
      expect(dry.stdout.match(/^Note: transcription: .*STT_BASE_URL/gm)).toHaveLength(1);
    });

    it('imports a file of which only evaluations that fit are selected', async () => {
      const prepared = await prepare();
      const suite = await file('mixed.yaml', HEARD);
      const run = ['run', '--agent', prepared.agentId, '--suite', suite];
      const { code, stdout } = await vat([...run, '--tag', 'facts'], prepared.env);
      expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('Gate met: 1 call, 1 passed') });
      expect(await stored(prepared)).toHaveLength(2);
    });

    it.each([
      [['--evaluation', 'hour'], '--evaluation: no evaluation has the key "hour"'],
      [['--tag', 'fact'], 'No evaluation has the tag fact'],
    ])('imports nothing when %j selects nothing', async (select, expected) => {
      const prepared = await prepare();
      const suite = await file('selected.yaml', SUITE);
      const refused = await vat(['run', '--agent', prepared.agentId, '--suite', suite, ...select], prepared.env);
      expect(refused).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining(expected) });
      expect(await stored(prepared)).toEqual([]);
    });

    it('says in the dry run of an import what a run would refuse', async () => {
      const { agentId, env } = await prepare();
      const suite = await file('import.yaml', HEARD);
      const { code, stdout } = await vat(['import', suite, '--agent', agentId, '--dry-run'], env);
      expect(code).toBe(0);
      expect(stdout).toMatch(/^A run would be refused: greeting: it needs a voice call, /m);
      expect(stdout).toMatch(/^Note: "Asks for the opening hours", "Is greeted": has only checks /m);
    });
  });
});
