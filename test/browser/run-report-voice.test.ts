import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { renderReport, REPORT_CSP } from '../../libs/run-report/index.js';
import { voiceRun, voiceAudio } from '../../libs/run-report/testing/voice-run.js';
import { sample } from '../../libs/statistics/testing/sample.js';
import { browserUnavailableReason, openBrowser, watchPage } from '../support/browser.js';

// For code that runs in the page: the tests are compiled without the types of a browser.
declare const document: any;

const missing = browserUnavailableReason();
if (missing !== undefined) console.warn(`Skipped: reports of voice calls in a browser, because ${missing}`);

(missing === undefined ? describe : describe.skip)('a report of 50 voice calls in Chromium', () => {
  let browser: Browser;
  let server: Server;
  let origin: string;

  beforeAll(async () => {
    const { run, read } = voiceRun(50);
    let html = '';
    for await (const part of renderReport(run, read, (_id, wanted) => Promise.resolve(voiceAudio(wanted))))
      html += part;
    server = createServer((request, response) => {
      if (request.url !== '/') return void response.writeHead(204).end();
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.setHeader('content-security-policy', REPORT_CSP);
      response.end(html);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function visit(width: number, colorScheme: 'light' | 'dark') {
    const page = await browser.newPage({ viewport: { width, height: 1_100 }, colorScheme });
    const problems = watchPage(page, origin);
    await page.goto(origin);
    return { page, problems };
  }

  const screens = [
    [1280, 'light'],
    [1280, 'dark'],
    [375, 'light'],
    [375, 'dark'],
  ] as const;
  it.each(sample(screens, 2))('fits a screen of %d px in %s, and its policy blocks nothing', async (width, scheme) => {
    const { page, problems } = await visit(width, scheme);
    await page.locator('.heard').first().scrollIntoViewIfNeeded();
    const folder = process.env['SCREENSHOTS'];
    if (folder) await page.screenshot({ path: `${folder}/report-voice-${width}-${scheme}.png` });
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow).toBeLessThanOrEqual(0);
    expect(problems).toEqual({ consoleErrors: [], externalRequests: [], failedRequests: [] });
    await page.close();
  });

  it('plays from where the picture or a time of the transcript is clicked, and moves by keys', async () => {
    const { page, problems } = await visit(1280, 'light');
    const call = page.locator('.call').first();
    const at = () => call.locator('audio').evaluate((audio: any) => audio.currentTime as number);
    await call.locator('audio').evaluate(
      (audio: any) =>
        new Promise<void>((resolve, reject) => {
          audio.muted = true;
          if (audio.readyState > 0) return resolve();
          audio.onloadedmetadata = () => resolve();
          audio.onerror = () => reject(new Error(audio.error.message));
        }),
    );
    const box = (await call.locator('.heard').boundingBox())!;
    await page.mouse.click(box.x + box.width / 2, box.y + 40);
    const half = await at();
    expect(half).toBeGreaterThanOrEqual(11.9);
    expect(half).toBeLessThan(16);
    expect(await call.locator('.playhead').getAttribute('x1')).toMatch(/^[56]\d(\.\d+)?%$|^49\.\d+%$/);
    await call.locator('.transcript time', { hasText: '0:03.1' }).click();
    expect(await at()).toBeGreaterThanOrEqual(3);
    expect(await at()).toBeLessThan(7);
    await call.locator('audio').evaluate((audio: any) => audio.pause());
    const before = await at();
    await call.locator('.player').press('ArrowRight');
    expect(await at()).toBeGreaterThanOrEqual(before + 1.9);
    expect(problems.consoleErrors).toEqual([]);
    await page.close();
  });

  it('plays from a time of the transcript by keyboard', async () => {
    const { page } = await visit(1280, 'light');
    const call = page.locator('.call').first();
    const at = () => call.locator('audio').evaluate((audio: any) => audio.currentTime as number);
    const time = call.getByRole('button', { name: 'Play from 0:03.1' });
    await time.focus();
    expect(await time.evaluate((element: any) => element === document.activeElement)).toBe(true);
    for (const key of ['Enter', 'Space']) {
      await call.locator('audio').evaluate((audio: any) => {
        audio.muted = true;
        audio.pause();
        audio.currentTime = 0;
      });
      await time.press(key);
      expect(await at()).toBeGreaterThanOrEqual(3);
    }
    await page.close();
  });

  it('shortens captions that do not fit with an ellipsis', async () => {
    const { page } = await visit(375, 'light');
    const captions = await page
      .locator('.heard')
      .first()
      .locator('.caption')
      .evaluateAll((elements: any[]) =>
        elements.map((element) => ({
          isCut: element.scrollWidth > element.clientWidth,
          isInside: element.getBoundingClientRect().right <= element.closest('svg').getBoundingClientRect().right + 1,
        })),
      );
    expect(captions.some(({ isCut }) => isCut)).toBe(true);
    expect(captions.every(({ isInside }) => isInside)).toBe(true);
    const overflow = await page
      .locator('.heard .caption')
      .first()
      .evaluate((element: any) => (globalThis as any).getComputedStyle(element).textOverflow as string);
    expect(overflow).toBe('ellipsis');
    await page.close();
  });
});
