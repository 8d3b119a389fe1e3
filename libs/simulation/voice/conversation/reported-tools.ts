import {
  joinReports,
  type ReportedToolCall,
  type TakeReports,
  timeOf,
  unknownTools,
} from '../../conversation/reported-tools.js';
import type { Clock } from '../../time/clock.js';
import { parseArguments } from '../../timeline/text.js';
import type { ToolCallFact, VoiceFacts } from '../facts/facts.js';
import type { VoiceTransport } from '../wire/voice-transport.js';

export interface ReportingOptions {
  readonly transport: VoiceTransport;
  readonly clock: Clock;
  readonly takeReports?: TakeReports | undefined;
}

/**
 * The facts with the tool calls that were reported, and why others are not known.
 * @param startedAt when the stream began; undefined if it is not known, so that the call ended just now
 */
export async function withReports(
  facts: VoiceFacts,
  startedAt: number | undefined,
  { transport: { name, providesToolCalls = true }, clock, takeReports }: ReportingOptions,
): Promise<VoiceFacts> {
  if (!takeReports) return providesToolCalls ? facts : { ...facts, unknownTools: unknownTools(name, undefined) };
  const { toolCalls, end, streamStartMs = 0 } = facts;
  const answeredAt = startedAt === undefined ? clock.now() - end.atMs : startedAt - streamStartMs;
  const reports = await clock.awaitExternal(takeReports());
  const now = clock.now();
  const fact = ({ name: tool, arguments: args, rawArguments = '', result, ...of }: ReportedToolCall): ToolCallFact => ({
    atMs: Math.min(Math.max(now - of.agoMs - answeredAt, 0), end.atMs),
    name: tool,
    json: args === null ? rawArguments : JSON.stringify(args),
    ...(result !== undefined && { result }),
    reported: timeOf(of),
  });
  const shown = toolCalls.map(({ name: tool, json, result }) => {
    const args = json === null ? null : parseArguments(json);
    const raw = args === null && json !== null && { rawArguments: json };
    return { name: tool, arguments: args, ...raw, ...(result !== undefined && { result }) };
  });
  const { calls, others, doubt } = joinReports(shown, reports.calls);
  const known = [...calls].map(([call, { arguments: args, result }], index) => ({
    ...toolCalls[index]!,
    ...(args !== call.arguments && { reportedJson: JSON.stringify(args) }),
    ...(result !== undefined && { result }),
  }));
  return {
    ...facts,
    toolCalls: [...known, ...others.map(fact)],
    unknownTools: unknownTools(name, reports, doubt),
  };
}
