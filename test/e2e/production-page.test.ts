import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { executeInProcess } from '../../libs/client/testing/in-process.js';
import { createKey } from '../support/keys.js';
import { HttpClient } from '../support/http.js';
import { bad, BOOKS, good, productionCall, question, takeCall } from '../support/production-calls.js';
import { callEnv, prepareEvaluations } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const DAY = new Date().toISOString().slice(0, 10);
const NUMBER = '415-555-0142';

describe("the production calls on an agent's page", () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await createTestApp({ env: { ...callEnv('http://127.0.0.1:9/v1'), RECORDINGS: 'off' } });
  }, 120_000);
  afterAll(() => app?.close());

  const partOf = (page: string): string =>
    /<section aria-labelledby="production">.*?<\/section>/s.exec(page)?.[0] ?? '';
  const wordsOf = (html: string): string => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

  async function prepare() {
    const subject = await prepareEvaluations(app, [BOOKS]);
    const { agentId, workspaceId, client } = subject;
    const page = async (reader: HttpClient = client) => {
      const { status, body } = await reader.get<string>(`/agents/${agentId}/page`);
      expect(status).toBe(200);
      return body;
    };
    return {
      ...subject,
      page,
      words: async () => wordsOf(partOf(await page())),
      take: (call: Parameters<typeof takeCall>[2]) => takeCall(app, { id: agentId, workspaceId }, call),
      runId: async (): Promise<string> =>
        (await client.get(`/agents/${agentId}/runs?origin=production`)).body.data[0].id,
    };
  }

  it('are absent until there is one, and then count at once, beside the runs of tests', async () => {
    const { take, page, words } = await prepare();
    expect(await page()).not.toContain('Production');
    await take(good('a'));
    await take(bad('b'));
    await take(question('c'));
    expect(await words()).toContain(`Judgements 2 (50 % passed) Failed 1 Days 1, ${DAY} (UTC)`);
    expect(await words()).toMatch(/Books the table 2 1 50 % 1 of 2 \d+ % to \d+ % 0 1 0 /);
    const body = await page();
    expect(body).toContain('<a href="#production">1 of 2 judgements failed</a>');
    expect(body).toContain('No ended run');
    expect(body).not.toContain('Cases in the newest');
  });

  it('are shown to an EDITOR with the sentence that failed, redacted, and to a VIEWER and a link as figures', async () => {
    const { take, page, client, agentId, runId, ...owner } = await prepare();
    await take(productionCall('a', ['Good evening.', 'A table, please.', `Call ${NUMBER} for that.`]));
    const [call] = (await client.get(`/agents/${agentId}/calls?origin=production`)).body.data;
    const part = partOf(await page());
    expect(wordsOf(part)).toContain(`call ${call.id} ( a on its platform): report.html#e1-r1 of run ${await runId()}`);
    expect(part).not.toContain('/report');
    const env = { VAT_URL: app.url, VAT_API_KEY: owner.apiKey };
    const folder = await mkdtemp(path.join(tmpdir(), 'report-'));
    const out = path.join(folder, 'report.html');
    expect(await executeInProcess(['report', await runId(), '--out', out], env)).toMatchObject({ code: 0 });
    const report = await readFile(out, 'utf8');
    await rm(folder, { recursive: true });
    expect(wordsOf(/id="e1-r1".*$/s.exec(report)?.[0] ?? '')).toMatch(
      new RegExp(`Call ${call.id} , where it was recorded a `),
    );
    expect(wordsOf(report)).not.toContain('10000');
    expect(wordsOf(report)).toContain(' Call 1 ');
    expect(wordsOf(part)).toMatch(
      /Failed calls .* Not met: .*Agent says no personal data \(The agent said a phone number/,
    );
    expect(part).not.toContain('555');

    const viewer = new HttpClient(app.url, (await createKey(app, owner, 'VIEWER')).value);
    const { url } = (await client.post<any>(`/agents/${agentId}/page-links`, { expiresInHours: 1 })).body.data;
    const link = new URL(url, app.url).pathname;
    const anonymous = new HttpClient(app.url);
    for (const body of [await page(viewer), (await anonymous.get<string>(link)).body]) {
      expect(wordsOf(partOf(body))).toContain('Judgements 1 (0 % passed) Failed 1');
      expect(partOf(body)).toContain('shown to EDITOR and ADMIN keys');
      for (const secret of ['Not met', 'a phone number', call.id, await runId()]) expect(body).not.toContain(secret);
    }
    await sql(app.databaseUrl, `UPDATE runs SET status = 'COMPLETED', ended_at = now() WHERE id = $1`, [await runId()]);
    expect((await anonymous.get(`${link}/runs/${await runId()}`)).status).toBe(404);
    expect((await anonymous.get(`${link}/calls/${call.id}/recording`)).status).toBe(404);
  });

  it('count the same after their day, with calls that came later and without deleted ones', async () => {
    const { take, words, client, agentId, runId } = await prepare();
    await take(good('a'));
    await take(bad('b'));
    await sql(app.databaseUrl, 'UPDATE runs SET open_until = now() WHERE id = $1', [await runId()]);
    await until('the run has ended', async () => {
      return (await client.get(`/runs/${await runId()}`)).body.data.status === 'COMPLETED';
    });
    expect(await words()).toContain('Judgements 2 (50 % passed) Failed 1');
    await take(bad('c'));
    expect(await words()).toMatch(/Judgements 3 \(33 % passed\) Failed 2 .* Failed calls .* Not met.* Not met/);
    await client.delete(`/agents/${agentId}/calls?externalId=b`);
    await client.delete(`/agents/${agentId}/calls?externalId=c`);
    expect(await words()).toContain('Judgements 1 (100 % passed) Failed 0');
    expect(await words()).not.toContain('Not met');
  });

  it('are those of the period, and the newest 50 failed ones', async () => {
    const { take, words } = await prepare();
    const ago = (days: number) => ({
      startedAt: Date.now() - days * 86_400_000 - 60_000,
      endedAt: Date.now() - days * 86_400_000,
    });
    for (let n = 0; n < 51; n++) await take(bad(`bad-${n}`, ago(n === 0 ? 5 : 2)));
    await take(bad('old', ago(31)));
    const found = await words();
    expect(found).toContain('Failed 51 Days 2');
    expect(found).toContain('The newest 50 failed calls');
    expect(found.match(/Not met/g)).toHaveLength(50);
    const day = (days: number) => new Date(ago(days).endedAt).toISOString().slice(0, 10);
    expect(found).toContain(`${day(5)} to ${day(2)} (UTC)`);
  });
});
