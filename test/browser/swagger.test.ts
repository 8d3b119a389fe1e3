import type { Browser, Page } from 'playwright-core';
import { EXAMPLE_ID } from '../../src/platform/http/dto/example-ids.js';
import { type PageProblems, openBrowser, watchPage, browserUnavailableReason } from '../support/browser.js';
import { committedDocument, operations } from '../support/conformance.js';
import { HttpClient } from '../support/http.js';
import { createTestApp, type TestApp } from '../support/test-app.js';
import { until } from '../support/until.js';

const missing = browserUnavailableReason();
if (missing !== undefined) console.warn(`Skipped: the Swagger page in a browser, because ${missing}`);

(missing === undefined ? describe : describe.skip)('the Swagger page in Chromium', () => {
  let app: TestApp;
  let browser: Browser;
  let page: Page;
  let problems: PageProblems;
  let apiKey: string;

  beforeAll(async () => {
    app = await createTestApp();
    ({ apiKey } = await app.createWorkspace());
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 1200, height: 1600 } });
    // Rendering all operations takes seconds, and many on a machine that runs other tests.
    page.setDefaultTimeout(60_000);
    problems = watchPage(page, app.url);
  });
  afterAll(async () => {
    await browser?.close();
    await app.close();
  });

  /** Shows only operations that match: rendering all of them at each change takes half a second. */
  const filter = (words: string) => page.locator('.operation-filter-input').fill(words);

  /** Opens an operation, executes it unmodified, and returns the status and body of the live response. */
  async function execute(
    operationId: string,
    tag: string,
    words = operations.find(({ operation }) => operation.operationId === operationId)!.name,
  ): Promise<{ status: string; body: any }> {
    await filter(words);
    const block = page.locator(`#operations-${tag}-${operationId}`);
    await block.locator('.opblock-summary-control').click();
    await block.getByRole('button', { name: 'Execute' }).click();
    const live = block.locator('.live-responses-table');
    const status = await live.locator('.response .response-col_status').first().innerText();
    const body = await live.locator('.response .highlight-code code, .response .microlight').first().innerText();
    await screenshot(operationId);
    return { status: status.trim().split(/\s/)[0] ?? '', body: JSON.parse(body) };
  }

  const agentsOf = async (key: string): Promise<{ data: { id: string }[] }> =>
    (await new HttpClient(app.url, key).get('/agents')).body;

  /** Saves a screenshot in the folder SCREENSHOTS, if it is set. */
  async function screenshot(name: string): Promise<void> {
    const folder = process.env['SCREENSHOTS'];
    if (folder) await page.screenshot({ path: `${folder}/${name}.png` });
  }

  it('shows every operation', async () => {
    await page.goto(`${app.url}/docs/`);
    await page.getByRole('heading', { name: /Voice Agent Testing Service/ }).waitFor();
    await page.locator('#operations-Agents-createAgent').waitFor();
    expect(new URL(page.url()).pathname).toBe('/docs');
    // Webhook events are shown like operations.
    const events = Object.keys(committedDocument.webhooks ?? {});
    expect(await page.locator('.opblock').count()).toBe(operations.length + events.length);
    await screenshot('page');
  });

  it('shows 401 before a key is entered', async () => {
    expect(await execute('listPersonalities', 'Personalities')).toEqual({
      status: '401',
      body: { code: 'UNAUTHORIZED', message: 'Authorization not provided' },
    });
    // The browser logs every response of 400 or above; this one is expected.
    expect(problems.failedRequests.splice(0)).toEqual([`401 ${app.url}/personalities?page=1&limit=25`]);
    expect(problems.consoleErrors.splice(0)).toEqual([expect.stringContaining('401 (Unauthorized)')]);
  });

  it('accepts a key through Authorize', async () => {
    await page.getByRole('button', { name: 'Authorize' }).first().click();
    const dialog = page.locator('.dialog-ux');
    await dialog.locator('input').fill(apiKey);
    await dialog.getByRole('button', { name: 'Apply credentials' }).click();
    await dialog.getByRole('button', { name: 'Remove authorization' }).waitFor();
    expect(await dialog.innerText()).not.toContain(apiKey);
    await screenshot('authorized');
    await dialog.locator('.btn-done').click();
    await dialog.waitFor({ state: 'detached' });
  });

  it('registers an agent from the unmodified example', async () => {
    const { status, body } = await execute('createAgent', 'Agents');
    expect(status).toBe('201');
    expect(body).toMatchObject({ message: 'Agent created successfully', data: { assistantId: 'assistant-1' } });
  });

  it('lists the agent', async () => {
    const { status, body } = await execute('listAgents', 'Agents');
    expect(status).toBe('200');
    expect(body).toMatchObject({ meta: { total: 1, page: 1, limit: 25 }, data: [{ assistantId: 'assistant-1' }] });
  });

  it('creates a personality from the unmodified example', async () => {
    const { status, body } = await execute('createPersonality', 'Personalities');
    expect(status).toBe('201');
    expect(body.data.name).toBe('Impatient regular');
  });

  it('replaces ids of examples by those of the newest resources', async () => {
    const { status, body } = await execute('getAgent', 'Agents');
    expect(status).toBe('200');
    expect(body.data.assistantId).toBe('assistant-1');
  });

  it('shows the id that it will send, and deletes that one, not a newer one', async () => {
    await filter('/agents');
    const block = page.locator('#operations-Agents-deleteAgent');
    const field = block.locator('tr[data-param-name="id"] input');
    await block.locator('.opblock-summary-control').click();
    const shown = await field.inputValue();
    const { data: agents } = await agentsOf(apiKey);
    expect(agents.map(({ id }) => id)).toEqual([shown]);

    // A newer agent does not change what a field shows already.
    await page.locator('#operations-Agents-createAgent').getByRole('button', { name: 'Execute' }).click();
    await until('another agent', async () => (await agentsOf(apiKey)).data.length === 2);
    expect(await field.inputValue()).toBe(shown);
    const request = page.waitForRequest((sent) => sent.method() === 'DELETE');
    await block.getByRole('button', { name: 'Execute' }).click();
    expect(new URL((await request).url()).pathname).toBe(`/agents/${shown}`);
    await until('the agent is deleted', async () => (await agentsOf(apiKey)).data.length === 1);
    expect((await agentsOf(apiKey)).data.map(({ id }) => id)).not.toContain(shown);
  });

  it('fills a field that is shown already as soon as it knows an id', async () => {
    await filter('api-keys');
    const block = page.locator('#operations-Workspace_settings-revokeApiKey');
    const field = block.locator('tr[data-param-name="id"] input');
    await block.locator('.opblock-summary-control').click();
    expect(await field.inputValue()).toBe(EXAMPLE_ID.apiKey);
    const { status, body } = await execute('listApiKeys', 'Workspace_settings', 'api-keys');
    expect({ status, body }).toMatchObject({ status: '200' });
    await until('the field is filled', async () => (await field.inputValue()) === body.data[0].id);
  });

  it('shows a schema that contains itself', async () => {
    await filter('post /agents/{agentId}/evaluations');
    const block = page.locator('#operations-Evaluations-createEvaluation');
    await block.locator('.opblock-summary-control').click();
    await block.getByRole('tab', { name: 'Schema' }).first().click();
    await block.getByText('checks', { exact: true }).first().waitFor();
    expect(await page.locator('.errors-wrapper').count()).toBe(0);
  });

  it('filters operations by words of method, path and summary', async () => {
    await filter('');
    await page.locator('#operations-Personalities-createPersonality').waitFor();
    await filter('post connection');
    await page.locator('#operations-Personalities-createPersonality').waitFor({ state: 'detached' });
    expect(
      await page
        .locator('.opblock:not([id^="operations-webhooks"])')
        .evaluateAll((blocks) => blocks.map(({ id }) => id)),
    ).toEqual(['operations-Agents-testConnection']);
    await filter('');
    await page.locator('#operations-Personalities-createPersonality').waitFor();
  });

  it('shows the chapters after the operations, and shared errors and headers only there', async () => {
    const top = async (selector: string) => (await page.locator(selector).first().boundingBox())?.y ?? 0;
    expect(await top('.chapters h2')).toBeGreaterThan(await top('#operations-Health-getReadiness'));
    expect(await page.locator('.information-container h2:has-text("Authentication")').count()).toBe(0);
    const block = page.locator('#operations-Agents-createAgent');
    const documented = block.locator('.responses-table:not(.live-responses-table)').last();
    expect(await documented.locator('.response[data-code="201"]').isVisible()).toBe(true);
    expect(await documented.locator('.response[data-code="401"]').isVisible()).toBe(false);
    expect(await documented.locator('.headers-wrapper').first().isVisible()).toBe(false);
  });

  it('follows the colour scheme of the browser', async () => {
    const background = () => page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
    const light = await background();
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.locator('html.dark-mode').waitFor();
    expect(await background()).not.toBe(light);
    await screenshot('dark');
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('keeps the key across a reload', async () => {
    await page.reload();
    await page.locator('#operations-Health-getHealth').waitFor();
    expect((await execute('listAgents', 'Agents')).status).toBe('200');
  });

  it('has made no external request, violated no policy and logged no error', () => {
    expect(problems).toEqual({ consoleErrors: [], externalRequests: [], failedRequests: [] });
  });
});
