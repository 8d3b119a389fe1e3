import { Controller, Get, Param, Query, Req, Res, type StreamableFile } from '@nestjs/common';
import type { Request, Response } from 'express';
import { renderAgentPage, renderReport } from '../../../libs/run-report/index.js';
import { hideShared, htmlPage } from '../../platform/http/responses/html-page.js';
import { rangedFile } from '../../platform/http/responses/ranged-file.js';
import { Operation, type OperationOptions } from '../../platform/openapi/operation.decorator.js';
import { AUDIO_CONTENT, PAGE_CONTENT } from '../../platform/openapi/page-content.js';
import { AgentPagesService } from './agent-pages.service.js';
import { AgentPageQuery, DEFAULT_DAYS } from './dto/agent-page.query.js';

const path = { token: 'Token of the link: the last part of its `url`' };
const shared = {
  tag: 'Runs',
  access: 'PUBLIC',
  response: { shape: 'file', message: 'The page', content: PAGE_CONTENT },
  errors: ['NOT_FOUND', 'TOO_MANY_REQUESTS', 'INTERNAL_SERVER_ERROR', 'SERVICE_UNAVAILABLE'],
} as const satisfies Partial<OperationOptions>;

@Controller('pages/:token')
export class SharedPagesController {
  constructor(private readonly service: AgentPagesService) {}

  @Operation({
    ...shared,
    summary: 'Get the page of a page link',
    description:
      'The page of the agent as HTML; the token is the credential. Returns 404 for a link that is unknown, expired or deleted, and once the agent was deleted.',
    path,
    query: true,
    errors: ['BAD_REQUEST', ...shared.errors],
  })
  @Get()
  async getSharedPage(
    @Param('token') token: string,
    @Query() { days = String(DEFAULT_DAYS) }: AgentPageQuery,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    hideShared(response);
    return htmlPage(renderAgentPage(await this.service.readShared(token, Number(days))), 'Page of an agent', response);
  }

  @Operation({
    ...shared,
    summary: 'Get the report of a run of a page link',
    description:
      'The report of a run of the agent that ended in the last 90 days, as an HTML page; with recordings only if the link includes them.',
    path: { ...path, runId: 'Identifier of the run' },
  })
  @Get('runs/:runId')
  async getSharedPageRun(
    @Param('token') token: string,
    @Param('runId') runId: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    hideShared(response);
    const { run, readCalls, readAudio } = await this.service.readSharedRun(token, runId);
    return htmlPage(renderReport(run, readCalls, readAudio), 'Report', response);
  }

  @Operation({
    ...shared,
    summary: 'Get the recording of a call of a page link',
    description:
      'The audio of a call in such a run as WAV, as from `GET /calls/{id}/recording`. 404 unless the link includes recordings. One `Range` is served.',
    path: { ...path, callId: 'Identifier of the call' },
    response: { shape: 'file', message: 'The file', hasRanges: true, content: AUDIO_CONTENT },
    errors: ['RANGE_NOT_SATISFIABLE', ...shared.errors],
  })
  @Get('calls/:callId/recording')
  async getSharedRecording(
    @Param('token') token: string,
    @Param('callId') callId: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile | undefined> {
    hideShared(response);
    const { id: recording, paths } = await this.service.readSharedRecording(token, callId);
    // Browsers play a file that is opened by its address as a page whose audio comes from the same address.
    response.setHeader('Content-Security-Policy', "default-src 'none'; media-src 'self'; frame-ancestors 'none'");
    const file = { path: paths.audio, type: 'audio/wav', tag: recording, name: 'Recording' };
    const sent = await rangedFile(file, request, response);
    // Without a key it is not stored either.
    hideShared(response);
    return sent;
  }
}
