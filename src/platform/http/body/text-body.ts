import { createHash } from 'node:crypto';
import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DomainError, invalidInput } from '../../errors/domain-error.js';
import { readBody } from './read-body.js';

export const TEXT_BODY = 'http:text-body';

export interface TextBodyOptions {
  readonly mediaTypes: readonly string[];
  /** Maximum size in bytes, as sent and as decoded. */
  readonly limit: number;
}

/** An unparsed body: only the route knows how to report errors in its format. */
export interface TextBody {
  /** One of the media types that the route takes. */
  readonly mediaType: string;
  readonly text: string;
}

/** The route takes a text of these media types. */
export const TakesText = (options: TextBodyOptions) => SetMetadata(TEXT_BODY, options);

/** The body of a `@TakesText` route. Not Nest's `@Body`, whose parameter the validation pipe would validate by class. */
export const FileBody = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Request>().body as TextBody,
);

/** Refuses invalid bytes: replaced by U+FFFD, the text would not be stored as sent. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?utf-?8"?\s*(?:;|$))/i;

/**
 * Reads a body as text.
 * @param emptyIssue the issue of a request without a body
 * @throws DomainError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or BAD_REQUEST
 */
export async function readText(
  request: Request,
  response: Response,
  { mediaTypes, limit }: TextBodyOptions,
  emptyIssue = 'body must not be empty',
): Promise<TextBody> {
  const { headers } = request;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!hasBody) throw invalidInput(emptyIssue);
  const mediaType = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!mediaTypes.includes(mediaType)) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', undefined, [`body must be sent as ${mediaTypes.join(', ')}`]);
  }
  if (OTHER_CHARSET.test(headers['content-type'] ?? '')) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', undefined, ['body must be encoded in UTF-8']);
  }
  const raw = await readBody(request, limit, () => {
    if (/^100-continue$/i.test(headers.expect ?? '')) response.writeContinue();
  });
  // Only requests with an Idempotency-Key need the hash.
  if (headers['idempotency-key'] !== undefined) request.bodyHash = createHash('sha256').update(raw).digest('hex');
  try {
    return { mediaType, text: utf8.decode(raw) };
  } catch {
    throw invalidInput('body must be encoded in UTF-8');
  }
}
