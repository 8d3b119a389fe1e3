import { setTimeout as sleep } from 'node:timers/promises';
import { type EnvironmentProxy, fetchThrough, ProxyRefusal } from '../environment-proxy/index.js';
import { retryAfterMs } from '../text/index.js';
import { isCertificateError } from './errors.js';

/** Temporary error statuses. */
const TEMPORARY = new Set([429, 502, 503, 504]);
/** A long poll for the end of a run alone takes up to 60 s. */
const ATTEMPT_MS = 90_000;
/** For the recording of a call, which may have 200 MiB. */
const UPLOAD_MS = 600_000;
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
/** The longest `Retry-After` that is honoured; the windows of the service's rate limits last a minute. */
const MAX_RETRY_AFTER_MS = 120_000;

export interface Patience {
  /** Milliseconds after which an unreachable service is an error. */
  ms: number;
}

export interface RetryOptions {
  /** Receives why the client waits, and how long, when the service demands it. */
  readonly announce?: (text: string) => void;
  readonly pause?: typeof sleep;
  /** Between this machine and the service. */
  readonly proxy?: EnvironmentProxy | undefined;
  /** Milliseconds for one attempt. */
  readonly attemptMs?: number;
}

/**
 * `fetch` that retries after connection failures and temporary errors. Only for requests that may be sent twice: reads,
 * and writes with an Idempotency-Key.
 * @returns the last response, also if it is an error
 * @throws the last error of `fetch`, or the signal's reason
 */
export function retryingFetch(
  patience: Patience,
  { announce, pause = sleep, attemptMs = ATTEMPT_MS, proxy }: RetryOptions = {},
): (request: Request) => Promise<Response> {
  return async (request) => {
    const since = performance.now();
    for (let tries = 1; ; tries++) {
      const attempt = await attemptOf(request, attemptMs, proxy);
      request.signal.throwIfAborted();
      const wait = pauseAfter(attempt, tries);
      const elapsed = performance.now() - since;
      // The service is available and names a time, so waiting is worthwhile.
      const limit = attempt.response?.status === 429 ? Math.max(patience.ms, MAX_RETRY_AFTER_MS) : patience.ms;
      if (wait === undefined || elapsed + wait > limit) {
        if (attempt.response) return attempt.response;
        throw attempt.error;
      }
      if (attempt.response?.headers.has('retry-after')) announce?.(await waitText(attempt.response, wait));
      else await attempt.response?.body?.cancel();
      await pause(wait, undefined, { signal: request.signal });
    }
  };
}

/** A proxy in front of the service does not answer with its message. */
async function waitText(response: Response, ms: number): Promise<string> {
  const body = (await response.json().catch(() => null)) as { readonly message?: unknown } | null;
  const message = typeof body?.message === 'string' ? body.message : 'The service is not available';
  return `${message} (${response.status}); waiting ${Math.ceil(ms / 1000)} s.`;
}

interface Attempt {
  readonly response?: Response;
  readonly error?: unknown;
}

async function attemptOf(request: Request, attemptMs: number, proxy: EnvironmentProxy | undefined): Promise<Attempt> {
  const isStream = request.headers.get('accept') === 'text/event-stream';
  const isUpload = request.headers.get('content-type')?.startsWith('multipart/') === true;
  const limit = new AbortController();
  const expire = () => limit.abort(new DOMException('The service did not answer in time', 'TimeoutError'));
  const timer = setTimeout(expire, isUpload ? UPLOAD_MS : attemptMs);
  try {
    const signal = AbortSignal.any([request.signal, limit.signal]);
    // Cloned because a body can be sent only once. A redirect would turn a POST into a GET and drop the key.
    const response = await send(request.clone(), { signal, redirect: 'manual' }, proxy);
    // A stream has no time limit from here on; its reader detects silence.
    if ((isStream && response.ok) || !response.body) return { response };
    // Read here, so that an interrupted response is retried.
    const { status, statusText, headers } = response;
    return { response: new Response(await response.arrayBuffer(), { status, statusText, headers }) };
  } catch (error) {
    return { error };
  } finally {
    clearTimeout(timer);
  }
}

/** `fetch`, through a proxy if there is one. */
export async function send(
  request: Request,
  init: RequestInit,
  proxy: EnvironmentProxy | undefined,
): Promise<Response> {
  if (!proxy) return fetch(request, init);
  const { method, headers } = request;
  // With its length: proxies may refuse a body in chunks.
  const body = request.body && (await request.arrayBuffer());
  return fetchThrough(proxy, request.url, { method, headers, body, ...init });
}

/** Milliseconds until the next attempt; undefined if the result is final. */
function pauseAfter({ response, error }: Attempt, tries: number): number | undefined {
  if (isCertificateError(error)) return undefined;
  if (error instanceof ProxyRefusal && !TEMPORARY.has(error.status)) return undefined;
  const backOff = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1)) * (0.75 + Math.random() / 2);
  if (!response) return backOff;
  if (!TEMPORARY.has(response.status)) return undefined;
  const retryAfter = response.headers.get('retry-after');
  // A 429 without Retry-After is not a rate limit: the maximum number of streams is reached.
  if (retryAfter === null) return response.status === 429 ? undefined : backOff;
  return Math.max(backOff, Math.min(MAX_RETRY_AFTER_MS, retryAfterMs(retryAfter) ?? 0));
}
