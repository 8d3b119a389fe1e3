import type { AgentCall } from '../../modules/endpoint.js';
import type { ProtocolOption } from '../../modules/module.js';
import { choice, line, type Variables, variables } from '../../modules/common-options.js';

/** Those of versions begin with `agtvrsn_`. */
const BRANCH_ID = /^agtbrch_/;

type Options = Readonly<Record<string, ProtocolOption>>;

/** The options of a connection, as their validation guarantees. */
export interface ElevenLabsOptions {
  readonly variables?: Variables;
  readonly line?: 'wide' | 'telephone';
  readonly userActivity?: boolean;
  readonly textOnly?: 'override' | 'agent';
  readonly mockTools?: boolean;
}

const isBoolean = (value: unknown) => (typeof value === 'boolean' ? undefined : 'must be true or false');

const mockTools: ProtocolOption = {
  isSecret: false,
  description:
    'whether the tools that `toolResults` of the evaluation name have the results of their mocks at the platform; by default false: they run for real',
  violation: isBoolean,
};

/** Options of `elevenlabs`. */
export const VOICE_OPTIONS = {
  variables,
  mockTools,
  line,
  userActivity: {
    isSecret: false,
    description: 'whether the agent is sent `user_activity` once a second while the caller thinks; by default true',
    violation: isBoolean,
  },
} as const satisfies Options;

/** Options of `elevenlabs-text`. */
export const TEXT_OPTIONS = {
  variables,
  mockTools,
  textOnly: choice(
    '`override` (default): the conversation is asked to be text only; `agent`: nothing is overridden, since the agent is text only',
    ['override', 'agent'],
  ),
} as const satisfies Options;

/**
 * The first message: who calls, and the variables. Nothing in it alters the agent, but `textOnly` and `mockTools`, if they are
 * asked for.
 */
export const initiation = (
  { callId, variables: given, mockedTools = [] }: Pick<AgentCall, 'callId' | 'variables' | 'mockedTools'>,
  { variables: values = {}, mockTools = false }: ElevenLabsOptions,
  isTextOnly = false,
): object => ({
  type: 'conversation_initiation_client_data',
  ...(isTextOnly && { conversation_config_override: { conversation: { text_only: true } } }),
  dynamic_variables: given ?? values,
  user_id: `vat:${callId}`,
  // A tool without a mock must fail, since it would run for real.
  ...(mockTools && {
    tool_mock_config: {
      ...{ mocking_strategy: 'selected', mocked_tool_names: mockedTools, fallback_strategy: 'raise_error' },
    },
  }),
});

/** The version that is asked for, in a query. */
export const versionQuery = ({
  assistantVersion: asked,
}: Pick<AgentCall, 'assistantVersion'>): Readonly<Record<string, string>> =>
  asked === undefined ? {} : { [BRANCH_ID.test(asked) ? 'branch_id' : 'version_id']: asked.toWellFormed() };

/** The query for a signed address. */
export const addressQuery = (call: AgentCall): Readonly<Record<string, string>> => ({
  agent_id: call.assistantId.toWellFormed(),
  ...versionQuery(call),
});
