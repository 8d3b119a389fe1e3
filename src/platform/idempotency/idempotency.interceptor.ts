import { createHash } from 'node:crypto';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { lastValueFrom, of, type Observable } from 'rxjs';
import { PUBLIC } from '../access/access.decorators.js';
import { Database } from '../database/database.js';
import { KeyRing } from '../encryption/key-ring.js';
import { conflict, DomainError, invalidInput } from '../errors/domain-error.js';
import { IdempotencyEntity } from './idempotency.entity.js';

/** How long a response is kept, in milliseconds (decisions). */
const KEPT_MS = 24 * 60 * 60 * 1000;
const MAX_KEY_LENGTH = 255;

/** Each stored response takes some expired ones with it, so that the table stays as small as a day's use. */
const REMOVE_EXPIRED = `DELETE FROM idempotency_keys WHERE id IN (
  SELECT id FROM idempotency_keys WHERE expires_at < now() ORDER BY expires_at LIMIT 10 FOR UPDATE SKIP LOCKED)`;

/** What the ciphertext of a stored response is bound to. */
export const responsePurpose = (id: string) => `idempotency.response:${id}`;

/**
 * `Idempotency-Key` on POST (draft-ietf-httpapi-idempotency-key-header): the response is stored in the transaction of
 * the write itself, so that a retry finds either both or neither. A request that failed is not stored: it changed
 * nothing, and its retry is judged anew.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly database: Database,
    private readonly keyRing: KeyRing,
    private readonly reflector: Reflector,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const key = request.headers['idempotency-key'];
    // An unknown path is public, and is not found whatever its headers say.
    if (this.reflector.getAllAndOverride<boolean | undefined>(PUBLIC, [context.getHandler(), context.getClass()]))
      return next.handle();
    if (key === undefined || request.method !== 'POST' || request.identity?.kind !== 'caller') return next.handle();
    if (typeof key !== 'string' || key.length === 0 || key.length > MAX_KEY_LENGTH) {
      throw invalidInput(`Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters`);
    }
    const { workspaceId } = request.identity.caller;
    const id = sha256(JSON.stringify([workspaceId, request.method, request.path, key]));
    // What else decides what the request does: `?dryRun=true` is another request than the same without it.
    const rest = [request.originalUrl.split('?')[1] ?? '', request.headers['content-type'] ?? ''];
    const fingerprint = sha256(JSON.stringify([request.bodyHash ?? '', ...rest]));
    return of(await this.once(id, fingerprint, http.getResponse<Response>(), next));
  }

  private once(id: string, bodyHash: string, response: Response, next: CallHandler): Promise<unknown> {
    return this.database.transaction(async (manager) => {
      const [lock] = await manager.query<{ taken: boolean }[]>(
        'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS taken',
        [id],
      );
      if (!lock?.taken) throw conflict('A request with this Idempotency-Key is still in progress');

      const stored = await manager.findOneBy(IdempotencyEntity, { id });
      if (stored && stored.expiresAt > new Date()) {
        if (stored.bodyHash !== bodyHash) {
          throw new DomainError('UNPROCESSABLE_CONTENT', undefined, ['Idempotency-Key was used with another body']);
        }
        response.status(stored.status).setHeader('Idempotent-Replayed', 'true');
        return JSON.parse(this.keyRing.decrypt(stored.response, responsePurpose(id))) as unknown;
      }

      const body: unknown = await lastValueFrom(next.handle());
      await manager.save(IdempotencyEntity, {
        id,
        bodyHash,
        status: response.statusCode,
        response: this.keyRing.encrypt(JSON.stringify(body), responsePurpose(id)),
        expiresAt: new Date(Date.now() + KEPT_MS),
      });
      await manager.query(REMOVE_EXPIRED);
      return body;
    });
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
