/** Result of one request. */
export type Outcome =
  | { readonly kind: 'response'; readonly status: number; readonly headers: Headers; readonly body: any }
  /** The connection was refused: the request cannot have had an effect. */
  | { readonly kind: 'refused' }
  /** The connection broke or timed out: the request may have had its effect. */
  | { readonly kind: 'broken'; readonly why: string };

export interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Closes the connection after this time, in milliseconds: for responses without an end. */
  readonly readForMs?: number;
}

/** Longer than the service's own timeouts, so that the service gives up first. */
const TIMEOUT_MS = 30_000;

/** Sends one request and never throws. */
export async function send(
  base: string,
  key: string,
  { method, path, body, headers = {}, readForMs }: Request,
  timeoutMs = TIMEOUT_MS,
): Promise<Outcome> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeoutMs);
  try {
    const response = await fetch(base + path, {
      method,
      signal: abort.signal,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { status } = response;
    if (readForMs !== undefined && status === 200) {
      const stopReading = setTimeout(() => abort.abort(), readForMs);
      await response.text().catch(() => undefined);
      clearTimeout(stopReading);
      return { kind: 'response', status, headers: response.headers, body: '' };
    }
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    return {
      kind: 'response',
      status,
      headers: response.headers,
      body: isJson && text !== '' ? JSON.parse(text) : text,
    };
  } catch (error) {
    const { cause, name, message } = error as Error & { cause?: { code?: string } };
    if (cause?.code === 'ECONNREFUSED') return { kind: 'refused' };
    return { kind: 'broken', why: cause?.code ?? `${name}: ${message}` };
  } finally {
    clearTimeout(timer);
  }
}
