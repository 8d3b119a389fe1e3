import type { Response } from 'express';

/** Aborts when the client disconnects before it got its response, so that the work can stop. */
export function closeSignal(response: Response): AbortSignal {
  const abort = new AbortController();
  const closed = () => {
    if (!response.writableFinished) abort.abort();
  };
  // It may have disconnected already, while its key was looked up; `close` does not fire twice.
  if (response.closed) closed();
  else response.once('close', closed);
  return abort.signal;
}
