import type { IncomingMessage } from 'node:http';

const slow = new WeakSet<IncomingMessage>();

/** Node's limit for the arrival of requests is one for all routes: the route of this request limits it by itself. */
export const limitsArrivalItself = (request: IncomingMessage): void => void slow.add(request);

/** Whether the server does not limit the arrival of a request. */
export const mayArriveLate = (request: IncomingMessage | undefined): boolean =>
  request !== undefined && slow.has(request);
