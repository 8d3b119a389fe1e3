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
