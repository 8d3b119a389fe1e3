import { renderReport } from '../../libs/run-report/index.js';
import { voiceRun, voiceAudio } from '../../libs/run-report/testing/voice-run.js';
import { sample } from '../../libs/statistics/testing/sample.js';
import { browserUnavailableReason, checkBehaved, HtmlSite, overflowOf } from '../support/browser.js';

// For code that runs in the page: the tests are compiled without the types of a browser.
declare const document: any;

const missing = browserUnavailableReason();
if (missing !== undefined) console.warn(`Skipped: reports of voice calls in a browser, because ${missing}`);

(missing === undefined ? describe : describe.skip)('a report of 50 voice calls in Chromium', () => {
  let site: HtmlSite;

  beforeAll(async () => {
    const { run, read } = voiceRun(50);
    let html = '';
    for await (const part of renderReport(run, read, (_id, wanted) => Promise.resolve(voiceAudio(wanted))))
      html += part;
    site = await HtmlSite.open(new Map([['/', { html }]]));
  });
  afterAll(() => site?.close());

  async function visit(width: number, colorScheme: 'light' | 'dark') {
    const visited = await site.visit('/', width, colorScheme);
    return { page: site.page, visited };
  }

  const screens = [
    [1280, 'light'],
    [1280, 'dark'],
    [375, 'light'],
    [375, 'dark'],
  ] as const;
  it.each(sample(screens, 2))('fits a screen of %d px in %s, and its policy blocks nothing', async (width, scheme) => {
    const { page, visited } = await visit(width, scheme);
    await page.locator('.heard').first().scrollIntoViewIfNeeded();
    await site.screenshot(`report-voice-${width}-${scheme}`);
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    checkBehaved(visited, '/');
  });

  it('plays from where the picture or a time of the transcript is clicked, and moves by keys', async () => {
    const { page, visited } = await visit(1280, 'light');
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
    expect(visited.problems.consoleErrors).toEqual([]);
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
  });
});
