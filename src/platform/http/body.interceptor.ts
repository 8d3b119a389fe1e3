import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { Observable } from 'rxjs';
import { invalidInput } from '../errors/domain-error.js';
import { jsonFault } from './json-fault.js';
import { readText, TEXT_BODY, type TextBodyOptions } from './text-body.js';

const BODY = 'http:body';
const JSON_OBJECT: TextBodyOptions = { mediaTypes: ['application/json'], limit: 1024 * 1024 };
const NO_OBJECT = 'body must be a JSON object';

/** The route takes a JSON object of at most 1 MiB. */
export const TakesJson = () => SetMetadata(BODY, true);

/**
 * Reads the body after the guards, so that a request without a key or over its limit costs no parsing, and so that
 * a body that does not parse is still counted.
 */
@Injectable()
export class BodyInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const handler = context.getHandler();
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const file = this.reflector.get<TextBodyOptions | undefined>(TEXT_BODY, handler);
    if (file) {
      request.body = await readText(request, http.getResponse<Response>(), file);
    } else if (this.reflector.get<boolean | undefined>(BODY, handler)) {
      const { text } = await readText(request, http.getResponse<Response>(), JSON_OBJECT, NO_OBJECT);
      request.body = parseObject(text);
    }
    return next.handle();
  }
}

function parseObject(text: string): object {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw invalidInput('body must be valid JSON');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalidInput(NO_OBJECT);
  const fault = jsonFault(body);
  if (fault) throw invalidInput(fault);
  return body;
}
