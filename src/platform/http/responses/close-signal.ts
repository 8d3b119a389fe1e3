import type { Response } from 'express';

/** Fires when the client has gone before it got its answer: nobody needs to work on it any more. */
export function closeSignal(response: Response): AbortSignal {
  const abort = new AbortController();
  const closed = () => {
    if (!response.writableFinished) abort.abort();
  };
  // It may have gone already, while its key was looked up: that is not told again.
  if (response.closed) closed();
  else response.once('close', closed);
  return abort.signal;
}
