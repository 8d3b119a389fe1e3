import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { STARTED_AT } from '../support/imported-calls.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { vat } from '../support/vat.js';

const TRANSCRIPT = [
  { speaker: 'agent', text: 'Good evening.', startMs: 500, endMs: 1_500 },
  { speaker: 'caller', text: 'A table for two at seven, please.', startMs: 2_400, endMs: 4_100 },
  { speaker: 'agent', text: 'Your table is booked.', startMs: 5_150, endMs: 7_300 },
];
const BOOKED = { name: 'book_table', arguments: { guests: 2 }, startMs: 4_500 };

describe('vat import-call with a folder', () => {
  const dataDir = path.join(tmpdir(), `vat-folder-${randomUUID()}`);
  let app: TestApp;
  let subject: Awaited<ReturnType<typeof prepareEvaluations>>;

  beforeAll(async () => {
    app = await createTestApp({ env: { ...callEnv('http://127.0.0.1:9/v1'), DATA_DIR: dataDir, RECORDINGS: 'off' } });
    const checks = [{ type: 'calls_tool', tool: 'book_table', arguments: { guests: 2 } }];
    const texts = { key: 'books', name: 'books', scenarioText: 'You want a table for two at seven.' };
    subject = await prepareEvaluations(app, [{ ...texts, script: [{ say: 'A table, please.' }], checks }]);
  }, 120_000);
  afterAll(async () => {
    await app?.close();
    await rm(dataDir, { recursive: true, force: true });
  });

  it('imports the calls of a folder by the vat command, each in a run named after it', async () => {
    const folder = path.join(dataDir, 'calls');
    await mkdir(folder, { recursive: true });
    const call = { startedAt: STARTED_AT, origin: 'production', transcript: 'said.json' };
    const failing = { ...call, externalId: 'folder-2', toolCalls: [], evaluation: subject.evaluationIds[0] };
    const calls = [{ ...call, externalId: 'folder-1', toolCalls: [BOOKED] }, failing];
    await writeFile(path.join(folder, 'said.json'), JSON.stringify(TRANSCRIPT));
    await writeFile(path.join(folder, 'manifest.json'), JSON.stringify(calls));
    const env = { VAT_URL: app.url, VAT_API_KEY: subject.apiKey };
    const command = ['import-call', folder, '--agent', subject.agentId, '--evaluation', 'books'];
    const first = await vat(command, env);
    expect(first).toMatchObject({ code: 1, stderr: '2 calls imported\n' });
    expect(first.stdout).toMatch(/^folder-1: passed \(run .*\nfolder-2: failed \(run /);
    // Each is imported once.
    expect(await vat(command, env)).toMatchObject({ code: 1, stdout: first.stdout });
    expect(await vat([...command, '--junit', 'x.xml'], env)).toMatchObject({
      ...{ code: 3, stderr: expect.stringContaining('--junit is for one call') },
    });
    await writeFile(path.join(folder, 'manifest.json'), JSON.stringify([{ ...call, transkript: [] }]));
    expect(await vat(command, env)).toMatchObject({
      ...{ code: 3, stderr: expect.stringContaining('Call 1 has the unknown field transkript') },
    });
    // Exports write null for what they do not have, and some editors begin a file with a mark.
    const bare = {
      ...call,
      externalId: 'folder-3',
      toolCalls: null,
      endedReason: null,
      recording: null,
      evaluation: null,
    };
    const early = [{ ...TRANSCRIPT[0]!, startMs: -1_000 }, ...TRANSCRIPT.slice(1)];
    const mixed = [
      { ...call, externalId: 'early', transcript: early },
      { ...call, externalId: 'lost', transcript: 'lost.json' },
      { ...call, externalId: 'loud', recording: 7 },
      { ...call, externalId: 'folder-1', toolCalls: [] },
      bare,
    ];
    await writeFile(path.join(folder, 'manifest.json'), `\uFEFF${JSON.stringify(mixed)}`);
    const rest = await vat(command, env);
    expect(rest.stdout).toMatch(/^folder-3: invalid \(run [^\n]*\n$/);
    expect([rest.code, rest.stderr.split('\n')]).toEqual([
      3,
      [
        expect.stringMatching(/^early: not imported\. .*transcript\[0\]\.startMs must be a number/),
        expect.stringMatching(/^lost: not imported\. .*lost\.json cannot be read/),
        'loud: not imported. "recording" of call 3 is not a text',
        expect.stringMatching(/^folder-1: not imported\. .*409.*another content/),
        '1 call imported, 4 refused',
        '',
      ],
    ]);
    await writeFile(path.join(folder, 'manifest.json'), '{');
    expect(await vat(command, env)).toMatchObject({ code: 3, stderr: expect.stringContaining('not valid JSON') });
  }, 60_000);
});
