import type { ProtocolOption } from '../../modules/module.js';
import { choice, line, type Variables, variables } from '../../modules/common-options.js';

type Options = Readonly<Record<string, ProtocolOption>>;

/** The options of a connection, as their validation guarantees. */
export interface ElevenLabsOptions {
  readonly variables?: Variables;
  readonly line?: 'wide' | 'telephone';
  readonly userActivity?: boolean;
  readonly textOnly?: 'override' | 'agent';
}

/** Options of `elevenlabs`. */
export const VOICE_OPTIONS = {
  variables,
  line,
  userActivity: {
    isSecret: false,
    description: 'whether the agent is sent `user_activity` once a second while the caller thinks; by default true',
    violation: (value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  },
} as const satisfies Options;

/** Options of `elevenlabs-text`. */
export const TEXT_OPTIONS = {
  variables,
  textOnly: choice(
    '`override` (default): the conversation is asked to be text only; `agent`: nothing is overridden, since the agent is text only',
    ['override', 'agent'],
  ),
} as const satisfies Options;

/** The first message: who calls, and the variables. Nothing in it alters the agent, but `textOnly`, if it is asked for. */
export const initiation = (
  callId: string,
  { variables: values = {} }: ElevenLabsOptions,
  isTextOnly = false,
): object => ({
  type: 'conversation_initiation_client_data',
  ...(isTextOnly && { conversation_config_override: { conversation: { text_only: true } } }),
  dynamic_variables: values,
  user_id: `vat:${callId}`,
});
