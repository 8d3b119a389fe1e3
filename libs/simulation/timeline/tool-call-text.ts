import { truncate } from './text.js';
import type { ToolCallEntry } from './timeline.js';

/** Formats a tool call for results. */
export const toolCallText = ({ name, arguments: args, rawArguments }: ToolCallEntry): string =>
  `${name}(${truncate(args ? JSON.stringify(args) : (rawArguments ?? 'arguments not known'), 300)})`;
