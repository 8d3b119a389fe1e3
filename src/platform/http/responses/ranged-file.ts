import { type FileHandle, open } from 'node:fs/promises';
import { StreamableFile } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError, notFound } from '../../errors/domain-error.js';
import { handleStreamErrors } from './streamed-file.js';

/** A complete file on disk that never changes. */
export interface StoredFile {
  readonly path: string;
  /** Media type. */
  readonly type: string;
  /** Entity tag without quotes: another file at this address has another one. */
  readonly tag: string;
  /** Name in the log. */
  readonly name: string;
  /** Called before bytes of it are sent; none are if it throws. */
  readonly beforeSending?: (part: Part & { readonly size: number }) => Promise<void>;
}

interface Part {
  readonly start: number;
  readonly end: number;
}

/**
 * Sends a file, or the part of it that `Range` names, or 304 if the client has it already (RFC 9110, sections 13 and 14).
 * Sets the status and the headers. HEAD gets the headers of GET.
 * @returns the body; undefined if there is none to send
 * @throws DomainError NOT_FOUND if the file does not exist; RANGE_NOT_SATISFIABLE for more than one part, or one outside of
 *   the file; and what `beforeSending` throws
 */
export async function rangedFile(
  { path, type, tag, name, beforeSending }: StoredFile,
  request: Request,
  response: Response,
): Promise<StreamableFile | undefined> {
  const handle = await openFile(path);
  let isPassedOn = false;
  try {
    const { size } = await handle.stat();
    const etag = `"${tag}"`;
    response.setHeader('Accept-Ranges', 'bytes');
    const isThere = isKnown(request, etag);
    const part = isThere ? undefined : partOf(request, response, { size, etag });
    const { start, end } = part ?? { start: 0, end: size - 1 };
    const hasBody = !isThere && request.method !== 'HEAD' && size > 0;
    if (hasBody) await beforeSending?.({ start, end, size });
    response.setHeader('ETag', etag);
    response.setHeader('Cache-Control', 'private, no-cache');
    if (isThere) {
      response.status(304);
      return undefined;
    }
    if (part) {
      response.status(206);
      response.setHeader('Content-Range', `bytes ${start}-${end}/${size}`);
    }
    response.setHeader('Content-Type', type);
    response.setHeader('Content-Length', end - start + 1);
    if (!hasBody) return undefined;
    isPassedOn = true;
    const file = new StreamableFile(handle.createReadStream({ start, end }), { type });
    return handleStreamErrors(file, name, response);
  } finally {
    // A stream closes it at its end.
    if (!isPassedOn) await handle.close();
  }
}

/**
 * Whether the client has this file, by a weak comparison of `If-None-Match`. `request.fresh` would ignore that header beside
 * `Cache-Control: no-cache`, which `fetch` adds to it.
 */
function isKnown({ headers }: Request, etag: string): boolean {
  const tags = headers['if-none-match']?.split(',') ?? [];
  return tags.some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw notFound();
    throw error;
  }
}

/** @returns the requested part; undefined for the whole file */
function partOf(
  request: Request,
  response: Response,
  { size, etag }: { size: number; etag: string },
): Part | undefined {
  const { range, 'if-range': ifRange } = request.headers;
  // Units other than bytes are ignored, as is the range if the client has parts of another file.
  if (request.method !== 'GET' || !range || !/^\s*bytes\s*=/i.test(range)) return undefined;
  if (ifRange !== undefined && ifRange !== etag) return undefined;
  // `request.range` refuses more last bytes than there are: they are the whole file (RFC 9110, section 14.1.2).
  const last = Number(/^\s*bytes\s*=\s*-(\d+)\s*$/i.exec(range)?.[1] ?? 0);
  if (last > size && size > 0) return { start: 0, end: size - 1 };
  const parts = request.range(size);
  if (typeof parts === 'object' && parts.length === 1) return parts[0];
  response.setHeader('Content-Range', `bytes */${size}`);
  throw new DomainError('RANGE_NOT_SATISFIABLE');
}
