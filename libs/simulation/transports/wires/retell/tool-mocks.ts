import type { ToolResult } from '../../../../evaluation-definition/index.js';

/**
 * The results of an evaluation as mocks of the platform, one to one: both apply the first entry whose arguments are contained in
 * those of the call. A tool without an entry runs for real.
 */
export const toolMocks = (results: readonly ToolResult[]): object[] =>
  results.map(({ tool, arguments: args = {}, result, error }) => ({
    tool_name: tool,
    input_match_rule: Object.keys(args).length === 0 ? { type: 'any' } : { type: 'partial_match', args },
    output: typeof result === 'string' ? result : JSON.stringify(error === undefined ? result : { error }),
    // For tools such as a transfer, whose result is true or false.
    ...(typeof result === 'boolean' && { result }),
  }));

/** What the mocks of the platform lack. */
export const LACKING_IN_MOCKS = ['argumentsSchema', 'same', 'results', 'noAnswer', 'times', 'delayMs'] as const;
