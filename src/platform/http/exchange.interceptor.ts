import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { from, lastValueFrom, map, type Observable } from 'rxjs';
import { PUBLIC } from '../access/access.decorators.js';
import { Idempotency } from '../idempotency/idempotency.js';
import { ENVELOPE, type Envelope, wrap } from './envelope.js';
import { JSON_BODY, JSON_OBJECT, NO_OBJECT, parseObject } from './json-body.js';
import { NO_QUERY, refuseQuery } from './no-query.js';
import { readText, TEXT_BODY, type TextBodyOptions } from './text-body.js';

/** What the decorators of a route say of it. */
interface Route {
  readonly isPublic: boolean;
  readonly file: TextBodyOptions | undefined;
  readonly takesJson: boolean;
  readonly takesNoQuery: boolean;
  readonly envelope: Envelope | undefined;
}

/**
 * Between the guards and the validation: reads the body, so that a request without a key or over its limit costs no
 * parsing, and one whose body does not parse is still counted; answers a retry; and wraps the result. One interceptor
 * for all of it, because Nest makes several promises and observables for each.
 */
@Injectable()
export class ExchangeInterceptor implements NestInterceptor {
  /** By handler: looking up metadata for every request costs more than what most of it asks for. */
  private readonly routes = new Map<unknown, Route>();

  constructor(
    private readonly reflector: Reflector,
    private readonly idempotency: Idempotency,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> | Promise<Observable<unknown>> {
    const route = this.routes.get(context.getHandler()) ?? this.learn(context);
    const http = context.switchToHttp();
    const [request, response] = [http.getRequest<Request>(), http.getResponse<Response>()];
    if (!route.file && !route.takesJson) return this.proceed(route, request, response, next);
    return readInto(request, response, route).then(() => this.proceed(route, request, response, next));
  }

  private proceed(route: Route, request: Request, response: Response, next: CallHandler): Observable<unknown> {
    const { envelope } = route;
    const answer = () => {
      if (route.takesNoQuery) refuseQuery(request);
      return envelope ? next.handle().pipe(map((result) => wrap(envelope, result, response))) : next.handle();
    };
    // An unknown path is public, and is not found whatever its headers say.
    if (route.isPublic || !this.idempotency.concerns(request)) return answer();
    return from(this.idempotency.once(request, response, () => lastValueFrom(answer())));
  }

  private learn(context: ExecutionContext): Route {
    const handler = context.getHandler();
    const route: Route = {
      isPublic: this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC, [handler, context.getClass()]) ?? false,
      file: this.reflector.get<TextBodyOptions | undefined>(TEXT_BODY, handler),
      takesJson: this.reflector.get<boolean | undefined>(JSON_BODY, handler) ?? false,
      takesNoQuery: this.reflector.get<boolean | undefined>(NO_QUERY, handler) ?? false,
      envelope: this.reflector.get<Envelope | undefined>(ENVELOPE, handler),
    };
    this.routes.set(handler, route);
    return route;
  }
}

async function readInto(request: Request, response: Response, { file }: Route): Promise<void> {
  if (file) request.body = await readText(request, response, file);
  else request.body = parseObject((await readText(request, response, JSON_OBJECT, NO_OBJECT)).text);
}
