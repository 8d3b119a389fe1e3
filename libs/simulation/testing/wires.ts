/** Wires as virtual calls use them: without socket and thread. */
export { default as twilioWire, type TwilioStream } from '../transports/wires/twilio-media-streams/wire.js';
export { default as realtimeWire, type RealtimeState } from '../transports/wires/openai-realtime/wire.js';
export { default as elevenlabsWire, type ElevenLabsState } from '../transports/wires/elevenlabs/wire.js';
export { default as vapiWire, type VapiState } from '../transports/wires/vapi/wire.js';
export { default as pipecatWire, type PipecatState } from '../transports/wires/pipecat/wire.js';
/** Messages of a Realtime server. */
export {
  calls,
  ends,
  says,
  ScriptedRealtime,
  speechStarted,
  updated,
} from '../../../test/simulators/openai-realtime/double/agent.js';
export { event } from '../../../test/simulators/openai-realtime/double/events.js';
/** Responses in legal dialects of it, and what the wire reads of them. */
export { DialectMaker, readByWire } from '../transports/wires/openai-realtime/testing/dialects.js';
export { default as sipWire } from '../transports/wires/sip/wire.js';
export type { SipState } from '../transports/wires/sip/state.js';
export { withRecord } from '../transports/with-record.js';
export type { VoiceCallOptions } from '../voice/wire/voice-transport.js';
