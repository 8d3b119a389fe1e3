import { All, Controller, Inject, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../access/access.decorators.js';
import { SETTINGS } from '../../config/settings.module.js';
import type { Settings } from '../../config/settings.js';
import { notFound } from '../../errors/domain-error.js';
import { hideShared } from '../responses/html-page.js';

/** What a link opens, with a slash that a chat or a mail program has added. */
const SHARED = /^\/(?:reports|pages)(?:\/[\w-]+\/runs)?\/([\w-]+)\/$/;

/**
 * Catch-all for unknown paths. An ordinary route, registered last, because Nest's built-in 404 bypasses the guards and
 * would neither be counted nor carry the rate-limit headers.
 */
@ApiExcludeController()
@Controller()
export class UnknownPathController {
  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  @Public()
  @All('{*path}')
  respond(@Req() request: Request, @Res() response: Response): void {
    const shared = request.method === 'GET' || request.method === 'HEAD' ? SHARED.exec(request.path) : null;
    if (shared) {
      hideShared(response);
      // Relative, so that it works behind any path of a proxy.
      return response.redirect(308, `../${shared[1]}${/\?.*$/.exec(request.url)?.[0] ?? ''}`);
    }
    // The CORS middleware has set its headers; a preflight (Fetch, section 4.8) only needs a 204.
    const isPreflight = request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
    if (!isPreflight || this.settings.corsOrigins.length === 0) throw notFound();
    response.status(204).end();
  }
}
