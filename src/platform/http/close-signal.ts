import type { Response } from 'express';

/** Fires when the client has gone before it got its answer: nobody needs to work on it any more. */
export function closeSignal(response: Response): AbortSignal {
  const abort = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) abort.abort();
  });
  return abort.signal;
}
