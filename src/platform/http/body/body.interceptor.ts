import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { ModuleRef, Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { from, lastValueFrom, mergeMap, type Observable } from 'rxjs';
import { closeSignal } from '../responses/close-signal.js';
import type { BodyGate } from './body-gate.js';
import { FORM_BODY, type FormGate, type FormOptions, readForm } from './form-body.js';
import { JSON_BODY, readJson } from './json-body.js';
import { NO_BODY, refuseBody } from './no-body.js';
import { readRaw, TEXT_BODY, type TextBodyOptions } from './text-body.js';
import { decodeUtf8 } from './utf8.js';

/**
 * Reads the request body of routes that take one, and refuses that of others. An interceptor, as Nest's own
 * `FileInterceptor` is, and not the usual middleware: interceptors run after the guards, so a request without a key or
 * over its rate limit costs no parsing, and a request whose body does not parse is still counted. Middleware and guards
 * see no `request.body`.
 */
@Injectable()
export class BodyInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly modules: ModuleRef,
  ) {}

  /** @throws DomainError BAD_REQUEST, PAYLOAD_TOO_LARGE or UNSUPPORTED_MEDIA_TYPE */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> | Promise<Observable<unknown>> {
    const handler = context.getHandler();
    const text = this.reflector.get<TextBodyOptions | undefined>(TEXT_BODY, handler);
    if (text) return this.readText(context, text, next);
    const form = this.reflector.get<FormOptions | undefined>(FORM_BODY, handler);
    if (form) return this.readForm(context, form, next);
    const isJson = this.reflector.get<boolean | undefined>(JSON_BODY, handler) ?? false;
    if (isJson) return handleJson(context, next);
    const [request, response] = exchangeOf(context);
    const takesNone = this.reflector.get<boolean | undefined>(NO_BODY, handler) ?? false;
    // What a GET has for a body has no meaning (RFC 9110, 9.3.1), and some clients send one.
    if (!takesNone || request.method === 'GET' || request.method === 'HEAD') return next.handle();
    return from(refuseBody(request, response)).pipe(mergeMap(() => next.handle()));
  }

  private readForm(context: ExecutionContext, options: FormOptions, next: CallHandler) {
    const [request, response] = exchangeOf(context);
    const gate = this.modules.get<FormGate>(options.gate, { strict: false });
    return from(
      gate.pass({
        request,
        read: (how) => readForm(request, response, options, how),
        handle: handlerOf(request, next),
        closed: closeSignal(response),
      }),
    );
  }

  private async readText(context: ExecutionContext, options: TextBodyOptions, next: CallHandler) {
    const [request, response] = exchangeOf(context);
    if (options.gate) {
      const gate = this.modules.get<BodyGate>(options.gate, { strict: false });
      const read = (signal: AbortSignal) => readRaw(request, response, options, { signal });
      return from(gate.pass({ request, read, handle: handlerOf(request, next), closed: closeSignal(response) }));
    }
    const { mediaType, bytes } = await readRaw(request, response, options);
    request.body = { mediaType, text: decodeUtf8(bytes) };
    return next.handle();
  }
}

/** Runs the handler of a request with a body. */
const handlerOf =
  (request: Request, next: CallHandler) =>
  (body: unknown): Promise<unknown> => {
    request.body = body;
    return lastValueFrom(next.handle());
  };

async function handleJson(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
  const [request, response] = exchangeOf(context);
  request.body = await readJson(request, response);
  return next.handle();
}

function exchangeOf(context: ExecutionContext): [Request, Response] {
  const http = context.switchToHttp();
  return [http.getRequest<Request>(), http.getResponse<Response>()];
}
