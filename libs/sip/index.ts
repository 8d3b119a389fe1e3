export {
  addressText,
  digitsOf,
  numberOf,
  originOf,
  parseSipAddress,
  type SipAddress,
  SipAddressError,
  type SipTransport,
} from './address.js';
export { type CallAnswer, type CallEvents, type CallFailure, type CallOptions, SipCall } from './call.js';
export type { DigestCredentials } from './digest.js';
export { end, type Ending } from './end.js';
export { type EndpointOptions, type SipConnect, SipEndpoint } from './endpoint.js';
export type { SipFailure, SipFailureKind } from './failures.js';
export type { CallHandle } from './handle.js';
export { IncomingCall } from './incoming.js';
export { Registration, type RegistrationOptions } from './registration.js';
export { type MediaAnswer, type MediaOffer, mediaOffer, type MediaRefusal, readMedia } from './sdp.js';
export type { SessionEvents } from './session.js';
