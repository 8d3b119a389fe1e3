import { CallFailure } from '../../failure.js';
import type { VoiceTransport } from '../../voice/media.js';
import type { AgentCall, AgentEndpoint } from '../endpoint.js';

const PROTOCOL = 'twilio-media-streams';

/** An agent behind a webhook or WebSocket of Twilio Media Streams: the service plays Twilio. */
export function twilioMediaStreams(_endpoint: AgentEndpoint, _call: AgentCall): VoiceTransport {
  return {
    name: PROTOCOL,
    call: () => Promise.reject(new CallFailure('internal', 'calls with sound are not available yet')),
  };
}
