import type { StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { renderReport, REPORT_CSP } from '../../../libs/run-report/index.js';
import { streamedFile } from '../../platform/http/responses/streamed-file.js';
import type { RunResults } from './results.service.js';
import type { FileContent } from '../../platform/openapi/operation.decorator.js';

const EXAMPLE = '<!doctype html><html lang="en"><head><title>Nightly</title></head><body>…</body></html>';

/** The page in the OpenAPI document. */
export const REPORT_CONTENT: FileContent = { 'text/html': { schema: { type: 'string' }, example: EXAMPLE } };

/** The report of a run as a response, with its Content-Security-Policy. */
export function reportPage(
  { run, readCalls, readAudio }: Pick<RunResults, 'run' | 'readCalls'> & Partial<Pick<RunResults, 'readAudio'>>,
  response: Response,
): StreamableFile {
  response.setHeader('Content-Security-Policy', REPORT_CSP);
  return streamedFile(
    renderReport(run, readCalls, readAudio),
    { type: 'text/html; charset=utf-8', name: 'Report' },
    response,
  );
}
