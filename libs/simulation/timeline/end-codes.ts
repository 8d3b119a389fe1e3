/** Why a call ended. */
export const END_CODES = {
  script_over: 'the script ended',
  caller_done: 'the caller ended the call',
  no_answer: 'the script has no answer to what the agent says',
  agent_silent: 'the caller hung up because the agent did not answer twice in a row',
  agent_repeats: 'the agent repeated itself although it was answered three times',
  agent_hung_up: 'the agent hung up',
  connection_closed: 'the connection was closed without a hang-up',
  platform_hung_up: 'the platform ended the call',
  max_turns: 'the call reached its maximum number of turns',
  max_duration: 'the call reached its maximum duration',
  caller_broken: 'the simulated caller could not continue',
  failure: 'the call broke off',
  recording_over: 'the recording ended',
  platform_failed: 'the platform broke the call off',
} as const;
export type EndCode = keyof typeof END_CODES;

/** Ends of recorded calls that do not say who ended them. */
export const UNKNOWN_ENDS: ReadonlySet<EndCode> = new Set(['recording_over', 'platform_failed']);

/** Who ends a call at the caller's turn. */
export const endedBy = (code: EndCode) => (code === 'agent_repeats' ? 'tester' : 'caller');
