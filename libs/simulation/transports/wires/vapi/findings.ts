import { COMMON_FINDINGS } from '../../../voice/wire/common-findings.js';
import { findingsOf, type KnownFindings } from '../../../voice/wire/known-finding.js';
import { INCOMPLETE_MESSAGE } from '../json-wire.js';

const TYPINGS = '@vapi-ai/server-sdk 2.0.1';

/** Deviations of a call. `error`: the caller hears something else than the agent meant; `warning`: the rest. */
export const VAPI_FINDINGS = {
  ...COMMON_FINDINGS,
  false_interruption: {
    severity: 'error',
    meaning:
      'The platform reported `user-interrupted` although the caller made no sound; it stops the agent for nothing',
    source: `"user-interrupted" is sent when the user interrupts the assistant (${TYPINGS})`,
  },
  no_words: {
    severity: 'warning',
    meaning:
      'The agent was heard, and the platform reported none of its words: add `assistant.speechStarted` to clientMessages of the assistant',
    source: `Which messages are sent is a setting of the assistant, clientMessages (${TYPINGS})`,
  },
  no_control: {
    severity: 'warning',
    meaning:
      'The call has no `controlUrl`: if this service dies during a call, the platform carries and bills it until maxDurationSeconds of the assistant. Set `monitorPlan.controlEnabled` of the assistant to true',
    source: `monitorPlan.controlEnabled "determines whether the assistant's calls allow live control" (${TYPINGS})`,
  },
  invalid_message: {
    severity: 'error',
    meaning:
      'Words or tool calls of the agent are lost: a message is broken JSON, lacks a field, or has it in the wrong type',
    source: `The messages to the client are JSON with these fields (${TYPINGS})`,
  },
  ...INCOMPLETE_MESSAGE,
} as const satisfies KnownFindings;

export const vapiFinding = findingsOf(VAPI_FINDINGS);
