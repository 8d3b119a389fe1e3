import { findingsOf, type KnownFindings } from '../../../voice/wire/known-finding.js';
import { COMMON_FINDINGS } from '../../../voice/wire/common-findings.js';
import { documentedError, STREAM_DOCS, TWIML_FINDINGS } from '../../twiml/findings.js';

const MESSAGES = 'https://www.twilio.com/docs/voice/media-streams/websocket-messages';
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
    source: documentedError(31951, 'warning', 'The streamSid in the message did not match the active Stream.'),
  },
  mark_without_name: {
    severity: 'error',
    meaning: 'A `mark` has no `mark.name`; it is not sent back',
    source: documentedError(31951, 'warning', 'The message was missing required fields'),
  },
  mark_name_not_text: {
    severity: 'warning',
    meaning: '`mark.name` is a number; it is sent back as a text, which is not equal to it',
    source: `"mark.name: A custom value" is a string in each example (${MESSAGES})`,
  },
  unusual_base64: {
    severity: 'warning',
    meaning:
      '`media.payload` has line breaks, the characters `-` and `_`, or no padding; it is played, but no page of Twilio says that Twilio plays it',
    source: `"media.payload: Raw mulaw/8000 audio in encoded in base64" (${MESSAGES}); RFC 4648, sections 3.1, 3.2 and 5`,
  },
  invalid_message: {
    severity: 'error',
    meaning: 'A message is not JSON, or lacks a field or has it in the wrong type; it is ignored',
    source: documentedError(
      31951,
      'warning',
      'The message was not valid JSON. … The message was missing required fields',
    ),
  },
  unknown_event: {
    severity: 'warning',
    meaning: 'A message has an `event` other than `media`, `mark` and `clear`; it is ignored',
    source: documentedError(
      31951,
      'warning',
      'Twilio only accepts media, mark, and clear messages from your server on a bidirectional Stream.',
    ),
  },
  binary_frame: {
    severity: 'error',
    meaning: 'A binary WebSocket message; it is ignored',
    source: documentedError(
      31950,
      'warning',
      'Send Media Streams messages as text WebSocket messages. Do not use binary frames.',
    ),
  },
  file_header_in_media: {
    severity: 'error',
    meaning:
      'The sound begins with the header of a file (WAV, Ogg, FLAC, MP3, AIFF, AU or WebM), which is played as noise',
    source: documentedError(31924, 'error', HEADER),
  },
  wrong_encoding: {
    severity: 'error',
    meaning: 'The bytes are 16-bit PCM, which sounds like loud noise when it is played as µ-law',
    source: `${FORMAT} (${MESSAGES}); ${documentedError(31924, 'error', HEADER)}`,
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
      'Ten or more messages with less than 20 ms of audio arrived after the one before had been played: the caller hears gaps',
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
    meaning: 'More than 10 minutes of audio were buffered; the rest is discarded',
    source: documentedError(
      31931,
      'warning',
      'More than 10 minutes of audio is buffered by the Streamer. No more data is accepted.',
    ),
  },
  closed_abnormally: {
    severity: 'warning',
    meaning:
      'After its first sound the agent ended the WebSocket without a Close frame (1006) or with the code of an error, such as 1011: the call goes on in the TwiML. Whether it hung up is undecided',
    source: `"Twilio executes the remaining TwiML instructions only after your server closes the WebSocket connection" (${STREAM_DOCS}); RFC 6455, section 7.4.1`,
  },
  broken_websocket: COMMON_FINDINGS.broken_websocket,
  ...TWIML_FINDINGS,
} as const satisfies KnownFindings;

export type TwilioFindingCode = keyof typeof TWILIO_FINDINGS;

export const twilioFinding = findingsOf(TWILIO_FINDINGS);
