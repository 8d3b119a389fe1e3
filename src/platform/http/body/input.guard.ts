import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { ENVELOPE, type Envelope } from '../responses/envelope.js';
import { JSON_BODY, JSON_OBJECT, NO_OBJECT, parseObject } from './json-body.js';
import { NO_QUERY, refuseQuery } from '../dto/no-query.js';
import { readText, TEXT_BODY, type TextBodyOptions } from './text-body.js';

/** What the decorators of a route say of what goes in and out. */
interface Route {
  readonly file: TextBodyOptions | undefined;
  readonly takesJson: boolean;
  readonly takesNoQuery: boolean;
  readonly envelope: Envelope | undefined;
}

/**
 * The last guard, between access and validation: reads the body, so that a request without a key or over its limit
 * costs no parsing, and one whose body does not parse is still counted; and notes what the result is wrapped in. Not an
 * interceptor, of which Nest makes a dozen promises and observables for each request.
 */
@Injectable()
export class InputGuard implements CanActivate {
  /** By handler: looking up metadata for every request costs more than what most of it asks for. */
  private readonly routes = new Map<unknown, Route>();

  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const handler = context.getHandler();
    const route = this.routes.get(handler) ?? this.learn(handler);
    const http = context.switchToHttp();
    const [request, response] = [http.getRequest<Request>(), http.getResponse<Response>()];
    if (route.envelope) request.envelope = route.envelope;
    if (route.file || route.takesJson) return read(request, response, route);
    if (route.takesNoQuery) refuseQuery(request);
    return true;
  }

  private learn(handler: ReturnType<ExecutionContext['getHandler']>): Route {
    const route: Route = {
      file: this.reflector.get<TextBodyOptions | undefined>(TEXT_BODY, handler),
      takesJson: this.reflector.get<boolean | undefined>(JSON_BODY, handler) ?? false,
      takesNoQuery: this.reflector.get<boolean | undefined>(NO_QUERY, handler) ?? false,
      envelope: this.reflector.get<Envelope | undefined>(ENVELOPE, handler),
    };
    this.routes.set(handler, route);
    return route;
  }
}

async function read(request: Request, response: Response, { file, takesNoQuery }: Route): Promise<true> {
  if (file) request.body = await readText(request, response, file);
  else request.body = parseObject((await readText(request, response, JSON_OBJECT, NO_OBJECT)).text);
  if (takesNoQuery) refuseQuery(request);
  return true;
}
