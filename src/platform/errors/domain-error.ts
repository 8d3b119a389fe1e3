/** The closed set of error codes of the service. */
export const ERROR_CODES = [
  'BAD_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'NOT_FOUND',
  'CONFLICT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RANGE_NOT_SATISFIABLE',
  'UNPROCESSABLE_CONTENT',
  'TOO_MANY_REQUESTS',
  'INTERNAL_SERVER_ERROR',
  'SERVICE_UNAVAILABLE',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

/** Default message of each code; the contract prescribes those of 400, 401, 403, 404 and 500. */
export const DEFAULT_MESSAGES: Readonly<Record<ErrorCode, string>> = {
  BAD_REQUEST: 'Invalid input data',
  UNAUTHORIZED: 'Authorization not provided',
  FORBIDDEN: 'Insufficient access',
  NOT_FOUND: 'Not found',
  CONFLICT: 'Conflict with the current state',
  PAYLOAD_TOO_LARGE: 'Request body is too large',
  UNSUPPORTED_MEDIA_TYPE: 'Media type is not supported',
  RANGE_NOT_SATISFIABLE: 'Range cannot be served',
  UNPROCESSABLE_CONTENT: 'Request cannot be processed',
  TOO_MANY_REQUESTS: 'Rate limit exceeded',
  INTERNAL_SERVER_ERROR: 'Internal server error',
  SERVICE_UNAVAILABLE: 'Service is temporarily unavailable',
};

/** One cause of an error. */
export interface Issue {
  /** A sentence that begins with the path of the field, if it is about one. */
  readonly message: string;
  /** Path of the field, or name of the parameter. */
  readonly field?: string;
}

/** @param text the rest of a sentence that begins with the field */
export const about = (field: string, text: string): Issue => ({ message: `${field} ${text}`, field });

/** Thrown by services when a request cannot be fulfilled; independent of HTTP. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  /** When a request that was refused for its time may be repeated, if that is known. */
  readonly retryAfterSeconds: number | undefined;
  readonly issues: readonly Issue[] | undefined;

  /**
   * @param code one of the closed set
   * @param issues one per cause
   */
  constructor(
    readonly code: ErrorCode,
    message: string = DEFAULT_MESSAGES[code],
    issues?: readonly (Issue | string)[],
    options?: ErrorOptions & { readonly retryAfterSeconds?: number },
  ) {
    super(message, options);
    this.issues = issues?.map((issue) => (typeof issue === 'string' ? { message: issue } : issue));
    this.retryAfterSeconds = options?.retryAfterSeconds;
  }
}

/** Invalid input: always the contract's message, with at least one issue. */
export const invalidInput = (...issues: [Issue | string, ...(Issue | string)[]]) =>
  new DomainError('BAD_REQUEST', undefined, issues);
export const forbidden = (...issues: (Issue | string)[]) =>
  new DomainError('FORBIDDEN', undefined, issues.length > 0 ? issues : undefined);
export const notFound = (...issues: (Issue | string)[]) =>
  new DomainError('NOT_FOUND', undefined, issues.length > 0 ? issues : undefined);
export const invalidKey = () => new DomainError('UNAUTHORIZED', 'Invalid API key');
export const expiredKey = () => new DomainError('UNAUTHORIZED', 'Expired API key');
export const conflict = (message: string) => new DomainError('CONFLICT', message);
export const unavailable = (cause?: unknown) => new DomainError('SERVICE_UNAVAILABLE', undefined, undefined, { cause });
