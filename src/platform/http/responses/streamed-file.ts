import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import { isDatabaseUnavailable } from '../../database/failures.js';

export interface StreamedFileOptions {
  /** Its media type. */
  readonly type: string;
  /** Value of Content-Disposition. */
  readonly disposition?: string;
  /** What the log calls it. */
  readonly name: string;
}

/** Sends parts as they come: the whole of it never stands in memory. */
export function streamedFile(
  parts: AsyncIterable<string> | Iterable<string>,
  { name, ...options }: StreamedFileOptions,
  response: Response,
): StreamableFile {
  // No object mode: parts are counted in bytes, so that no more is read than the client takes.
  const stream = Readable.from(parts, { objectMode: false });
  return (
    new StreamableFile(stream, options)
      // It has begun: it can only be cut off, so that nobody takes a part for the whole.
      .setErrorHandler((error) => {
        // Closed already: the client has gone, and the error only says so.
        const level = isDatabaseUnavailable(error) ? 'warn' : 'error';
        if (!response.closed) response.req.log[level]({ err: error }, `${name} broke off`);
        response.destroy();
      })
      .setErrorLogger(() => undefined)
  );
}
