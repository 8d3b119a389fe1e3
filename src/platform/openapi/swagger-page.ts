import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Injectable } from '@nestjs/common';
import { notFound } from '../errors/domain-error.js';
import { INFO } from './info.js';

/** A file of the page; its address holds the hash of its text, so that it never changes under one address. */
export interface PageAsset {
  readonly type: string;
  readonly text: string;
}

/**
 * All that the page may do: its own scripts, styles and requests, nothing inline and nothing from anywhere else. The
 * style sheet draws its icons from data addresses.
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

/** An icon of its own inside the page, because a browser without one asks for /favicon.ico and logs the 404. */
const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#1b1b1b"/>' +
    '<path d="M4 6v4M7 3v10M10 5v6M13 7v2" stroke="#85ea2d" stroke-width="1.6" stroke-linecap="round"/></svg>',
)}`;

/** Without the validator's badge: it would send the document to a server outside. */
const START = `window.addEventListener('load', () => {
  window.ui = SwaggerUIBundle({
    url: 'openapi.json',
    dom_id: '#swagger-ui',
    deepLinking: true,
    displayOperationId: false,
    displayRequestDuration: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    persistAuthorization: true,
    tryItOutEnabled: true,
    validatorUrl: null,
    presets: [SwaggerUIBundle.presets.apis],
    layout: 'BaseLayout',
  });
});
`;

/**
 * The Swagger page and the few files that it needs, from the npm package. Read when somebody asks for them first: they
 * take 3 MB, and many processes never show the page.
 */
@Injectable()
export class SwaggerPage {
  private read: ReadonlyMap<string, PageAsset> | undefined;
  private page: string | undefined;

  /** Addresses are relative to /docs, so that the page also works behind a proxy that adds a prefix. */
  get html(): string {
    this.page ??= `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${INFO.title}</title>
    <link rel="icon" href="${ICON}">
    <link rel="stylesheet" href="${this.addressOf('swagger-ui.css')}">
  </head>
  <body>
    <div id="swagger-ui"></div>
    <noscript>This page needs JavaScript. The interface is also described in <a href="openapi.json">openapi.json</a>.</noscript>
    <script src="${this.addressOf('swagger-ui-bundle.js')}"></script>
    <script src="${this.addressOf('start.js')}"></script>
  </body>
</html>
`;
    return this.page;
  }

  /**
   * A file by its exact name; there is no way from a name to any other file.
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
      ['start.js', { type: 'text/javascript; charset=utf-8', text: START }],
    ]));
  }

  private addressOf(name: string): string {
    const hash = createHash('sha256').update(this.asset(name).text).digest('hex').slice(0, 16);
    return `docs/${name}?v=${hash}`;
  }
}

function packaged(name: string): string {
  const directory = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  return readFileSync(path.join(directory, name), 'utf8');
}
