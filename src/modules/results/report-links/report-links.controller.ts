import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { CurrentCaller } from '../../../platform/access/access.decorators.js';
import type { Caller } from '../../../platform/access/caller.js';
import type { Page } from '../../../platform/database/page.js';
import { PageQuery } from '../../../platform/http/dto/pagination.js';
import { Operation } from '../../../platform/openapi/operation.decorator.js';
import { CreateReportLinkRequest, ReportLink, ReportLinkWithUrl } from '../dto/report-link.dto.js';
import { LinksService } from './links.service.js';
import { ReportLinksService } from './report-links.service.js';

const tag = 'Runs';
const access = 'EDITOR';
const path = { id: 'Identifier of the run' };

@Controller('runs/:id/report-links')
export class ReportLinksController {
  constructor(
    private readonly service: ReportLinksService,
    private readonly links: LinksService,
  ) {}

  @Operation({
    summary: 'Create a report link',
    description:
      'Everyone with the link can read the report of the run, without an API key, until the link expires or is deleted. Its address is only shown in this response. Returns 409 while the run is in progress, if it has calls with `origin` `production`, and if it has 20 links that have not expired.',
    tag,
    access,
    path,
    body: { type: CreateReportLinkRequest, example: { expiresInHours: 72 } },
    response: {
      shape: 'data',
      type: ReportLinkWithUrl,
      showsSecretOnce: true,
      message: 'Report link created successfully',
      status: 201,
    },
    errors: ['CONFLICT'],
  })
  @Post()
  createReportLink(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() body: CreateReportLinkRequest,
  ): Promise<ReportLinkWithUrl> {
    return this.service.create(caller, id, body);
  }

  @Operation({
    summary: 'List the report links of a run',
    description: 'The links that have not expired, newest first, without their addresses.',
    tag,
    access,
    path,
    query: true,
    response: { shape: 'page', type: ReportLink, message: 'Report links retrieved successfully' },
  })
  @Get()
  async listReportLinks(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: PageQuery,
  ): Promise<Page<ReportLink>> {
    return this.links.list(await this.service.subject(caller, id), query);
  }

  @Operation({
    summary: 'Delete a report link',
    description: 'Its address returns 404 from then on.',
    tag,
    access,
    path: { ...path, linkId: 'Identifier of the link' },
    response: { shape: 'message', message: 'Report link deleted successfully' },
  })
  @Delete(':linkId')
  async deleteReportLink(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Param('linkId') linkId: string,
  ): Promise<void> {
    return this.links.delete(await this.service.subject(caller, id), linkId);
  }
}
