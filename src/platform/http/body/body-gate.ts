import type { Request } from 'express';

/** An unparsed body: only the route knows how to report errors in its format. */
export interface RawBody {
  /** One of the media types that the route takes. */
  readonly mediaType: string;
  readonly bytes: Buffer<ArrayBuffer>;
}

/** A request whose body was not read yet. */
export interface GatedRequest<T> {
  readonly request: Request;
  /** Reads the body; `signal` refuses a body that has not arrived when it fires. */
  readonly read: (signal: AbortSignal) => Promise<RawBody>;
  /** Runs the handler with what `@FileBody()` returns. */
  readonly handle: (body: unknown) => Promise<T>;
  /** Fires when the client disconnects. */
  readonly closed: AbortSignal;
}

/** For routes with expensive bodies: authorises a request, or lets it wait, before its body is read. */
export interface BodyGate {
  pass<T>(request: GatedRequest<T>): Promise<T>;
}
