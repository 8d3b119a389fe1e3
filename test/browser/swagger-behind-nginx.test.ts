import { browserUnavailableReason, openBrowser } from '../support/browser.js';
import { documentedLocation, startNginx } from '../support/nginx.js';
import { describeWith } from '../support/programs.js';
import { createTestApp } from '../support/test-app.js';

const missing = browserUnavailableReason();
if (missing !== undefined) console.warn(`Skipped: the Swagger page behind nginx, because ${missing}`);

// nestjs/swagger#1105 and #1965, swagger-api/swagger-ui#5401: requests went to the root of the host.
describeWith('nginx', 'the Swagger page behind nginx with a path', () => {
  (missing === undefined ? it : it.skip)('sends "Try it out" to the service under that path', async () => {
    const app = await createTestApp();
    const nginx = await startNginx(documentedLocation(app.url));
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(60_000);
      await page.goto(`${nginx.url}/vat/docs`);
      await page.locator('.operation-filter-input').fill('readyz');
      const block = page.locator('#operations-Health-getReadiness');
      await block.locator('.opblock-summary-control').click();
      const request = page.waitForRequest((sent) => sent.url().endsWith('readyz'));
      await block.getByRole('button', { name: 'Execute' }).click();
      const sent = await request;
      expect(sent.url()).toBe(`${nginx.url}/vat/readyz`);
      expect((await sent.response())?.status()).toBe(200);
    } finally {
      await browser.close();
      await nginx.close();
      await app.close();
    }
  });
});
