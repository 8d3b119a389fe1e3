import { TELEPHONE_RATE } from '../../../../audio/index.js';
import path from 'node:path';
import type { WireModule } from '../../modules/module.js';
import { TWILIO_FINDINGS } from './findings.js';
import { TWILIO_OPTIONS } from './options.js';
import { TwilioSession } from './session.js';
import type { TwilioStream } from './wire.js';

/** An agent behind a webhook or WebSocket of Twilio Media Streams: the service plays Twilio. */
export const twilioMediaStreams: WireModule<TwilioStream> = {
  name: 'twilio-media-streams',
  source: import.meta.url,
  title: 'Twilio Media Streams',
  medium: 'voice',
  clock: 'heard',
  schemes: ['https:', 'http:', 'wss:', 'ws:'],
  firstSpeaker: null,
  provides: { words: false, toolCalls: 'none', keys: true },
  options: TWILIO_OPTIONS,
  reservedHeaders: ['x-twilio-signature'],
  findings: TWILIO_FINDINGS,
  steps: {
    resolved: 'The host name leads to an address that may be called',
    connected: 'The connection was established',
    secured: 'The connection is encrypted, and the certificate is valid',
    accepted: 'The agent accepted the webhook',
    twiml: 'The TwiML connects a media stream',
    websocket: 'The agent accepted the WebSocket',
    answered: 'The agent was heard',
  },
  lineRate: () => TELEPHONE_RATE,
  entry: new URL(`./wire${path.extname(import.meta.url)}`, import.meta.url),
  session: (endpoint, call) => new TwilioSession(endpoint, call),
};
