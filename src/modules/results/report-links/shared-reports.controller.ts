import { Controller, Get, Param, Res, type StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { Operation } from '../../../platform/openapi/operation.decorator.js';
import { REPORT_CONTENT, reportPage } from '../report-page.js';
import { ReportLinksService } from './report-links.service.js';

@Controller('reports')
export class SharedReportsController {
  constructor(private readonly service: ReportLinksService) {}

  @Operation({
    summary: 'Get the report of a report link',
    description:
      'The report of the run as an HTML page; the token is the credential. Returns 404 for a link that is unknown, expired or deleted, also with its run.',
    tag: 'Runs',
    access: 'PUBLIC',
    path: { token: 'Token of the link: the last part of its `url`' },
    response: { shape: 'file', message: 'The page', content: REPORT_CONTENT },
    errors: ['NOT_FOUND', 'TOO_MANY_REQUESTS', 'INTERNAL_SERVER_ERROR', 'SERVICE_UNAVAILABLE'],
  })
  @Get(':token')
  async getSharedReport(
    @Param('token') token: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    // Before the link is looked up, so that a 404 is not stored either.
    response
      .setHeader('Cache-Control', 'no-store')
      .setHeader('Referrer-Policy', 'no-referrer')
      .setHeader('X-Robots-Tag', 'noindex');
    return reportPage(await this.service.read(token), response);
  }
}
