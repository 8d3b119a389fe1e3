import { accessSync, constants } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

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
