import { createHash } from 'node:crypto';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { DomainError, invalidInput } from '../errors/domain-error.js';
import { jsonFault } from './json-fault.js';
import { readBody } from './read-body.js';

const BODY = 'http:body';
const MEBIBYTE = 1024 * 1024;

/** The route takes a JSON object of at most 1 MiB. */
export const TakesJson = () => SetMetadata(BODY, true);

/** Invalid bytes are refused: replaced by U+FFFD, the text would not be stored as it was sent. */
const utf8 = new TextDecoder('utf-8', { fatal: true });
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?utf-?8"?\s*(?:;|$))/i;

/**
 * Reads the body after the guards, so that a request without a key or over its limit costs no parsing, and so that
 * a body that does not parse is still counted.
 */
@Injectable()
export class BodyInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    if (this.reflector.get<boolean | undefined>(BODY, context.getHandler())) {
      const http = context.switchToHttp();
      const request = http.getRequest<Request>();
      request.body = await readObject(request, http.getResponse<Response>());
    }
    return next.handle();
  }
}

async function readObject(request: Request, response: Response): Promise<object> {
  const { headers } = request;
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  if (!hasBody) throw invalidInput('body must be a JSON object');
  if (!request.is('application/json')) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', undefined, ['body must be sent as application/json']);
  }
  if (OTHER_CHARSET.test(headers['content-type'] ?? '')) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', undefined, ['body must be encoded in UTF-8']);
  }
  const raw = await readBody(request, MEBIBYTE, () => {
    if (/^100-continue$/i.test(headers.expect ?? '')) response.writeContinue();
  });
  // Only an idempotent request pays for the fingerprint of its body.
  if (headers['idempotency-key'] !== undefined) request.bodyHash = createHash('sha256').update(raw).digest('hex');

  const body = parse(raw);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidInput('body must be a JSON object');
  }
  const fault = jsonFault(body);
  if (fault) throw invalidInput(fault);
  return body;
}

function parse(raw: Buffer): unknown {
  let text: string;
  try {
    text = utf8.decode(raw);
  } catch {
    throw invalidInput('body must be encoded in UTF-8');
  }
  try {
    return JSON.parse(text);
  } catch {
    throw invalidInput('body must be valid JSON');
  }
}
