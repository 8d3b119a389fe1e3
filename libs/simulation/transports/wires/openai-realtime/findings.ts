import { COMMON_FINDINGS } from '../../../voice/wire/common-findings.js';
import { findingsOf, type KnownFindings } from '../../../voice/wire/known-finding.js';

const EVENTS = 'https://platform.openai.com/docs/api-reference/realtime-server-events';

/** Deviations of a Realtime session. `error`: the caller hears something else than the agent meant; `warning`: the rest. */
export const REALTIME_FINDINGS = {
  ...COMMON_FINDINGS,
  false_speech_started: {
    severity: 'error',
    meaning: 'The platform reported `speech_started` although the caller made no sound; it stops the agent for nothing',
    source: `"Sent by the server when in server_vad mode to indicate that speech has been detected in the audio buffer" (${EVENTS})`,
  },
  response_cancelled: {
    severity: 'error',
    meaning:
      'A response ended as `cancelled`, and the platform had reported no speech of the caller since it began; if nothing of it was heard, only while the caller is silent',
    source: `"turn_detected (the server VAD detected a new start of speech) or client_cancelled": this service never sends response.cancel (${EVENTS})`,
  },
  response_incomplete: {
    severity: 'error',
    meaning: 'A response ended as `failed` or `incomplete`: the caller hears a part of it, or nothing',
    source: `"incomplete … max_output_tokens or content_filter (the server-side safety filter activated and cut off the response)" (${EVENTS})`,
  },
  no_response: {
    severity: 'warning',
    meaning: "The platform heard the end of the caller's turn, and created no response within 5 s",
    source: `"create_response: Whether or not to automatically generate a response when a VAD stop event occurs" (${EVENTS})`,
  },
  caller_not_detected: {
    severity: 'warning',
    meaning: 'The caller spoke a line, and the platform reported no `speech_started` until 2 s after its end',
    source: `"Sent by the server when in server_vad mode to indicate that speech has been detected in the audio buffer" (${EVENTS})`,
  },
  rate_limit_reached: {
    severity: 'warning',
    meaning: 'Nothing is left of a limit on requests or tokens; the latencies after it may be those of the account',
    source: `"remaining: The remaining value before the limit is reached" of rate_limits.updated (${EVENTS})`,
  },
  error_event: {
    severity: 'warning',
    meaning: 'The platform sent `error`, and the session went on',
    source: `"Most errors are recoverable and the session will stay open" (${EVENTS})`,
  },
  other_format: {
    severity: 'warning',
    meaning: 'The platform uses another audio format than the one that was asked for; it is converted',
    source: `"session.updated … showing the full, effective configuration" (${EVENTS})`,
  },
  wrong_encoding: {
    severity: 'error',
    meaning: 'The bytes are 16-bit PCM although the session has G.711, or the reverse: the caller hears noise',
    source: `"session.updated … showing the full, effective configuration" (${EVENTS})`,
  },
  few_words: {
    severity: 'warning',
    meaning:
      'The words of 5 s or more of audio have fewer than 4 letters a second: it may have another rate than the session',
    source: 'Speech has 10 letters or more in a second',
  },
  text_without_audio: {
    severity: 'warning',
    meaning: 'A response has text and no audio: the caller hears nothing of it',
    source: `"output_modalities: The set of modalities the model can respond with" (${EVENTS})`,
  },
  item_unnamed: {
    severity: 'warning',
    meaning: "Audio names no item: it is played as part of its response, and OpenAI's own client does not play it",
    source: `"item_id: The ID of the item" (${EVENTS})`,
  },
  invalid_message: {
    severity: 'error',
    meaning: 'Audio or a function call lacks a field or has it in the wrong type; it is ignored',
    source: `The events of the server are JSON with these fields (${EVENTS})`,
  },
  message_ignored: {
    severity: 'warning',
    meaning:
      'A message is not JSON, or lacks a field or has it in the wrong type; the caller hears the same without it',
    source: `The events of the server are JSON with these fields (${EVENTS})`,
  },
} as const satisfies KnownFindings;

export const realtimeFinding = findingsOf(REALTIME_FINDINGS);
