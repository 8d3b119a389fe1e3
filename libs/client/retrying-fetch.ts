import { setTimeout as sleep } from 'node:timers/promises';

/** Answers that mean: later. */
const LATER = new Set([429, 502, 503, 504]);
/** Milliseconds for one try. A wait for the end of a run takes up to 60 s by itself. */
const TRY_MS = 90_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** The longest `Retry-After` that is honoured; the windows of the service's rate limits last a minute. */
const LONGEST_RETRY_AFTER_MS = 120_000;

export interface Patience {
  /** Milliseconds after which a service that cannot be reached is given up. */
  ms: number;
}

/**
 * `fetch` that tries again when the connection broke or the service asks for patience. Only for requests that may be
 * sent twice: reads, and writes with an Idempotency-Key.
 * @returns the last answer, whatever it is
 * @throws the last error of `fetch`, or the signal's reason
 */
export function retryingFetch(patience: Patience, pause = sleep): (request: Request) => Promise<Response> {
  return async (request) => {
    const since = performance.now();
    for (let tries = 1; ; tries++) {
      const attempt = await attemptOf(request);
      request.signal.throwIfAborted();
      const wait = pauseAfter(attempt, tries);
      const elapsed = performance.now() - since;
      // The service is there and says when to come: that is worth waiting for, however impatient one is.
      const limit = attempt.response?.status === 429 ? Math.max(patience.ms, LONGEST_RETRY_AFTER_MS) : patience.ms;
      if (wait === undefined || elapsed + wait > limit) {
        if (attempt.response) return attempt.response;
        throw attempt.error;
      }
      await attempt.response?.body?.cancel();
      await pause(wait, undefined, { signal: request.signal });
    }
  };
}

interface Attempt {
  readonly response?: Response;
  readonly error?: unknown;
}

async function attemptOf(request: Request): Promise<Attempt> {
  const isStream = request.headers.get('accept') === 'text/event-stream';
  // A stream may last; whoever reads it notices when it falls silent.
  const signal = isStream ? request.signal : AbortSignal.any([request.signal, AbortSignal.timeout(TRY_MS)]);
  try {
    // A body can be sent once only. A redirect would turn a POST into a GET, and lose the key.
    const response = await fetch(request.clone(), { signal, redirect: 'manual' });
    if (isStream || !response.body) return { response };
    // Read here, so that an answer that breaks off is asked for again.
    const { status, statusText, headers } = response;
    return { response: new Response(await response.arrayBuffer(), { status, statusText, headers }) };
  } catch (error) {
    return { error };
  }
}

/** Milliseconds until the next try; undefined when the attempt is final. */
function pauseAfter({ response }: Attempt, tries: number): number | undefined {
  const backOff = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tries - 1)) * (0.75 + Math.random() / 2);
  if (!response) return backOff;
  if (!LATER.has(response.status)) return undefined;
  const retryAfter = response.headers.get('retry-after');
  // Without it, a 429 is no rate limit but a refusal: of one more stream.
  if (retryAfter === null) return response.status === 429 ? undefined : backOff;
  return Math.max(backOff, retryAfterMs(retryAfter, Date.now()) ?? 0);
}

/** Milliseconds that a `Retry-After` asks to wait (RFC 9110, 10.2.3: seconds or a date). */
export function retryAfterMs(value: string, now: number): number | undefined {
  const ms = /^\d{1,9}$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? undefined : Math.min(LONGEST_RETRY_AFTER_MS, Math.max(0, ms));
}
