import type { StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { REPORT_CSP } from '../../../../libs/run-report/index.js';
import { streamedFile } from './streamed-file.js';

/** Headers of what a link opens. Set them before the link is looked up, so that a 404 is not stored either. */
export function hideShared(response: Response): void {
  response
    .setHeader('Cache-Control', 'no-store')
    .setHeader('Referrer-Policy', 'no-referrer')
    .setHeader('X-Robots-Tag', 'noindex');
}

/**
 * A page of libs/run-report as a response, with its Content-Security-Policy.
 * @param name in the log
 */
export function htmlPage(
  parts: AsyncIterable<string> | Iterable<string>,
  name: string,
  response: Response,
): StreamableFile {
  response.setHeader('Content-Security-Policy', REPORT_CSP);
  return streamedFile(parts, { type: 'text/html; charset=utf-8', name }, response);
}
