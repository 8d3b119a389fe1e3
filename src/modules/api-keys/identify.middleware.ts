import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { ApiKeysService } from './api-keys.service.js';
import { LastUseService } from './last-use.service.js';

/** RFC 6750, section 2.1; the scheme's letter case does not matter (RFC 9110, section 11.1). */
const BEARER = /^bearer +(.*)$/i;

/** Finds out who calls before any guard runs: the rate limit counts by workspace, access by role. */
@Injectable()
export class IdentifyMiddleware implements NestMiddleware {
  constructor(
    private readonly apiKeys: ApiKeysService,
    private readonly lastUse: LastUseService,
  ) {}

  async use(request: Request, _response: Response, next: NextFunction): Promise<void> {
    const key = BEARER.exec(request.headers.authorization ?? '')?.[1]?.trim() ?? '';
    request.identity = key === '' ? { kind: 'missing' } : await this.apiKeys.identify(key);
    if (request.identity.kind === 'caller') this.lastUse.record(request.identity.caller.apiKeyId);
    next();
  }
}
