import { Readable } from 'node:stream';
import { Controller, Get, Param, Res, StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { renderJunit, renderReport, REPORT_CSP } from '../../../../libs/run-report/index.js';
import { CurrentCaller } from '../../../platform/access/access.decorators.js';
import type { Caller } from '../../../platform/access/caller.js';
import { Operation } from '../../../platform/openapi/operation.decorator.js';
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
const REPORT_EXAMPLE = '<!doctype html><html lang="en"><head><title>Nightly</title></head><body>…</body></html>';

@Controller('runs/:id')
export class ResultsController {
  constructor(private readonly service: ResultsService) {}

  @Operation({
    summary: 'Read the results of a run as JUnit XML',
    description:
      'A suite for each group of evaluations (their first tag). A call that failed is a `failure`, one of which infrastructure did not work an `error`; one whose caller broke its role, and one that is not carried out, is `skipped`.',
    tag,
    access: 'VIEWER',
    path,
    answer: {
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
    return file(renderJunit(run, readCalls), { type: 'application/xml; charset=utf-8', disposition }, response);
  }

  @Operation({
    summary: 'Read the report of a run',
    description:
      'One page of HTML that needs nothing else: outcomes, flakiness, latencies, and transcripts with their evidence.',
    tag,
    access: 'VIEWER',
    path,
    answer: {
      shape: 'file',
      message: 'The page',
      content: { 'text/html': { schema: { type: 'string' }, example: REPORT_EXAMPLE } },
    },
  })
  @Get('report')
  async getReport(
    @CurrentCaller() caller: Caller,
    @Param('id') id: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<StreamableFile> {
    const { run, readCalls } = await this.service.read(caller, id);
    response.setHeader('Content-Security-Policy', REPORT_CSP);
    return file(renderReport(run, readCalls), { type: 'text/html; charset=utf-8' }, response);
  }
}

/** Sends the parts as they come: no report stands in memory as a whole. */
function file(
  parts: AsyncIterable<string>,
  options: { readonly type: string; readonly disposition?: string },
  response: Response,
): StreamableFile {
  return (
    new StreamableFile(Readable.from(parts, { objectMode: false }), options)
      // It has begun: it can only be cut off, so that nobody takes a part for the whole.
      .setErrorHandler((error) => {
        response.req.log.error({ err: error }, 'Report broke off');
        response.destroy();
      })
      .setErrorLogger(() => undefined)
  );
}
