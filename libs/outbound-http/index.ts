/** HTTP client for URLs that users enter, with protection against server-side request forgery (see `client.ts`). */
export { AddressFilter } from './address-filter.js';
export { OutboundClient, type OutboundOptions, type OutboundRequest, type OutboundResponse } from './client.js';
export { type ConnectionPhase, Connections } from './connections.js';
export type { OutboundStream } from './exchange.js';
export { readBeginning } from './read-beginning.js';
export { readBody } from './read-body.js';
export { OutboundError, type OutboundFailure } from './errors.js';
export type { OwnEndpoint } from './own-endpoints.js';
export { generateSecret, sign } from './webhook-signature.js';
