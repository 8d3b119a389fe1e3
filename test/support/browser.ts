import { accessSync, constants } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const CHROMIUM = process.env['CHROMIUM_PATH'] ?? '/usr/bin/chromium';

/** Why no browser can be driven here, or undefined; in CI, where nothing may be skipped, always undefined. */
export function browserUnavailableReason(): string | undefined {
  if (process.env['REQUIRE_ALL_TESTS'] === 'true') return undefined;
  try {
    accessSync(CHROMIUM, constants.X_OK);
    return undefined;
  } catch {
    return `there is no browser at ${CHROMIUM} (install Debian's chromium, or set CHROMIUM_PATH)`;
  }
}

/** Debian's Chromium without a window, and without the requests that it makes of its own accord. */
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

/** What a page did that it should not have. */
export interface PageProblems {
  /** Errors and warnings in the console (a violated Content-Security-Policy is one), and uncaught exceptions. */
  readonly consoleErrors: string[];
  /** Requests to anywhere but the service. */
  readonly externalRequests: string[];
  /** Requests that failed or were answered with an error. */
  readonly failedRequests: string[];
}

/** Watches a page from before it is opened. */
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
