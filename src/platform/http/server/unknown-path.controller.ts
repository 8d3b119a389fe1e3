import { All, Controller, Inject, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Public } from '../../access/access.decorators.js';
import { SETTINGS } from '../../config/settings.module.js';
import type { Settings } from '../../config/settings.js';
import { notFound } from '../../errors/domain-error.js';

/**
 * Every path that no other route took. A route of its own, and the last one, because Nest's built-in answer passes no
 * guard and would neither be counted nor carry the rate-limit headers.
 */
@ApiExcludeController()
@Controller()
export class UnknownPathController {
  constructor(@Inject(SETTINGS) private readonly settings: Settings) {}

  @Public()
  @All('{*path}')
  answer(@Req() request: Request, @Res() response: Response): void {
    // The CORS middleware has set its headers by now; a preflight (Fetch, section 4.8) only needs its 204.
    const isPreflight = request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
    if (!isPreflight || this.settings.corsOrigins.length === 0) throw notFound();
    response.status(204).end();
  }
}
