import { COMMON_FINDINGS } from '../../../voice/wire/common-findings.js';
import { findingsOf, type KnownFindings } from '../../../voice/wire/known-finding.js';
import { INCOMPLETE_MESSAGE } from '../json-wire.js';

const EVENTS = 'https://elevenlabs.io/docs/conversational-ai/customization/events/client-events';
const SDK = '@elevenlabs/elevenlabs-js 2.73';

/** Deviations of a conversation. `error`: the caller hears something else than the agent meant; `warning`: the rest. */
export const ELEVENLABS_FINDINGS = {
  ...COMMON_FINDINGS,
  false_interruption: {
    severity: 'error',
    meaning: 'The platform reported `interruption` although the caller made no sound; it stops the agent for nothing',
    source: `The client drops what it has not played when the user has interrupted the agent (${EVENTS})`,
  },
  late_audio: {
    severity: 'warning',
    meaning:
      'After an `interruption`, `audio` with the same event_id arrived. That of the answer that was interrupted is dropped, that of a new answer is heard; the browser client plays both, the Node and Python clients drop both',
    source: `"parseInt(event_id) <= lastInterruptId" is dropped (${SDK}), "lastInterruptTimestamp <= event_id" is played (@elevenlabs/client 1.25)`,
  },
  heard_otherwise: {
    severity: 'warning',
    meaning:
      'By `agent_response_correction`, the platform believes that much more or much less of an answer was heard than was played',
    source: `agent_response_correction has the text of the answer as it was truncated by the interruption (${EVENTS})`,
  },
  no_words: {
    severity: 'warning',
    meaning:
      'The agent was heard, and the platform reported none of its words: switch on the client event `agent_response` of the agent',
    source: `Which events are sent is a setting of the agent, client_events (${EVENTS})`,
  },
  no_audio: {
    severity: 'warning',
    meaning: 'The platform reported words of the agent, and no audio: switch on the client event `audio` of the agent',
    source: `Which events are sent is a setting of the agent, client_events (${EVENTS})`,
  },
  error_event: {
    severity: 'warning',
    meaning: 'The platform sent `error`, and the conversation went on',
    source: `error_event has code, error_type and message (@elevenlabs/types 0.23)`,
  },
  invalid_message: {
    severity: 'error',
    meaning:
      'Sound, words or tool calls of the agent are lost: a message is broken JSON or binary, lacks a field, or has it in the wrong type',
    source: 'The messages of the server are JSON with these fields (@elevenlabs/types 0.23)',
  },
  ...INCOMPLETE_MESSAGE,
} as const satisfies KnownFindings;

export const elevenlabsFinding = findingsOf(ELEVENLABS_FINDINGS);
