import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Identity } from '../../platform/access/caller.js';
import { ApiKeysService } from './api-keys.service.js';
import { LastUseService } from './last-use.service.js';

/** RFC 6750, section 2.1; the scheme is case-insensitive (RFC 9110, section 11.1). */
const BEARER = /^bearer +(.*)$/i;

/** Identifies the caller before any guard runs, because rate limits need the workspace and access control the role. */
@Injectable()
export class Identification {
  constructor(
    private readonly apiKeys: ApiKeysService,
    private readonly lastUse: LastUseService,
  ) {}

  /** Sets the request's identity. @returns a promise only if the key has to be looked up; it never rejects */
  identify(request: Request): void | Promise<void> {
    const key = BEARER.exec(request.headers.authorization ?? '')?.[1]?.trim() ?? '';
    const identity = key === '' ? { kind: 'missing' as const } : this.apiKeys.identify(key);
    if (!(identity instanceof Promise)) return this.setIdentity(request, identity);
    return identity.then((found) => this.setIdentity(request, found));
  }

  private setIdentity(request: Request, identity: Identity): void {
    request.identity = identity;
    if (identity.kind === 'caller') this.lastUse.record(identity.caller.apiKeyId);
  }
}
