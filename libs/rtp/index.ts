/**
 * Real-time media of a telephone call: RTP, keys, comfort noise, RTCP and SRTP as bytes, the moments at which received
 * sound is heard, and whose packets are accepted. Synchronous, with a clock that is passed in; only `bindPortPair` does I/O.
 */
export { comfortNoise, COMFORT_NOISE, comfortNoiseLevel } from './comfort-noise.js';
export { type Endpoint, MediaSource, type SourceRefusal } from './media-source.js';
export { isRefused, isRtcp, readRtp, type Refused, type RtpPacket, type RtpRefusal, writeRtp } from './packet.js';
export { bindPortPair, type PortPair, type PortRange } from './port-pair.js';
export { type Placement, PLAYOUT_DELAY_MS, ReceiveAnchor } from './receive-anchor.js';
export { readRtcp, type ReportBlock, type RtcpPacket, type RtcpRefusal, type SenderInfo, writeRtcp } from './rtcp.js';
export { RtcpSession } from './rtcp-session.js';
export { SRTP_KEY_BYTES, SrtpReceiver, type SrtpRefusal, SrtpSender } from './srtp.js';
export {
  type KeyChange,
  KeyReceiver,
  type KeyReport,
  keyReports,
  readTelephoneEvents,
  TELEPHONE_KEYS,
  type TelephoneEvent,
  writeTelephoneEvent,
} from './telephone-event.js';
