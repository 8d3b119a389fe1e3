import { createHash } from 'node:crypto';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import type { Caller } from '../access/caller.js';
import { Database } from '../database/database.js';
import { KeyRing } from '../encryption/key-ring.js';
import { conflict, DomainError, invalidInput } from '../errors/domain-error.js';
import type { IdempotencyEntity } from './idempotency.entity.js';
import { IdempotencyRepository } from './idempotency.repository.js';
import { subjectOf } from './response-subject.js';

/** How long a response is kept, in milliseconds. */
const KEPT_MS = 24 * 60 * 60 * 1000;
const MAX_KEY_LENGTH = 255;

const IDEMPOTENT = 'idempotency:enabled';

export interface IdempotentOptions {
  /** The response shows a secret that cannot be read again, so it is replayed only to the API key that received it. */
  readonly showsSecretOnce: boolean;
}

/** The route honours `Idempotency-Key` when its method is POST; the other methods are idempotent already. */
export const Idempotent = (options: IdempotentOptions) => SetMetadata(IDEMPOTENT, options);

/** A request with an `Idempotency-Key`. */
interface KeyedRequest {
  /** Digest of workspace, method, path and key. */
  readonly id: string;
  readonly path: string;
  readonly bodyHash: string;
  readonly apiKeyId: string;
  readonly showsSecretOnce: boolean;
}

/** The error of a request whose `Idempotency-Key` belongs to a request that has not ended. */
export const stillInProgress = () => conflict('A request with this Idempotency-Key is still in progress');

/** Context that the ciphertext of a stored response is bound to. */
export const responsePurpose = (id: string) => `idempotency.response:${id}`;

/**
 * `Idempotency-Key` on POST (draft-ietf-httpapi-idempotency-key-header): the response is stored in the transaction of
 * the write itself, so that a retry finds either both or neither. A failed request is not stored: it changed nothing,
 * and its retry is executed like a new request.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly database: Database,
    private readonly repository: IdempotencyRepository,
    private readonly keyRing: KeyRing,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const [request, response] = [http.getRequest<Request>(), http.getResponse<Response>()];
    const options = this.reflector.get<IdempotentOptions | undefined>(IDEMPOTENT, context.getHandler());
    // Anonymous clients would share their keys.
    const caller = request.identity?.kind === 'caller' ? request.identity.caller : undefined;
    if (request.method !== 'POST' || request.headers['idempotency-key'] === undefined || !caller || !options) {
      return next.handle();
    }
    return from(this.once(request, response, caller, options, () => lastValueFrom(next.handle())));
  }

  /**
   * Runs `work`, or returns the stored response of the earlier request.
   * @throws DomainError BAD_REQUEST, CONFLICT or UNPROCESSABLE_CONTENT
   */
  private async once(
    request: Request,
    response: Response,
    { workspaceId, apiKeyId }: Caller,
    { showsSecretOnce }: IdempotentOptions,
    work: () => Promise<unknown>,
  ): Promise<unknown> {
    const key = request.headers['idempotency-key'];
    if (typeof key !== 'string' || key.length === 0 || key.length > MAX_KEY_LENGTH) {
      throw invalidInput(`Idempotency-Key must have 1 to ${MAX_KEY_LENGTH} characters`);
    }
    const id = sha256(JSON.stringify([workspaceId, request.method, request.path, key]));
    // What else decides what the request does: `?dryRun=true` is another request than the same without it.
    // The boundary of a form is drawn for each request.
    const mediaType = (request.headers['content-type'] ?? '').replace(/;\s*boundary=.*$/i, '');
    const rest = [request.originalUrl.split('?')[1] ?? '', mediaType];
    const bodyHash = sha256(JSON.stringify([request.bodyHash ?? '', ...rest]));
    return this.inTransaction({ id, path: request.path, bodyHash, apiKeyId, showsSecretOnce }, response, work);
  }

  private inTransaction(request: KeyedRequest, response: Response, work: () => Promise<unknown>) {
    const { id, path, bodyHash, apiKeyId } = request;
    return this.database.transaction(async (): Promise<unknown> => {
      if (!(await this.repository.tryLock(id))) throw stillInProgress();
      const stored = await this.repository.find(id);
      if (stored) return this.replay(stored, request, response);

      const body = await work();
      await this.repository.save({
        id,
        bodyHash,
        apiKeyId,
        agentId: await this.repository.agentOf(subjectOf(path, body)),
        status: response.statusCode,
        response: this.keyRing.encrypt(JSON.stringify(body), responsePurpose(id)),
        expiresAt: new Date(Date.now() + KEPT_MS),
      });
      return body;
    });
  }

  private replay(
    stored: IdempotencyEntity,
    { id, bodyHash, apiKeyId, showsSecretOnce }: KeyedRequest,
    response: Response,
  ): unknown {
    if (stored.bodyHash !== bodyHash) {
      throw new DomainError('UNPROCESSABLE_CONTENT', undefined, ['Idempotency-Key was used with another body']);
    }
    if (showsSecretOnce && stored.apiKeyId !== apiKeyId) {
      throw conflict('Another API key used this Idempotency-Key, and the response showed a secret that is shown once');
    }
    response.status(stored.status).setHeader('Idempotent-Replayed', 'true');
    return JSON.parse(this.keyRing.decrypt(stored.response, responsePurpose(id))) as unknown;
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
