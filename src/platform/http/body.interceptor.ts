import { createHash } from 'node:crypto';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import express, { type Request, type Response } from 'express';
import type { Observable } from 'rxjs';
import { DomainError, invalidInput } from '../errors/domain-error.js';
import { jsonFault } from './json-fault.js';

const BODY = 'http:body';
const MEBIBYTE = 1024 * 1024;

/** The route takes a JSON object of at most 1 MiB. */
export const TakesJson = () => SetMetadata(BODY, true);

const readJson = express.json({
  limit: MEBIBYTE,
  // Own wording for anything but an object, instead of the parser's about its first character.
  strict: false,
  type: 'application/json',
  verify: (request: Request, _response, raw) => {
    // Only an idempotent request pays for the fingerprint of its body.
    if (request.headers['idempotency-key'] !== undefined) request.bodyHash = createHash('sha256').update(raw).digest('hex');
  },
});

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
      await readObject(http.getRequest<Request>(), http.getResponse<Response>());
    }
    return next.handle();
  }
}

async function readObject(request: Request, response: Response): Promise<void> {
  const hasBody = request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (hasBody && !request.is('application/json')) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE', undefined, ['body must be sent as application/json']);
  }
  await new Promise<void>((resolve, reject) => {
    readJson(request, response, (error?: unknown) => (error ? reject(bodyError(error)) : resolve()));
  });
  const body: unknown = request.body;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidInput('body must be a JSON object');
  }
  const fault = jsonFault(body);
  if (fault) throw invalidInput(fault);
}

/** What the body parser's error means to the client (its `type` is the documented part of it). */
function bodyError(error: unknown): unknown {
  const { type, status } = error as { type?: string; status?: number };
  switch (type) {
    case 'entity.parse.failed':
      return invalidInput('body must be valid JSON');
    case 'entity.too.large':
      return new DomainError('PAYLOAD_TOO_LARGE', undefined, ['body must be at most 1 MiB']);
    case 'charset.unsupported':
      return new DomainError('UNSUPPORTED_MEDIA_TYPE', undefined, ['body must be encoded in UTF-8']);
    case 'encoding.unsupported':
      return new DomainError('UNSUPPORTED_MEDIA_TYPE', undefined, ['Content-Encoding must be gzip, deflate, br or absent']);
    case 'request.aborted':
    case 'request.size.invalid':
      return invalidInput('body did not arrive in full');
    default:
      // What is left are streams that do not decompress (400); anything else is ours.
      return status !== undefined && status < 500 ? invalidInput('body cannot be read') : error;
  }
}
