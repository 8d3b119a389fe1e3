import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { JSON_BODY, readJson } from './json-body.js';
import { readText, TEXT_BODY, type TextBodyOptions } from './text-body.js';

/**
 * Reads the request body of routes that take one. An interceptor, as Nest's own `FileInterceptor` is, and not the usual
 * middleware: interceptors run after the guards, so a request without a key or over its rate limit costs no parsing,
 * and a request whose body does not parse is still counted. Middleware and guards see no `request.body`.
 */
@Injectable()
export class BodyInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  /** @throws DomainError BAD_REQUEST, PAYLOAD_TOO_LARGE or UNSUPPORTED_MEDIA_TYPE */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> | Promise<Observable<unknown>> {
    const handler = context.getHandler();
    const text = this.reflector.get<TextBodyOptions | undefined>(TEXT_BODY, handler);
    const isJson = this.reflector.get<boolean | undefined>(JSON_BODY, handler) ?? false;
    return text || isJson ? read(context, text, next) : next.handle();
  }
}

async function read(
  context: ExecutionContext,
  text: TextBodyOptions | undefined,
  next: CallHandler,
): Promise<Observable<unknown>> {
  const http = context.switchToHttp();
  const [request, response] = [http.getRequest<Request>(), http.getResponse<Response>()];
  request.body = await (text ? readText(request, response, text) : readJson(request, response));
  return next.handle();
}
