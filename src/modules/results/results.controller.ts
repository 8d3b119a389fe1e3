import { Controller, Get, Param, Query, Req, Res, type StreamableFile } from '@nestjs/common';
import type { Request, Response } from 'express';
import { renderJunit, renderReport } from '../../../libs/run-report/index.js';
import { CurrentCaller } from '../../platform/access/access.decorators.js';
import type { Caller } from '../../platform/access/caller.js';
import { htmlPage } from '../../platform/http/responses/html-page.js';
import { streamedFile } from '../../platform/http/responses/streamed-file.js';
import { Operation } from '../../platform/openapi/operation.decorator.js';
import { PAGE_CONTENT } from '../../platform/openapi/page-content.js';
import { ReportQuery } from './dto/report.query.js';
import { ResultsService } from './results.service.js';

const tag = 'Runs';
const path = { id: 'Identifier of the run' };

const JUNIT_EXAMPLE = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="Nightly" tests="1" failures="0" errors="0" skipped="0">
  <testsuite name="booking" tests="1" failures="0" errors="0" skipped="0">
    <testcase classname="booking" name="Books a table for four" time="4.2"/>
  </testsuite>
</testsuites>
`;

@Controller('runs/:id')
export class ResultsController {
  constructor(private readonly service: ResultsService) {}

  @Operation({
    summary: 'Get the results of a run as JUnit XML',
    description:
      'One suite per group of evaluations (their first tag), and one with the case `gate`. Failed calls are reported as `failure`, invalid calls and infrastructure errors as `error`, cancelled and pending calls as `skipped`.',
    tag,
    access: 'VIEWER',
    path,
    response: {
      shape: 'file',
      message: 'The file',
      content: { 'application/xml': { schema: { type: 'string' }, example: JUNIT_EXAMPLE } },
    },
  })
  @Get('junit')
  async getJunit(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    const { run, readCalls } = await this.service.read(caller, id);
    const disposition = `attachment; filename="run-${run.id}.xml"`;
    const options = { type: 'application/xml; charset=utf-8', disposition, name: 'JUnit file' };
    return streamedFile(renderJunit(run, readCalls), options, response);
  }

  @Operation({
    summary: 'Get the report of a run',
    description:
      'One self-contained HTML page: outcomes, flakiness, latencies, and transcripts with their evidence; of production calls, VIEWER keys get figures only. Without `with` it is compared with the run of the gate, or else with the previous one, if there is one.',
    tag,
    access: 'VIEWER',
    path,
    query: true,
    errors: ['CONFLICT'],
    response: {
      shape: 'file',
      message: 'The page',
      content: PAGE_CONTENT,
    },
  })
  @Get('report')
  async getReport(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Query() { with: baseline }: ReportQuery,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    const reader = { ...caller, requestId: request.id };
    const { run, readCalls, readAudio } = await this.service.read(reader, id, { comparedWith: baseline ?? 'gate' });
    return htmlPage(renderReport(run, readCalls, readAudio), 'Report', response);
  }
}
