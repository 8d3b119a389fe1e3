import type { Request } from 'express';
import type { RawBody } from './text-body.js';

/** For routes with expensive bodies: authorises a request, or lets it wait, before its body is read. */
export interface BodyGate {
  /**
   * Handles a request.
   * @param read reads the body, which stays in the client's hands until then; `signal` refuses it when it fires
   * @param handle runs the handler with what `@FileBody()` returns
   * @param closed fires when the client disconnects
   */
  pass<T>(
    request: Request,
    read: (signal: AbortSignal) => Promise<RawBody>,
    handle: (body: unknown) => Promise<T>,
    closed: AbortSignal,
  ): Promise<T>;
}
