import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { renderAgentPage, REPORT_CSP } from '../../libs/run-report/index.js';
import { agentWith, sampleAgent } from '../../libs/run-report/testing/agent.js';
import { HOSTILE_NAMES } from '../../libs/run-report/testing/hostile-names.js';
import { browserUnavailableReason, openBrowser, watchPage } from '../support/browser.js';

// For code that runs in the page: the tests are compiled without the types of a browser.
declare const document: any;
declare const axe: any;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const missing = browserUnavailableReason();
if (missing !== undefined) console.warn(`Skipped: pages of agents in a browser, because ${missing}`);

(missing === undefined ? describe : describe.skip)('the page of an agent in Chromium', () => {
  let browser: Browser;
  let server: Server;
  let origin: string;
  let page: Page;
  const pages: Record<string, string> = {
    '/sample': [...renderAgentPage(sampleAgent())].join(''),
    '/empty': [...renderAgentPage(agentWith([], { lastRun: null, nextRunAt: null }))].join(''),
    '/hostile': [
      ...renderAgentPage(
        agentWith(
          HOSTILE_NAMES.map((name) => ({
            name,
            nights: [
              [0, 1],
              [1, 2],
            ],
          })),
          { name: HOSTILE_NAMES[0]!, reportOf: (runId) => `runs/${runId}` },
          (night) => {
            const text = HOSTILE_NAMES[night]!;
            const tester = { service: text, judge: text, transcription: text, speech: [text] };
            return { name: text, agentVersion: text, tester };
          },
        ),
      ),
    ].join(''),
  };

  beforeAll(async () => {
    server = createServer((request, response) => {
      const html = pages[request.url ?? ''];
      if (html === undefined) return void response.writeHead(request.url === '/favicon.ico' ? 204 : 404).end();
      const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': REPORT_CSP };
      response.writeHead(200, headers).end(html);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await openBrowser();
    page = await browser.newPage();
  });
  afterAll(async () => {
    await browser?.close();
    server?.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function visit(path: string, width = 1_160, colorScheme: 'light' | 'dark' = 'light') {
    page.removeAllListeners();
    await page.setViewportSize({ width, height: 1_200 });
    await page.emulateMedia({ colorScheme });
    const problems = watchPage(page, origin);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    await page.goto(origin + path);
    // SCREENSHOTS names a folder; the pictures of the guide are those of the sample in light.
    const folder = process.env['SCREENSHOTS'];
    const file = `agent-page${path.replace('/', '-')}-${width}-${colorScheme}.png`;
    if (folder) await page.screenshot({ path: `${folder}/${file}`, fullPage: true });
    expect(problems).toEqual({ consoleErrors: [], externalRequests: [], failedRequests: [] });
    expect(requests.filter((requested) => requested !== '/favicon.ico')).toEqual([path]);
  }

  it.each([
    ['/sample', 1_160, 'light'],
    ['/sample', 1_160, 'dark'],
    ['/sample', 390, 'light'],
    ['/sample', 390, 'dark'],
    ['/empty', 390, 'light'],
    ['/hostile', 390, 'light'],
  ] as const)(
    '%s at %d px in %s has no violation of the rules of axe, fits the screen and makes no request',
    async (path, width, scheme) => {
      await visit(path, width, scheme);
      // By the debugger, which the page's Content-Security-Policy does not concern.
      await page.evaluate(AXE);
      const { violations, passes } = await page.evaluate(() => axe.run());
      const named = violations.map(({ id, nodes }: any) => [id, nodes[0].html, nodes[0].failureSummary]);
      expect(named).toEqual([]);
      expect(passes.length).toBeGreaterThan(15);
      const overflow = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(overflow).toBeLessThanOrEqual(0);
    },
  );

  it('executes nothing of names, versions and models, and makes no element of them', async () => {
    await visit('/hostile');
    const { hacked, scripts } = await page.evaluate(() => ({
      hacked: 'hacked' in globalThis,
      scripts: document.querySelectorAll('script, img, iframe, object, [onload], [onerror], [onmouseover]').length,
    }));
    expect({ hacked, scripts }).toEqual({ hacked: false, scripts: 0 });
    const text: string = await page.locator('main').innerText();
    for (const name of ['</script><script>hacked=1</script>', '"><img src=x onerror=hacked=1>', '&lt;b&gt;'])
      expect(text).toContain(name);
  });

  it('is used by keyboard: the first tab stops lead to the red case since when, and to its newest failed call', async () => {
    await visit('/sample');
    const focused = () => page.evaluate(() => document.activeElement.getAttribute('href') ?? '');
    const stops: string[] = [];
    for (let n = 0; n < 6; n++) {
      await page.keyboard.press('Tab');
      stops.push(await focused());
    }
    expect(stops).toEqual(['runs/run-59', '?days=7', '?days=30', '?days=90', 'runs/run-52#e2-r1', 'runs/run-59#e2-r1']);
  });
});
