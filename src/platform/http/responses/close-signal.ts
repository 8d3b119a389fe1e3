import type { Response } from 'express';

/** Aborts when the client disconnects before it got its response, so that the work can stop. */
export function closeSignal(response: Response): AbortSignal {
  const abort = new AbortController();
  onClose(response, () => {
    if (!response.writableFinished) abort.abort();
  });
  return abort.signal;
}

/** Calls `closed` once, when the response was sent or the client has disconnected. */
export function onClose(response: Response, closed: () => void): void {
  // It may have disconnected already, while its key was looked up; `close` does not fire twice.
  if (response.closed) closed();
  else response.once('close', closed);
}

/** Time to end a response after its key has become invalid, in milliseconds. A client that does not read is cut off. */
const GRACE_MS = 500;

/**
 * How long a request that waits or streams may go on: aborts when the client disconnects, or when its API key is revoked
 * or expires.
 * @param key the watch of its API key, which is stopped when the request ends
 */
export function lifetimeSignal(response: Response, key: { readonly signal: AbortSignal; stop(): void }): AbortSignal {
  let grace: NodeJS.Timeout | undefined;
  const cutOff = () => {
    grace = setTimeout(() => response.destroy(), GRACE_MS);
  };
  key.signal.addEventListener('abort', cutOff, { once: true });
  onClose(response, () => {
    clearTimeout(grace);
    key.signal.removeEventListener('abort', cutOff);
    key.stop();
  });
  return AbortSignal.any([closeSignal(response), key.signal]);
}
