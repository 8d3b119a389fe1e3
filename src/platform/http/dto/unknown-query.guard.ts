import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { unknownFields } from '../../../../libs/json-input/index.js';
import { invalidFields, issueOf } from './issues.js';

const NO_QUERY = 'http:no-query';

/** The route takes no query parameters. */
export const TakesNoQuery = () => SetMetadata(NO_QUERY, true);

/**
 * Refuses query parameters on routes that take none. Where a route takes some, the validation pipe refuses the others;
 * pipes only run for parameters that a controller method asks for.
 */
@Injectable()
export class UnknownQueryGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  /** @throws DomainError BAD_REQUEST */
  canActivate(context: ExecutionContext): boolean {
    if (!this.reflector.get<boolean | undefined>(NO_QUERY, context.getHandler())) return true;
    const names = Object.keys(context.switchToHttp().getRequest<Request>().query);
    if (names.length > 0) throw invalidFields(unknownFields(names).map((violation) => issueOf(violation)));
    return true;
  }
}
