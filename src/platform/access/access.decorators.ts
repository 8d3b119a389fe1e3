import { createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Request } from 'express';
import type { Caller, Role } from './caller.js';

export const NEEDED_ROLE = 'access:role';
export const PUBLIC = 'access:public';

/** Requires a key of at least this role. A route without `@Needs` and `@Public` requires ADMIN. */
export const Needs = (role: Role) => SetMetadata(NEEDED_ROLE, role);

/** Requires no key. */
export const Public = () => SetMetadata(PUBLIC, true);

/** The caller of an authenticated route. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { identity } = context.switchToHttp().getRequest<Request>();
  if (identity?.kind !== 'caller') throw new Error('@CurrentCaller on a public route');
  return identity.caller;
});
