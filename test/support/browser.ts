import { accessSync, constants } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { REPORT_CSP } from '../../libs/run-report/index.js';

// For code that runs in the page: the tests are compiled without the types of a browser.
declare const document: any;

const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';

/** The reason why no browser is available, or undefined. Always undefined in CI, where no test may be skipped. */
export function browserUnavailableReason(): string | undefined {
  if (process.env['REQUIRE_ALL_TESTS'] === 'true') return undefined;
  try {
    accessSync(CHROMIUM, constants.X_OK);
    return undefined;
  } catch {
    return `no browser found at ${CHROMIUM} (install Debian's chromium, or set CHROMIUM_PATH)`;
  }
}

/** Starts Debian's Chromium headless and without its background requests. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** Unexpected behaviour of a page. */
export interface PageProblems {
  /** Console errors and warnings (including violations of the Content-Security-Policy), and uncaught exceptions. */
  readonly consoleErrors: string[];
  /** Requests to other origins than the service. */
  readonly externalRequests: string[];
  /** Requests that failed or had an error status. */
  readonly failedRequests: string[];
}

/** Records the problems of a page. Call it before the page is opened. */
export function watchPage(page: Page, origin: string): PageProblems {
  const problems: PageProblems = { consoleErrors: [], externalRequests: [], failedRequests: [] };
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.consoleErrors.push(message.text());
  });
  page.on('pageerror', (error) => problems.consoleErrors.push(error.message));
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origin && url.protocol !== 'data:') problems.externalRequests.push(request.url());
  });
  page.on('requestfailed', (request) => problems.failedRequests.push(`${request.method()} ${request.url()}`));
  page.on('response', (response) => {
    if (response.status() >= 400) problems.failedRequests.push(`${response.status()} ${response.url()}`);
  });
  return problems;
}

/** A page that `HtmlSite` serves. */
export interface ServedPage {
  readonly html: string;
  /** Its Content-Security-Policy; REPORT_CSP by default, null for none. */
  readonly policy?: string | null;
}

/** Serves pages of libs/run-report as the service does, and opens them in Chromium. */
export class HtmlSite {
  private constructor(
    private readonly server: Server,
    private readonly browser: Browser,
    readonly origin: string,
    /** Reused, because a page of its own for each test starts a process of the browser. */
    readonly page: Page,
  ) {}

  /** @param pages by path; read at each request */
  static async open(pages: ReadonlyMap<string, ServedPage>): Promise<HtmlSite> {
    const server = createServer((request, response) => {
      const page = pages.get(new URL(request.url ?? '/', 'http://localhost').pathname);
      // Browsers request it by themselves.
      if (!page) return void response.writeHead(request.url === '/favicon.ico' ? 204 : 404).end();
      const { html, policy = REPORT_CSP } = page;
      response.setHeader('content-type', 'text/html; charset=utf-8');
      if (policy !== null) response.setHeader('content-security-policy', policy);
      response.end(html);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const browser = await openBrowser();
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return new HtmlSite(server, browser, origin, await browser.newPage());
  }

  async close(): Promise<void> {
    await this.browser.close();
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Opens a page, and records its problems and the paths that it requests. */
  async visit(path: string, width: number, colorScheme: 'light' | 'dark' = 'light') {
    const { page, origin } = this;
    page.removeAllListeners();
    await page.setViewportSize({ width, height: 1_200 });
    await page.emulateMedia({ colorScheme });
    const problems = watchPage(page, origin);
    page.on('dialog', () => problems.consoleErrors.push('a dialogue'));
    const requests: string[] = [];
    page.on('request', (request) => requests.push(new URL(request.url()).pathname));
    await page.goto(origin + path);
    return { problems, requests };
  }

  /** Saves a picture in the folder SCREENSHOTS, if it is set. */
  async screenshot(name: string, fullPage = false): Promise<void> {
    const folder = process.env['SCREENSHOTS'];
    if (folder) await this.page.screenshot({ path: `${folder}/${name}.png`, fullPage });
  }
}

/** A page must have no problem, and request nothing but itself. */
export function checkBehaved({ problems, requests }: Awaited<ReturnType<HtmlSite['visit']>>, path: string): void {
  expect(problems).toEqual({ consoleErrors: [], externalRequests: [], failedRequests: [] });
  expect(requests.filter((requested) => requested !== '/favicon.ico')).toEqual([path]);
}

/** By how many pixels the page is wider than the screen. */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
