import type { HistoryLine } from '../../evaluation-definition/index.js';

/** A line of the history in words, without who said it; a tool call with what it returned. */
export function historyText(line: HistoryLine): string {
  if ('caller' in line) return line.caller;
  if ('agent' in line) return line.agent;
  const { tool, arguments: args = {}, result } = line;
  return `${tool}(${JSON.stringify(args)})${result === undefined ? '' : ` returned ${JSON.stringify(result)}`}`;
}

export const historySide = (line: HistoryLine): 'caller' | 'agent' | 'agent calls tool' =>
  'caller' in line ? 'caller' : 'agent' in line ? 'agent' : 'agent calls tool';
