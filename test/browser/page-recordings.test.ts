import type { Browser, Page } from 'playwright-core';
import { agentBody, personalityBody } from '../factories/bodies.js';
import { browserUnavailableReason, openBrowser } from '../support/browser.js';
import { expectNotFound } from '../support/expect.js';
import { HttpClient } from '../support/http.js';
import { executeRun } from '../support/run-app.js';
import { sql } from '../support/sql.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { startVoiceAgent, type VoiceAgentServer } from '../support/voice-agent.js';

const QUESTION = 'Until when are you open?';
const evaluation = (by: 'caller' | 'agent') => ({
  name: `Is ended by the ${by}`,
  scenarioText: 'You want to know until when the restaurant is open.',
  script: [{ say: QUESTION }, { end: 'Answered' }],
  checks: [{ name: 'Ends', type: 'ends_by', by }],
});

const missing = browserUnavailableReason();
if (missing !== undefined) console.warn(`Skipped: recordings of a page link, because ${missing}`);

(missing === undefined ? describe : describe.skip)('recordings of a page link', () => {
  let agent: VoiceAgentServer;
  let app: TestApp;
  let browser: Browser;
  let client: HttpClient;
  let anonymous: HttpClient;
  let agentId: string;
  let runId: string;
  /** A call of each outcome, in the order of the plan. */
  let calls: { readonly id: string; readonly outcome: string }[];

  beforeAll(async () => {
    agent = await startVoiceAgent({ lines: [QUESTION] });
    // Links in a report to the service, which a reader without a key must not need.
    app = await createTestApp({
      env: { OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8', PUBLIC_URL: 'https://tests.example.com' },
    });
    const { apiKey } = await app.createWorkspace();
    client = new HttpClient(app.url, apiKey);
    anonymous = new HttpClient(app.url);
    agentId = (await client.post('/agents', agentBody())).body.data.id;
    const personalityId = (await client.post('/personalities', personalityBody())).body.data.id as string;
    const connection = { protocol: 'twilio-media-streams', url: `${agent.url}/voice` };
    expect((await client.put(`/agents/${agentId}/connection`, connection)).status).toBe(200);
    for (const by of ['caller', 'agent'] as const)
      await client.post(`/agents/${agentId}/evaluations`, { ...evaluation(by), personalityId });
    runId = (await executeRun(client, agentId)).id;
    calls = (await client.get(`/runs/${runId}/calls`)).body.data;
    expect(calls.map(({ outcome }) => outcome)).toEqual(['passed', 'failed']);
    browser = await openBrowser();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await app?.close();
    await agent?.close();
  });

  const link = async (includeRecordings: boolean, of = agentId) => {
    const body = { expiresInHours: 1, includeRecordings };
    const { id, url } = (await client.post(`/agents/${of}/page-links`, body)).body.data;
    return { id: id as string, path: new URL(url).pathname };
  };
  const recordingOf = (path: string, n: number) => `${path}/calls/${calls[n]!.id}/recording`;

  /** Plays the only media of the page without a sound. @returns the position after a while, in seconds */
  const play = (page: Page, selector: string): Promise<number> =>
    page.locator(selector).evaluate(async (media: any) => {
      media.muted = true;
      await media.play();
      while (media.currentTime < 0.3) await new Promise((resolve) => setTimeout(resolve, 20));
      return media.currentTime as number;
    });

  it('are played in the report, or from their address where the report does not contain them', async () => {
    const { path } = await link(true);
    const page = await browser.newPage();
    const statuses: number[] = [];
    page.on('response', (response) => {
      if (response.url().endsWith('/recording')) statuses.push(response.status());
    });
    await page.goto(app.url + path);
    await page.getByRole('link', { name: /^newest failed call/ }).click();
    await page.locator('#e2-r1').waitFor({ state: 'visible' });
    expect(await play(page, '#e2-r1 audio')).toBeGreaterThanOrEqual(0.3);

    await page.goto(`${app.url}${path}/runs/${runId}#e1-r1`);
    await page.locator('#e1-r1').getByRole('link', { name: 'Listen to the recording' }).click();
    await page.waitForURL(/\/recording$/);
    expect(await play(page, 'video, audio')).toBeGreaterThanOrEqual(0.3);
    expect(statuses.filter((status) => status !== 200 && status !== 206)).toEqual([]);
    await page.close();
  });

  it('are sent in parts, and stored nowhere', async () => {
    const { path } = await link(true);
    const whole = await fetch(app.url + recordingOf(path, 1));
    const audio = Buffer.from(await whole.arrayBuffer());
    expect([whole.status, audio.toString('latin1', 0, 4)]).toEqual([200, 'RIFF']);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      ...{ 'content-type': 'audio/wav', 'accept-ranges': 'bytes', 'cache-control': 'no-store' },
      ...{ 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex' },
    });
    const part = await fetch(app.url + recordingOf(path, 1), { headers: { Range: 'bytes=100-199' } });
    expect([part.status, part.headers.get('content-range'), part.headers.get('cache-control')]).toEqual([
      ...[206, `bytes 100-199/${audio.length}`, 'no-store'],
    ]);
    expect(Buffer.from(await part.arrayBuffer()).equals(audio.subarray(100, 200))).toBe(true);
    const beyond = await anonymous.get(recordingOf(path, 1), { Range: `bytes=${audio.length}-` });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${audio.length}`]);
  });

  it.each([true, false])('need no key (includeRecordings %s)', async (includeRecordings) => {
    const { path } = await link(includeRecordings);
    const report = (await anonymous.get<string>(`${path}/runs/${runId}`)).body;
    const hrefs = [...report.matchAll(/href="([^"#]+)"/g)].map(([, href]) => href!);
    const recordings = hrefs.filter((href) => href.includes('recording'));
    expect(recordings).toHaveLength(includeRecordings ? 1 : 0);
    expect(report.split('<audio').length - 1).toBe(includeRecordings ? 1 : 0);
    expect(report.split('The recording is not part of this page.').length - 1).toBe(includeRecordings ? 0 : 2);
    for (const href of hrefs) {
      const { pathname, origin } = new URL(href, `${app.url}${path}/runs/${runId}`);
      const known = [app.url, 'https://tests.example.com'];
      expect([href, known.includes(origin), (await anonymous.get(pathname)).status]).toEqual([href, true, 200]);
    }
  });

  it('are not found by a link without recordings, of another agent, revoked or expired, and in an old run', async () => {
    const without = await link(false);
    expectNotFound(await anonymous.get(recordingOf(without.path, 1)));
    const other = (await client.post('/agents', agentBody())).body.data.id as string;
    expectNotFound(await anonymous.get(recordingOf((await link(true, other)).path, 1)));
    const { path, id } = await link(true);
    for (const call of ['x', runId]) expectNotFound(await anonymous.get(`${path}/calls/${call}/recording`));

    const age = (days: number) =>
      sql(app.databaseUrl, `UPDATE runs SET ended_at = now() - $2 * interval '24 hours' WHERE id = $1`, [runId, days]);
    await age(92);
    expectNotFound(await anonymous.get(recordingOf(path, 1)));
    await age(0);
    expect((await anonymous.get(recordingOf(path, 1))).status).toBe(200);

    await client.delete(`/agents/${agentId}/page-links/${id}`);
    expectNotFound(await anonymous.get(recordingOf(path, 1)));
    const expired = await link(true);
    await sql(app.databaseUrl, 'UPDATE report_links SET expires_at = now() WHERE id = $1', [expired.id]);
    expectNotFound(await anonymous.get(recordingOf(expired.path, 1)));
    const last = await link(true);
    await client.delete(`/agents/${agentId}`);
    expectNotFound(await anonymous.get(recordingOf(last.path, 1)));
  });
});
