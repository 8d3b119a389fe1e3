import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { isDatabaseUnavailable } from '../../database/failures.js';
import { DomainError } from '../../errors/domain-error.js';

export interface StreamedFileOptions {
  /** Media type. */
  readonly type: string;
  /** Value of Content-Disposition. */
  readonly disposition?: string;
  /** Name in the log. */
  readonly name: string;
}

/** Streams the parts as they arrive, so that the file is never in memory as a whole. */
export function streamedFile(
  parts: AsyncIterable<string> | Iterable<string>,
  { name, ...options }: StreamedFileOptions,
  response: Response,
): StreamableFile {
  // Without object mode, backpressure counts bytes and not parts.
  const stream = Readable.from(parts, { objectMode: false });
  return handleStreamErrors(new StreamableFile(stream, options), name, response);
}

/** Cuts the response off when its file cannot be read to the end, so that the client does not take it for complete. */
export function handleStreamErrors(file: StreamableFile, name: string, response: Response): StreamableFile {
  return file
    .setErrorHandler((error) => {
      // If it is closed, the client has disconnected, and the error only reports that.
      const level = isDatabaseUnavailable(error) || error instanceof DomainError ? 'warn' : 'error';
      if (!response.closed) response.req.log[level]({ err: error }, `${name} was interrupted`);
      response.destroy();
    })
    .setErrorLogger(() => undefined);
}
