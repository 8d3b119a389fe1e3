import { webcrypto } from 'node:crypto';
import { createParamDecorator, type ExecutionContext, SetMetadata, type Type } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError, invalidInput } from '../../errors/domain-error.js';
import type { BodyGate, RawBody } from './body-gate.js';
import { readBody } from './read-body.js';

export const TEXT_BODY = 'http:text-body';

export interface TextBodyOptions {
  /** Maximum size in bytes, as sent and as decoded, by accepted media type. */
  readonly limits: Readonly<Record<string, number>>;
  /** Decides when the body is read and what the handler gets instead of its text. */
  readonly gate?: Type<BodyGate>;
}

/** The route takes a text of these media types. */
export const TakesText = (options: TextBodyOptions) => SetMetadata(TEXT_BODY, options);

/** The body of a `@TakesText` route. Not Nest's `@Body`, whose parameter the validation pipe would validate by class. */
export const FileBody = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Request>().body as unknown,
);

const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?utf-?8"?\s*(?:;|$))/i;

export const hasBody = ({ headers }: Request): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/** Asks a client that waits for it to send its body. */
export function sendContinue({ headers }: Request, response: Response): void {
  if (/^100-continue$/i.test(headers.expect ?? '')) response.writeContinue();
}

/**
 * Reads a body whose media type and charset the route accepts.
 * @param emptyIssue the issue of a request without a body
 * @param signal fires when the body has taken too long to arrive
 * @throws DomainError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or BAD_REQUEST
 */
export async function readRaw(
  request: Request,
  response: Response,
  { limits }: TextBodyOptions,
  { emptyIssue = 'body must not be empty', signal }: { emptyIssue?: string; signal?: AbortSignal } = {},
): Promise<RawBody> {
  const { headers } = request;
  if (!hasBody(request)) throw invalidInput(emptyIssue);
  const mediaType = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const limit = new Map(Object.entries(limits)).get(mediaType);
  if (limit === undefined) {
    const accepted = Object.keys(limits).join(', ');
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', undefined, [`body must be sent as ${accepted}`]);
  }
  if (OTHER_CHARSET.test(headers['content-type'] ?? '')) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', undefined, ['body must be encoded in UTF-8']);
  }
  const bytes = await readBody(request, limit, () => sendContinue(request, response), signal);
  // Only requests with an Idempotency-Key need the hash.
  if (headers['idempotency-key'] !== undefined) request.bodyHash = await sha256(bytes);
  return { mediaType, bytes };
}

/** Not in this thread: of 10 MiB it would take 20 ms. */
const sha256 = async (bytes: Buffer): Promise<string> =>
  Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex');
