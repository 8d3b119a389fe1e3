import type { Page } from 'playwright-core';
import { renderJunit, renderReport } from '../../libs/run-report/index.js';
import type { Built } from '../../libs/run-report/testing/build.js';
import { HOSTILE, hostileRun } from '../../libs/run-report/testing/hostile.js';
import { sampleRun } from '../../libs/run-report/testing/sample-run.js';
import { sample } from '../../libs/statistics/testing/sample.js';
import { browserUnavailableReason, checkBehaved, HtmlSite, overflowOf, type ServedPage } from '../support/browser.js';

// For code that runs in the page: the tests are compiled without the types of a browser.
declare const document: any;
declare const DOMParser: any;
declare const getComputedStyle: any;
declare const NodeFilter: any;

async function whole(parts: AsyncIterable<string>): Promise<string> {
  let text = '';
  for await (const part of parts) text += part;
  return text;
}

const missing = browserUnavailableReason();
if (missing !== undefined) console.warn(`Skipped: reports in a browser, because ${missing}`);

const SCHEMES = ['light', 'dark'] as const;
const SCREENS = [360, 1280].flatMap((width) => SCHEMES.map((scheme) => [width, scheme] as const));

(missing === undefined ? describe : describe.skip)('a report in Chromium', () => {
  let site: HtmlSite;
  let page: Page;
  let report: Built;
  const pages = new Map<string, ServedPage>();

  beforeAll(async () => {
    report = await sampleRun();
    const hostile = hostileRun();
    const html = await whole(renderReport(hostile.run, hostile.read));
    pages.set('/sample', { html: await whole(renderReport(report.run, report.read)) });
    pages.set('/hostile', { html });
    const bare = html.replace(/<meta[^>]*Content-Security-Policy[^>]*>/, '');
    expect(bare.length).toBeLessThan(html.length);
    pages.set('/hostile-without-policy', { html: bare, policy: null });
    site = await HtmlSite.open(pages);
    page = site.page;
  });
  afterAll(() => site?.close());

  const visit = (path: string, width = 1280, scheme: 'light' | 'dark' = 'light') => site.visit(path, width, scheme);
  const openAll = () =>
    page.evaluate(() => document.querySelectorAll('details').forEach((details: any) => (details.open = true)));
  const overflow = () => overflowOf(page);
  const screenshot = (name: string) => site.screenshot(`report-${name}`);

  it.each(sample(SCREENS))('fits a screen of %d px in %s with all calls expanded', async (width, scheme) => {
    const visited = await visit('/sample', width, scheme);
    await screenshot(`${width}-${scheme}`);
    expect(await overflow()).toBeLessThanOrEqual(0);
    await openAll();
    expect(await overflow()).toBeLessThanOrEqual(0);
    checkBehaved(visited, '/sample');
  });

  it.each(sample(SCHEMES, 1))('has a contrast of at least 4.5:1 for all text in %s', async (scheme) => {
    await visit('/sample', 1280, scheme);
    await openAll();
    expect(await page.evaluate(poorContrasts)).toEqual({ poor: [], measured: expect.any(Number) });
    expect((await page.evaluate(poorContrasts)).measured).toBeGreaterThan(1_000);
  });

  it('has landmarks, gapless heading levels and names for all drawings and sections', async () => {
    await visit('/sample');
    const levels = await page.evaluate(() =>
      [...document.querySelectorAll('h1, h2, h3, h4, h5')].map(({ tagName }: any) => Number(tagName[1])),
    );
    expect(levels[0]).toBe(1);
    expect(levels.filter((level) => level === 1)).toHaveLength(1);
    for (const [index, level] of levels.entries()) expect(level - (levels[index - 1] ?? 0)).toBeLessThanOrEqual(1);
    expect(await page.getByRole('main').count()).toBe(1);
    expect(await page.getByRole('banner').count()).toBe(1);
    expect(await page.getByRole('navigation', { name: 'Calls that did not pass' }).count()).toBe(1);
    const unnamed = await page.evaluate(
      () =>
        document.querySelectorAll('svg:not([role=img][aria-label]):not([aria-hidden]):not(svg svg)').length +
        [...document.querySelectorAll('[aria-labelledby]')].filter(
          (element: any) =>
            !document.getElementById(element.getAttribute('aria-labelledby') ?? '')?.textContent?.trim(),
        ).length,
    );
    expect(unnamed).toBe(0);
  });

  it.each([360, 1280])('keeps the table of evaluations accessible at %d px', async (width) => {
    await visit('/sample', width);
    const table = page.getByRole('table');
    expect(await table.getByRole('row').count()).toBe(report.run.evaluations.length + 1);
    expect(await table.getByRole('columnheader').count()).toBe(9);
    expect(await table.getByRole('rowheader').first().innerText()).toContain('Books a table, detail by detail');
  });

  it('links a failure to its call, to its evidence and back', async () => {
    await visit('/sample');
    // The fifth failed call of an evaluation is collapsed, and expands when it is linked to.
    const body = page.locator('#e2-r5');
    expect(await body.isVisible()).toBe(false);
    await page.locator('nav a[href="#e2-r5"]').click();
    await body.waitFor({ state: 'visible' });
    await body
      .getByRole('link', { name: /^at 0:/ })
      .first()
      .click();
    const line = page.locator('li:target');
    const mark = line.locator('mark.not-met');
    expect(await mark.innerText()).toBe('For how many people?');
    await line.getByRole('link', { name: 'Evidence for 1, Never asks again for given details' }).click();
    expect(await page.locator('li:target').innerText()).toContain('Not met Never asks again for given details');
  });

  it.each([360, 1280])(
    'shows only the calls of the chosen outcome at %d px, and any call that is linked to',
    async (width) => {
      const visited = await visit('/sample', width);
      const visible = (selector: string) => page.locator(`${selector} >> visible=true`).count();
      const { total, passed, failed } = report.run.counts;
      expect(await visible('.call')).toBe(total);
      await page.getByRole('radio', { name: `failed ${failed}` }).check();
      expect(await visible('.call')).toBe(failed);
      expect(await visible('.call.failed')).toBe(failed);
      expect(await visible('.evaluation')).toBe(
        report.run.evaluations.filter((evaluation) => evaluation.failed > 0).length,
      );
      await screenshot(`${width}-filter`);
      expect(await overflow()).toBeLessThanOrEqual(0);
      await page.getByRole('radio', { name: `passed ${passed}` }).check();
      expect(await visible('.call.failed')).toBe(0);
      await page.locator('nav a[href="#e2-r5"]').click();
      await page.locator('#e2-r5').waitFor({ state: 'visible' });
      await page.getByRole('radio', { name: `all ${total}` }).check();
      expect(await visible('.call')).toBe(total);
      checkBehaved(visited, '/sample');
    },
  );

  it.each(['/hostile', '/hostile-without-policy'])(
    'shows input of agents and users as text at %s, and executes none of it',
    async (path) => {
      const visited = await visit(path, 360);
      await openAll();
      // Events such as a click or a mouse move could trigger injected handlers.
      await page.mouse.move(100, 300);
      await page.evaluate(() => {
        for (const element of document.querySelectorAll('*')) element.dispatchEvent(new Event('mouseover'));
      });
      expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false);
      expect(await page.locator('script, img, iframe, object, svg svg svg, [onload], [onerror]').count()).toBe(0);
      expect(await page.locator('style').count()).toBe(1);
      const words = await page.locator('main').innerText();
      for (const shown of [
        '</script><script>hacked=1</script>',
        '"><img src=x onerror=hacked=1>',
        '&#0; &lt; &amp;lt;',
      ])
        expect(words).toContain(shown);
      expect(words).toContain('[U+202E]');
      expect(words).not.toMatch(/[\u0000-\u0008\u000E-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/);
      expect(await overflow()).toBeLessThanOrEqual(0);
      await screenshot(`hostile${path.length}`);
      checkBehaved(visited, path);
    },
  );

  it('blocks injected content by its policy alone', async () => {
    const { html } = pages.get('/hostile')!;
    pages.set('/injected', { html: html.replace('<main>', '<main><script>hacked=1</script>'), policy: null });
    const { problems } = await visit('/injected');
    expect(await page.evaluate(() => 'hacked' in globalThis)).toBe(false);
    expect(problems.consoleErrors.join()).toMatch(/Content Security Policy/);
  });

  it("produces JUnit XML that the browser's parser accepts, with every text", async () => {
    await visit('/sample');
    for (const built of [report, hostileRun(), ...HOSTILE.map((text) => hostileRun([text]))]) {
      const xml = await whole(renderJunit(built.run, built.read));
      const found = await page.evaluate((source) => {
        const parsed = new DOMParser().parseFromString(source, 'application/xml');
        const names = [...parsed.querySelectorAll('testcase')].map(
          (element: any) => `${element.getAttribute('classname')} ${element.getAttribute('name')}`,
        );
        return {
          fault: parsed.querySelector('parsererror')?.textContent ?? null,
          root: parsed.documentElement.tagName,
          cases: new Set(names).size,
        };
      }, xml);
      expect(found).toEqual({ fault: null, root: 'testsuites', cases: built.calls.length + 1 });
    }
  });
});

/** Runs in the page: returns texts whose contrast with their background is below 4.5:1 (WCAG 2, 1.4.3). */
function poorContrasts(): { poor: string[]; measured: number } {
  const channels = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = (colour: string) =>
    channels(colour)
      .slice(0, 3)
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
      .reduce((sum, value, index) => sum + value * [0.2126, 0.7152, 0.0722][index]!, 0);
  const backgroundOf = (element: any): string => {
    for (let at = element; at; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      if (channels(backgroundColor)[3] !== 0) return backgroundColor;
    }
    return 'rgb(255, 255, 255)';
  };
  const poor = new Set<string>();
  let measured = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.textContent?.trim()) continue;
    measured++;
    const style = getComputedStyle(element);
    const colour = element.namespaceURI.endsWith('svg') ? style.fill : style.color;
    const [a, b] = [luminance(colour), luminance(backgroundOf(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) poor.add(`${contrast.toFixed(2)} ${colour} on ${backgroundOf(element)}: ${node.textContent}`);
  }
  return { poor: [...poor], measured };
}
