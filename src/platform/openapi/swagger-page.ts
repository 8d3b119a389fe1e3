import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Injectable } from '@nestjs/common';
import { notFound } from '../errors/domain-error.js';
import { INFO } from './info.js';
import { START, STYLE } from './swagger-start.js';

/** A file of the page; its URL contains the hash of its text, so that it can be cached forever. */
export interface PageAsset {
  readonly type: string;
  readonly text: string;
}

/**
 * Content security policy of the page: only its own scripts, styles and requests, nothing inline and nothing from other
 * origins. The style sheet uses data URLs for icons.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** An inline icon, because a browser would otherwise request /favicon.ico and log the 404. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1b1b1b"/>' +
    '<path d="M4 6v4M7 3v10M10 5v6M13 7v2" stroke="#85ea2d" stroke-width="1.6" stroke-linecap="round"/></svg>',
)}`;

/**
 * The Swagger page and the few files that it needs, from the npm package. Read on first use: they take 3 MB, and many
 * processes never serve the page.
 */
@Injectable()
export class SwaggerPage {
  private read: ReadonlyMap<string, PageAsset> | undefined;
  private page: string | undefined;

  /** URLs are relative to /docs, so that the page also works behind a proxy that adds a prefix. */
  get html(): string {
    this.page ??= `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${INFO.title}</title>
    <link rel="icon" href="${ICON}">
    <link rel="stylesheet" href="${this.urlOf('swagger-ui.css')}">
    <link rel="stylesheet" href="${this.urlOf('page.css')}">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <noscript>This page needs JavaScript. The interface is also described in <a href="openapi.json">openapi.json</a>.</noscript>
    <script src="${this.urlOf('swagger-ui-bundle.js')}"></script>
    <script src="${this.urlOf('start.js')}"></script>
  </body>
</html>
`;
    return this.page;
  }

  /**
   * A file by its exact name; no other file can be reached.
   * @throws DomainError NOT_FOUND
   */
  asset(name: string): PageAsset {
    const asset = this.assets.get(name);
    if (!asset) throw notFound();
    return asset;
  }

  private get assets(): ReadonlyMap<string, PageAsset> {
    return (this.read ??= new Map([
      ['swagger-ui.css', { type: 'text/css; charset=utf-8', text: packaged('swagger-ui.css') }],
      ['swagger-ui-bundle.js', { type: 'text/javascript; charset=utf-8', text: packaged('swagger-ui-bundle.js') }],
      ['page.css', { type: 'text/css; charset=utf-8', text: STYLE }],
      ['start.js', { type: 'text/javascript; charset=utf-8', text: START }],
    ]));
  }

  private urlOf(name: string): string {
    const hash = createHash('sha256').update(this.asset(name).text).digest('hex').slice(0, 16);
    return `docs/${name}?v=${hash}`;
  }
}

function packaged(name: string): string {
  const directory = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return readFileSync(path.join(directory, name), 'utf8');
}
