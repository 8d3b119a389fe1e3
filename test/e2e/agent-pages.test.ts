import { randomUUID } from 'node:crypto';
import { REPORT_CSP } from '../../libs/run-report/index.js';
import { Database } from '../../src/platform/database/database.js';
import {
  type AgentRequest,
  type ScriptedAgent,
  startScriptedAgent,
} from '../simulators/agent/testing/scripted-agent.js';
import { insertCaseResult, insertSchedule } from '../factories/rows.js';
import { expectError, expectInvalid, expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { LogLines } from '../support/log-lines.js';
import { callEnv, executeRun, prepareEvaluations, shortEvaluation } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';

const DAY_MS = 24 * 60 * 60 * 1_000;
const answer = ({ said }: AgentRequest) => (said.includes('Fail') ? 'Good day.' : 'Welcome!');
const saying = (name: string, say: string) => shortEvaluation({ name, script: [{ say }, { end: 'Done' }] });

describe('the page of an agent', () => {
  let app: TestApp;
  let agent: ScriptedAgent;
  let anonymous: HttpClient;
  const log = new LogLines();

  beforeAll(async () => {
    agent = await startScriptedAgent(answer);
    app = await createTestApp({ env: { ...callEnv(agent.url), PUBLIC_URL: 'https://tests.example.com/voice' }, log });
    anonymous = new HttpClient(app.url);
  });
  afterAll(async () => {
    await app.close();
    await agent.close();
  });

  const wordsOf = (page: string): string =>
    page
      .replace(/<style>.*?<\/style>/s, '')
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ');
  const hrefs = (page: string): string[] => [...page.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!);
  const link = async (client: HttpClient, agentId: string, body: object = {}) => {
    const { status, body: answered } = await client.post<any>(`/agents/${agentId}/page-links`, {
      expiresInHours: 1,
      ...body,
    });
    expect([status, answered.message]).toEqual([201, 'Page link created successfully']);
    const { url, ...rest } = answered.data;
    return { ...rest, url, path: new URL(url).pathname.replace('/voice', '') };
  };

  it('says since which run which case is red, and every link of its reader answers 200 without a key', async () => {
    const { client, agentId, evaluationIds } = await prepareEvaluations(app, [
      saying('Books a table', 'Hello'),
      saying('Cancels', 'Hello'),
    ]);
    const green = await executeRun(client, agentId, { agentVersion: 'v1' });
    await client.patch(`/evaluations/${evaluationIds[1]}`, { script: [{ say: 'Fail' }, { end: 'Done' }] });
    const red = await executeRun(client, agentId, { repeat: 2, agentVersion: 'v2' });
    const newest = await executeRun(client, agentId, { agentVersion: 'v2' });
    const { path, url } = await link(client, agentId);
    expect(url).toMatch(/^https:\/\/tests\.example\.com\/voice\/pages\/[\w-]{43}$/);

    const { status, headers, body } = await anonymous.get<string>(path);
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': REPORT_CSP,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
    });
    const words = wordsOf(body);
    expect(words).toContain('1 case not green Cancels Red since the run of ');
    expect(words).toContain('V ');
    expect(words).toMatch(/agent version changed from v1 to v2/);

    const token = path.split('/').at(-1)!;
    const since = `${token}/runs/${red.id}#e2-r1`;
    expect(hrefs(body)).toEqual(
      expect.arrayContaining([since, `${token}/runs/${newest.id}#e2-r1`, `${token}/runs/${green.id}#e1-r1`]),
    );
    for (const address of [path, `${path}?days=7`]) {
      const { status, body: opened } = await anonymous.get<string>(address);
      expect([address, status]).toEqual([address, 200]);
      expect(hrefs(opened)).toHaveLength(hrefs(body).length);
      for (const href of new Set(hrefs(opened))) {
        const target = new URL(href, `${app.url}${address}`);
        const read = await anonymous.get<string>(target.pathname + target.search);
        expect([address, href, read.status]).toEqual([address, href, 200]);
        if (target.hash !== '') expect(read.body).toContain(`id="${target.hash.slice(1)}"`);
      }
    }
    const report = (await anonymous.get<string>(`/pages/${since.split('#')[0]}`)).body;
    expect(report).toContain('id="e2-r1"');
  });

  it.each(['', '?days=7', '?days=31', '/runs/x'])(
    'leads from a link with a slash at its end to the link without it, behind any path of a proxy: %s',
    async (rest) => {
      const { client, agentId } = await prepareEvaluations(app, []);
      const { path } = await link(client, agentId);
      const [route, query] = rest.split('?');
      const answer = await anonymous.get(`${path}${route}/${query === undefined ? '' : `?${query}`}`);
      expect([answer.status, answer.headers.get('cache-control'), answer.headers.get('referrer-policy')]).toEqual([
        ...[308, 'no-store', 'no-referrer'],
      ]);
      const proxied = new URL(answer.headers.get('location')!, `https://example.com/voice${path}${route}/`);
      expect(proxied.href).toBe(`https://example.com/voice${path}${rest}`);
    },
  );

  it('is read with a key, too, where its links lead to the reports of the service', async () => {
    const { client, agentId } = await prepareEvaluations(app, [saying('Books a table', 'Hello')]);
    const empty = await client.get<string>(`/agents/${agentId}/page`);
    expect(empty.body).toContain('No ended run');
    const run = await executeRun(client, agentId);
    const { body } = await client.get<string>(`/agents/${agentId}/page?days=7`);
    expect(body).toContain('Green');
    expect(hrefs(body)).toContain(`https://tests.example.com/voice/runs/${run.id}/report`);
    expect(hrefs(body).filter((href) => href.startsWith('?'))).toEqual([]);
    expectInvalid(await client.get(`/agents/${agentId}/page?days=31`), 'days');
    expectNotFound(await client.get(`/agents/${randomUUID()}/page`));
  });

  describe('of an agent with results of schedules', () => {
    type Values = Parameters<typeof insertCaseResult>[3];
    const daysAgo = (days: number) => new Date(Date.now() - days * DAY_MS);
    const day = (days: number) => daysAgo(days).toISOString().slice(0, 10);

    async function prepare() {
      const { client, agentId, ...owner } = await prepareEvaluations(app, []);
      const { manager } = app.nest.get(Database);
      const nightly = await insertSchedule(manager, owner, agentId, { name: 'Nightly', enabled: true });
      const result = (values: Values) => insertCaseResult(manager, owner, agentId, values);
      const read = async () => {
        const { status, body } = await client.get<string>(`/agents/${agentId}/page`);
        expect(status).toBe(200);
        return { words: wordsOf(body), body };
      };
      return { client, agentId, owner, manager, nightly, result, read };
    }

    it('has no link to a run that was deleted, and no case that its schedule no longer has', async () => {
      const { nightly, result, read } = await prepare();
      const [before, newest] = [2, 1].map((days) => ({
        ...{ scheduleId: nightly.id, runId: randomUUID(), endedAt: daysAgo(days) },
      }));
      await result({ ...before, name: 'Removed', caseKey: 'removed', passed: 0, failed: 1 });
      await result({ ...before, name: 'Kept', caseKey: 'kept' });
      await result({ ...newest, name: 'Kept', caseKey: 'kept' });
      const { body, words } = await read();
      expect(body).not.toContain('Removed');
      expect(body).toContain('Kept');
      expect(hrefs(body)).toEqual([]);
      // Whether the run met its gate is not known any more.
      expect(words).toMatch(
        new RegExp(
          `Not tested lately No case is red in the newest run of Nightly , the run of ${day(1)} .{9} \\(deleted\\)`,
        ),
      );
    });

    it('says since when a case is red whose runs were deleted', async () => {
      const { nightly, result, read } = await prepare();
      for (const days of [3, 2, 1])
        await result({
          ...{ scheduleId: nightly.id, caseKey: 'kept', name: 'Kept', endedAt: daysAgo(days) },
          ...(days < 3 && { passed: 0, failed: 1 }),
        });
      expect((await read()).words).toContain(`Not green 1 case not green, since the run of ${day(2)}`);
    });

    it('is red by a schedule of which more than 120 runs of another one are newer', async () => {
      const { owner, agentId, manager, nightly, result, read } = await prepare();
      await result({ scheduleId: nightly.id, name: 'Books', endedAt: daysAgo(6), passed: 0, failed: 1 });
      const smoke = await insertSchedule(manager, owner, agentId, { name: 'Smoke', enabled: true });
      for (let n = 0; n < 125; n++)
        await result({ scheduleId: smoke.id, name: 'Greets', caseKey: 'greets', endedAt: daysAgo(n / 25) });
      const { words } = await read();
      expect(words).toMatch(new RegExp(`1 case not green Books Nightly Red .*${day(6)}`));
      expect(words).toContain('Nightly : Cases in the newest run');
      expect(words).toContain('Smoke : Cases in the newest 30 runs');
    });

    it('does not change its verdict by runs that no schedule started, until no schedule is enabled', async () => {
      const { nightly, result, read, client } = await prepare();
      await result({ scheduleId: nightly.id, name: 'Books', caseKey: 'books', endedAt: daysAgo(2) });
      await result({ name: 'Books', caseKey: 'books', endedAt: daysAgo(1), passed: 0, failed: 1 });
      const { words } = await read();
      expect(words).not.toContain('Not green');
      expect(words).toContain('The newest run of the schedule decides: Nightly . Other runs do not.');
      expect(words).toContain('Other runs : Cases in the newest run');
      expect((await client.patch(`/schedules/${nightly.id}`, { enabled: false })).status).toBe(200);
      const paused = (await read()).words;
      expect(paused).toContain(`Not green 1 case not green, since the run of ${day(1)}`);
      expect(paused).toContain('The newest result of each case decides');
    });
  });

  it('links end: expired, revoked, of a deleted agent, of a run of another agent or of an old run', async () => {
    const first = await prepareEvaluations(app);
    const run = await executeRun(first.client, first.agentId);
    const second = await prepareEvaluations(app);
    const other = await executeRun(second.client, second.agentId);
    const { path, id } = await link(first.client, first.agentId);
    const opened = () => Promise.all([anonymous.get(path), anonymous.get(`${path}/runs/${run.id}`)]);
    expect((await opened()).map(({ status }) => status)).toEqual([200, 200]);
    for (const runId of [other.id, randomUUID(), 'x']) expectNotFound(await anonymous.get(`${path}/runs/${runId}`));
    const age = (days: number) =>
      sql(app.databaseUrl, `UPDATE runs SET ended_at = now() - $2 * interval '24 hours' WHERE id = $1`, [run.id, days]);
    await age(92);
    expectNotFound((await opened())[1]);
    await age(90);
    expect((await opened())[1].status).toBe(200);

    // The token of a report opens no page, and the other way round.
    const report = (await first.client.post<any>(`/runs/${run.id}/report-links`, { expiresInHours: 1 })).body.data.url;
    expectNotFound(await anonymous.get(`/pages/${report.split('/').at(-1)}`));
    expectNotFound(await anonymous.get(path.replace('pages', 'reports')));

    const listed = (await first.client.get<any>(`/agents/${first.agentId}/page-links`)).body;
    expect([listed.meta.total, listed.data[0].id]).toEqual([1, id]);
    expect(JSON.stringify(listed)).not.toContain('/pages/');
    expect((await first.client.delete(`/agents/${first.agentId}/page-links/${id}`)).status).toBe(200);
    for (const response of await opened()) expectNotFound(response);

    const expired = await link(first.client, first.agentId);
    await sql(app.databaseUrl, 'UPDATE report_links SET expires_at = now() WHERE id = $1', [expired.id]);
    expectNotFound(await anonymous.get(expired.path));
    const last = await link(first.client, first.agentId);
    await first.client.delete(`/agents/${first.agentId}`);
    for (const suffix of ['', `/runs/${run.id}`]) expectNotFound(await anonymous.get(last.path + suffix));
    for (const { path: token } of [{ path }, expired, last]) expect(log.text).not.toContain(token.split('/').at(-1));
  });

  it('has at most 20 live links', async () => {
    const { client, agentId } = await prepareEvaluations(app, []);
    for (let n = 0; n < 20; n++) await link(client, agentId);
    const refused = await client.post(`/agents/${agentId}/page-links`, { expiresInHours: 1 });
    expectError(refused, 409, 'CONFLICT', 'An agent can have at most 20 page links that have not expired');
  });

  it('takes at most 12 statements, none of which reads calls or their results', async () => {
    const { client, agentId } = await prepareEvaluations(app);
    await executeRun(client, agentId);
    const { path } = await link(client, agentId);
    const database = app.nest.get(Database);
    const query = jest.spyOn(database, 'query');
    const find = jest.spyOn(database.manager, 'findOne');
    expect((await anonymous.get(path)).status).toBe(200);
    const texts = query.mock.calls.map(([text]) => text);
    expect(texts.length + find.mock.calls.length).toBeLessThanOrEqual(12);
    expect(texts.length).toBeGreaterThanOrEqual(5);
    expect(texts.filter((text) => /\bcalls\b|call_results|call_attempts/.test(text))).toEqual([]);
    jest.restoreAllMocks();
  });
});
