import { Controller, Get, Param, Res, type StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { renderReport } from '../../../../libs/run-report/index.js';
import { hideShared, htmlPage } from '../../../platform/http/responses/html-page.js';
import { Operation } from '../../../platform/openapi/operation.decorator.js';
import { PAGE_CONTENT } from '../../../platform/openapi/page-content.js';
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
    response: { shape: 'file', message: 'The page', content: PAGE_CONTENT },
    errors: ['NOT_FOUND', 'TOO_MANY_REQUESTS', 'INTERNAL_SERVER_ERROR', 'SERVICE_UNAVAILABLE'],
  })
  @Get(':token')
  async getSharedReport(
    @Param('token') token: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    hideShared(response);
    const { run, readCalls, readAudio } = await this.service.read(token);
    return htmlPage(renderReport(run, readCalls, readAudio), 'Report', response);
  }
}
