import type { FindingSeverity, WireFinding } from '../../voice/facts.js';

interface KnownFinding {
  readonly severity: FindingSeverity;
  /** What it means, for the guide. */
  readonly meaning: string;
  /** What Twilio's documentation says, with the number and level of its own error where there is one. */
  readonly source: string;
}

const MESSAGES = 'https://www.twilio.com/docs/voice/media-streams/websocket-messages';
const STREAM = 'https://www.twilio.com/docs/voice/twiml/stream';
const error = (number: number, level: string, text: string) =>
  `"${text}" (Twilio ${level} ${number}, https://www.twilio.com/docs/api/errors/${number})`;

const HEADER = 'encode the payload as base64 audio/x-mulaw audio at 8000 Hz and do not include audio file header bytes';
const FORMAT = '"start.mediaFormat.encoding … always audio/x-mulaw", "sampleRate … always 8000"';

/**
 * Deviations from Twilio Media Streams. `error`: the caller hears something else than the agent meant, or the platform ignores
 * the message; `warning`: the rest.
 */
export const TWILIO_FINDINGS = {
  no_clear_on_barge_in: {
    severity: 'error',
    meaning:
      'The caller interrupted, and the agent let at least 500 ms of buffered sound play to its end without `clear`',
    source: `"Send a clear message if you want to interrupt the audio that has been sent in various media messages. This empties all buffered audio" (${MESSAGES})`,
  },
  wrong_stream_sid: {
    severity: 'error',
    meaning: '`streamSid` is missing or is not that of the stream; the message is ignored, its sound is not played',
    source: error(31951, 'warning', 'The streamSid in the message did not match the active Stream.'),
  },
  mark_without_name: {
    severity: 'error',
    meaning: 'A `mark` has no `mark.name`; it is not sent back',
    source: error(31951, 'warning', 'The message was missing required fields'),
  },
  invalid_message: {
    severity: 'error',
    meaning:
      'A message is not JSON, is too large, has more than 10,000 values, or lacks a field or has it in the wrong type; it is ignored',
    source: error(31951, 'warning', 'The message was not valid JSON. … The message was missing required fields'),
  },
  unknown_event: {
    severity: 'warning',
    meaning: 'A message has an `event` other than `media`, `mark` and `clear`; it is ignored',
    source: error(
      31951,
      'warning',
      'Twilio only accepts media, mark, and clear messages from your server on a bidirectional Stream.',
    ),
  },
  binary_frame: {
    severity: 'error',
    meaning: 'A binary WebSocket message; it is ignored',
    source: error(
      31950,
      'warning',
      'Send Media Streams messages as text WebSocket messages. Do not use binary frames.',
    ),
  },
  file_header_in_media: {
    severity: 'error',
    meaning:
      'The sound begins with the header of a file (WAV, Ogg, FLAC, MP3, AIFF, AU or WebM), which is played as noise',
    source: error(31924, 'error', HEADER),
  },
  wrong_encoding: {
    severity: 'error',
    meaning: 'The bytes are 16-bit PCM, which sounds like loud noise when it is played as µ-law',
    source: `${FORMAT} (${MESSAGES}); ${error(31924, 'error', HEADER)}`,
  },
  wrong_rate: {
    severity: 'error',
    meaning:
      'Sound arrives steadily at 2, 3, 4 or 6 times the rate of the line, as sound of 16 to 48 kHz sent in real time does; it is played slowly',
    source: `${FORMAT} (${MESSAGES})`,
  },
  wrong_silence: {
    severity: 'warning',
    meaning:
      'At least 20 ms of the byte 0x00, which is not silence in µ-law but the largest negative sample; silence is 0xFF',
    source: `"media.payload: Raw mulaw/8000 audio in encoded in base64" (${MESSAGES}); ITU-T G.711, table 2: 0x00 is the largest negative value`,
  },
  tiny_chunks: {
    severity: 'warning',
    meaning:
      'Ten or more messages with less than 20 ms of sound arrived after the one before had been played: the caller hears gaps',
    source: `Twilio buffers what media messages contain and plays it in order; it adds nothing where the buffer is empty (${MESSAGES})`,
  },
  media_after_clear: {
    severity: 'warning',
    meaning:
      'The agent sent `clear` while the caller spoke over it, and went on sending sound within 300 ms while the caller still spoke',
    source: `"This empties all buffered audio" (${MESSAGES}): what is sent after clear is played`,
  },
  media_discarded: {
    severity: 'warning',
    meaning: 'More than 10 minutes of sound were buffered; the rest is discarded',
    source: error(
      31931,
      'warning',
      'More than 10 minutes of audio is buffered by the Streamer. No more data is accepted.',
    ),
  },
  query_in_stream_url: {
    severity: 'error',
    meaning: 'The `url` of `<Stream>` has a query string, which Twilio does not support; use `<Parameter>`',
    source: `"The url does not support query string parameters. To pass custom key value pairs to the WebSocket, make use of Custom Parameters instead." (${STREAM})`,
  },
  insecure_stream_url: {
    severity: 'warning',
    meaning: 'The `url` of `<Stream>` begins with `ws:`; Twilio connects to `wss:` only',
    source: `"wss is the only supported protocol." (${STREAM})`,
  },
  play_not_heard: {
    severity: 'warning',
    meaning:
      'This service could not fetch or read the file of a `<Play>` before the stream; it reads WAV (16-bit PCM, µ-law, A-law) and µ-law, and no MP3. The caller does not hear it, and the stream begins earlier than on a call by Twilio',
    source: 'Twilio plays the file before it goes on (https://www.twilio.com/docs/voice/twiml/play)',
  },
  after_stream_not_followed: {
    severity: 'warning',
    meaning:
      'After the stream the TwiML goes on with verbs that this service does not execute, such as a second `<Connect><Stream>`, `<Say>` or `<Gather>`: the call ends for the caller with its first stream',
    source: `Twilio goes on with the next verb when the agent has closed the WebSocket (${STREAM})`,
  },
  signature_not_checked: {
    severity: 'warning',
    meaning: 'The agent accepted a request with a wrong `X-Twilio-Signature`; only the connection test tries that',
    source:
      '"Your web application should verify that Twilio is the service that sent a webhook before responding to that request." (https://www.twilio.com/docs/usage/webhooks/webhooks-security)',
  },
} as const satisfies Readonly<Record<string, KnownFinding>>;

export type TwilioFindingCode = keyof typeof TWILIO_FINDINGS;

/** A finding without its time. @param detail what happened, without secrets */
export function twilioFinding(code: TwilioFindingCode, detail: string): Omit<WireFinding, 'atMs'> {
  const { severity, source } = TWILIO_FINDINGS[code];
  return { code, severity, detail, source };
}
