import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import { DomainError, expiredKey, forbidden, invalidKey } from '../errors/domain-error.js';
import { NEEDED_ROLE, PUBLIC } from './access.decorators.js';
import { covers, type Role } from './caller.js';

/** Lets a request pass that carries a valid key of a sufficient role; every route, unless it is `@Public`. */
@Injectable()
export class AccessGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  /** @throws DomainError UNAUTHORIZED or FORBIDDEN; the cause when the key could not be looked up */
  canActivate(context: ExecutionContext): boolean {
    const targets = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC, targets)) return true;
    const needed = this.reflector.getAllAndOverride<Role | undefined>(NEEDED_ROLE, targets) ?? 'ADMIN';
    const { identity } = context.switchToHttp().getRequest<Request>();
    if (identity?.kind === 'caller') {
      if (covers(identity.caller.role, needed)) return true;
      throw forbidden();
    }
    // The filter distinguishes an unreachable database (503) from a fault of the service (500).
    if (identity?.kind === 'unknown') throw identity.cause;
    if (identity?.kind === 'expired') throw expiredKey();
    throw identity?.kind === 'invalid' ? invalidKey() : new DomainError('UNAUTHORIZED');
  }
}
