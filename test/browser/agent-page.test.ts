import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { renderAgentPage, type ReportedAgent } from '../../libs/run-report/index.js';
import { agentWith, productionWith, sampleAgent } from '../../libs/run-report/testing/agent.js';
import { HOSTILE_NAMES } from '../../libs/run-report/testing/hostile-names.js';
import { browserUnavailableReason, checkBehaved, HtmlSite, overflowOf } from '../support/browser.js';

// For code that runs in the page: the tests are compiled without the types of a browser.
declare const document: any;
declare const axe: any;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const missing = browserUnavailableReason();
if (missing !== undefined) console.warn(`Skipped: pages of agents in a browser, because ${missing}`);

(missing === undefined ? describe : describe.skip)('the page of an agent in Chromium', () => {
  let site: HtmlSite;
  const page = (agent: ReportedAgent) => ({ html: [...renderAgentPage(agent)].join('') });
  const hostile = agentWith(
    HOSTILE_NAMES.map((name) => ({
      name,
      nights: [
        [0, 1],
        [1, 2],
      ],
    })),
    { name: HOSTILE_NAMES[0]!, production: productionWith(HOSTILE_NAMES[1]!, 3), reportOf: (runId) => `runs/${runId}` },
    (night) => {
      const text = HOSTILE_NAMES[night]!;
      const tester = { service: text, judge: text, transcription: text, speech: [text] };
      return { name: text, agentVersion: text, tester };
    },
  );
  const pages = new Map([
    ['/sample', page(sampleAgent())],
    ['/production', page({ ...sampleAgent(), production: productionWith('Books a table for four', 50) })],
    ['/empty', page(agentWith([], { nextRunAt: null }))],
    ['/hostile', page(hostile)],
  ]);

  beforeAll(async () => {
    site = await HtmlSite.open(pages);
  });
  afterAll(() => site?.close());

  async function visit(path: string, width = 1_160, colorScheme: 'light' | 'dark' = 'light') {
    const visited = await site.visit(path, width, colorScheme);
    // The pictures of the guide are those of the sample in light.
    await site.screenshot(`agent-page${path.replace('/', '-')}-${width}-${colorScheme}`, true);
    checkBehaved(visited, path);
    return site.page;
  }

  it.each([
    ['/sample', 1_160, 'light'],
    ['/sample', 1_160, 'dark'],
    ['/sample', 390, 'light'],
    ['/sample', 390, 'dark'],
    ['/production', 1_160, 'light'],
    ['/production', 390, 'dark'],
    ['/empty', 390, 'light'],
    ['/hostile', 390, 'light'],
  ] as const)(
    '%s at %d px in %s has no violation of the rules of axe, fits the screen and makes no request',
    async (path, width, scheme) => {
      const page = await visit(path, width, scheme);
      // By the debugger, which the page's Content-Security-Policy does not concern.
      await page.evaluate(AXE);
      const { violations, passes } = await page.evaluate(() => axe.run());
      const named = violations.map(({ id, nodes }: any) => [id, nodes[0].html, nodes[0].failureSummary]);
      expect(named).toEqual([]);
      expect(passes.length).toBeGreaterThan(15);
      expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    },
  );

  it('executes nothing of names, versions and models, and makes no element of them', async () => {
    const page = await visit('/hostile');
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
    const page = await visit('/sample');
    const focused = () => page.evaluate(() => document.activeElement.getAttribute('href') ?? '');
    const stops: string[] = [];
    for (let n = 0; n < 7; n++) {
      await page.keyboard.press('Tab');
      stops.push(await focused());
    }
    const red = ['runs/run-52#e2-r1', 'runs/run-59#e2-r1'];
    expect(stops).toEqual([red[0], 'runs/run-59', '?days=7', '?days=30', '?days=90', ...red]);
  });
});
