/** HTTP to addresses that users enter, guarded against reaching what they must not (see `client.ts`). */
export {
  Connections,
  OutboundClient,
  type OutboundOptions,
  type OutboundRequest,
  type OutboundResponse,
  type OutboundStream,
} from './client.js';
export { OUTBOUND_FAILURES, OutboundError, type OutboundFailure } from './errors.js';
export { AddressFilter } from './address-filter.js';
export type { Resolve } from './resolver.js';
