import { findingsOf, type KnownFindings } from '../../voice/wire/known-finding.js';

export const STREAM_DOCS = 'https://www.twilio.com/docs/voice/twiml/stream';

/** An error of Twilio's own list. */
export const documentedError = (number: number, level: string, text: string): string =>
  `"${text}" (Twilio ${level} ${number}, https://www.twilio.com/docs/api/errors/${number})`;

/** Deviations in the TwiML of a call, before and after what it connects. */
export const TWIML_FINDINGS = {
  query_in_stream_url: {
    severity: 'error',
    meaning: 'The `url` of `<Stream>` has a query string, which Twilio does not support; use `<Parameter>`',
    source: `"The url does not support query string parameters. To pass custom key value pairs to the WebSocket, make use of Custom Parameters instead." (${STREAM_DOCS})`,
  },
  insecure_stream_url: {
    severity: 'warning',
    meaning: 'The `url` of `<Stream>` begins with `ws:`; Twilio connects to `wss:` only',
    source: `"wss is the only supported protocol." (${STREAM_DOCS})`,
  },
  wrong_content_type: {
    severity: 'error',
    meaning:
      'TwiML was sent without `Content-Type`, or with another one than `text/xml`, `application/xml` and `text/html`: Twilio does not execute it, and reads `text/plain` to the caller',
    source: `${documentedError(12300, 'error', 'Twilio is unable to process the Content-Type of the provided URL.')}; "text/xml, application/xml, text/html: Twilio interprets the returned document as an XML Instruction Set" (https://www.twilio.com/docs/api/twiml/your_response)`,
  },
  wrong_track: {
    severity: 'error',
    meaning: '`<Connect><Stream>` has a `track` other than `inbound_track`: Twilio does not open the stream',
    source: documentedError(31941, 'error', 'Value different of "inbound_track" is used with verb Connect'),
  },
  play_not_heard: {
    severity: 'warning',
    meaning:
      'This service could not fetch or read the file of a `<Play>`; it reads WAV (16-bit PCM, µ-law, A-law) and µ-law, and no MP3. The caller does not hear it, and what follows begins earlier than on a call by Twilio',
    source: 'Twilio plays the file before it goes on (https://www.twilio.com/docs/voice/twiml/play)',
  },
  after_stream_not_followed: {
    severity: 'warning',
    meaning:
      'After the stream the TwiML goes on with verbs that the caller does not hear here, such as `<Say>` or `<Play>`, which take their time, or that are not executed, such as a second `<Connect><Stream>` or `<Record>`',
    source: `Twilio goes on with the next verb when the agent has closed the WebSocket (${STREAM_DOCS})`,
  },
  signature_not_checked: {
    severity: 'warning',
    meaning: 'The agent accepted a request with a wrong `X-Twilio-Signature`; only the connection test tries that',
    source:
      '"Your web application should verify that Twilio is the service that sent a webhook before responding to that request." (https://www.twilio.com/docs/usage/webhooks/webhooks-security)',
  },
} as const satisfies KnownFindings;

export type TwimlFindingCode = keyof typeof TWIML_FINDINGS;

export const twimlFinding = findingsOf(TWIML_FINDINGS);
