import { Body, Controller, Delete, Get, Param, Post, Query, Res, type StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { renderAgentPage } from '../../../libs/run-report/index.js';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import type { Page } from '../../platform/database/page.js';
import { PageQuery } from '../../platform/http/dto/pagination.js';
import { htmlPage } from '../../platform/http/responses/html-page.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { PAGE_CONTENT } from '../../platform/openapi/page-content.js';
import { CreateReportLinkRequest, ReportLink, ReportLinkWithUrl } from '../results/dto/report-link.dto.js';
import { LinksService } from '../results/report-links/links.service.js';
import { AgentPagesService } from './agent-pages.service.js';
import { AgentPageQuery, DEFAULT_DAYS } from './dto/agent-page.query.js';

const tag = 'Runs';
const path = { id: 'Identifier of the agent' };

@Controller('agents/:id')
export class AgentPagesController {
  constructor(
    private readonly service: AgentPagesService,
    private readonly links: LinksService,
  ) {}

  @Operation({
    summary: 'Get the page of an agent',
    description:
      'One self-contained HTML page about the completed and failed runs of the last days: whether the agent is green, since which run each case is red, pass rates, latencies, the newest 30 runs case by case, and the calls of real callers: figures, and for EDITOR and ADMIN keys the failed ones.',
    tag,
    access: 'VIEWER',
    path,
    query: true,
    response: { shape: 'file', message: 'The page', content: PAGE_CONTENT },
  })
  @Get('page')
  async getAgentPage(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() { days = String(DEFAULT_DAYS) }: AgentPageQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    return htmlPage(renderAgentPage(await this.service.read(caller, id, Number(days))), 'Page of an agent', response);
  }

  @Operation({
    summary: 'Create a page link',
    description:
      'Everyone with the link can read the page of the agent, and the reports of its runs of the last 90 days, without an API key, until the link expires or is deleted. Its address is only shown in this response. Returns 409 if the agent has 20 links that have not expired.',
    tag,
    access: 'EDITOR',
    path,
    body: { type: CreateReportLinkRequest, example: { expiresInHours: 72 } },
    response: {
      shape: 'data',
      type: ReportLinkWithUrl,
      showsSecretOnce: true,
      message: 'Page link created successfully',
      status: 201,
    },
    errors: ['CONFLICT'],
  })
  @Post('page-links')
  async createPageLink(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Body() body: CreateReportLinkRequest,
  ): Promise<ReportLinkWithUrl> {
    return this.links.create(await this.service.subject(caller, id), caller, body);
  }

  @Operation({
    summary: 'List the page links of an agent',
    description: 'The links that have not expired, newest first, without their addresses.',
    tag,
    access: 'EDITOR',
    path,
    query: true,
    response: { shape: 'page', type: ReportLink, message: 'Page links retrieved successfully' },
  })
  @Get('page-links')
  async listPageLinks(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() query: PageQuery,
  ): Promise<Page<ReportLink>> {
    return this.links.list(await this.service.subject(caller, id), query);
  }

  @Operation({
    summary: 'Delete a page link',
    description: 'Its address returns 404 from then on, and so do the reports below it.',
    tag,
    access: 'EDITOR',
    path: { ...path, linkId: 'Identifier of the link' },
    response: { shape: 'message', message: 'Page link deleted successfully' },
  })
  @Delete('page-links/:linkId')
  async deletePageLink(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Param('linkId') linkId: string,
  ): Promise<void> {
    return this.links.delete(await this.service.subject(caller, id), linkId);
  }
}
