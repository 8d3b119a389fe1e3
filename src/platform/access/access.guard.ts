import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { DomainError, forbidden } from '../errors/domain-error.js';
import { NEEDED_ROLE, PUBLIC } from './access.decorators.js';
import { covers, type Role } from './caller.js';

/** Lets a request pass that carries a valid key of a sufficient role; every route, unless it is `@Public`. */
@Injectable()
export class AccessGuard implements CanActivate {
  /** What each handler needs, so that its metadata is looked up once. */
  private readonly needs = new Map<unknown, Role | typeof PUBLIC>();

  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const needed = this.needs.get(context.getHandler()) ?? this.learn(context);
    if (needed === PUBLIC) return true;
    const http = context.switchToHttp();
    const { identity } = http.getRequest<Request>();
    if (identity?.kind === 'caller') {
      if (covers(identity.caller.role, needed)) return true;
      throw forbidden();
    }
    // The filter tells an unreachable database (503) from a fault of ours (500).
    if (identity?.kind === 'unknown') throw identity.cause;
    http.getResponse<Response>().setHeader('WWW-Authenticate', 'Bearer');
    throw new DomainError('UNAUTHORIZED', identity?.kind === 'invalid' ? 'Invalid API key' : undefined);
  }

  private learn(context: ExecutionContext): Role | typeof PUBLIC {
    const targets = [context.getHandler(), context.getClass()];
    const isPublic = this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC, targets) ?? false;
    const needed = isPublic
      ? PUBLIC
      : (this.reflector.getAllAndOverride<Role | undefined>(NEEDED_ROLE, targets) ?? 'ADMIN');
    this.needs.set(context.getHandler(), needed);
    return needed;
  }
}
