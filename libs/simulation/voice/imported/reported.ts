import type { JsonValue } from '../../timeline/text.js';
import type { Recorded } from '../../timeline/recorded.js';
import type { EndEntry } from '../../timeline/timeline.js';
import type { ToolCallFact, VoiceFacts } from '../facts/facts.js';

/** A tool call of the agent, as it was reported with a call. */
export interface ImportedToolCall {
  readonly name: string;
  /** Null: they are not an object of JSON. */
  readonly arguments: { readonly [name: string]: JsonValue } | null;
  readonly result?: JsonValue;
  /** From the beginning of the recording, or of the call. */
  readonly startMs: number;
}

/** What is known of a call that was recorded elsewhere beside its sound and its words. */
export interface ReportedCall {
  /** Absent if they are not known; empty if there were none. */
  readonly toolCalls?: readonly ImportedToolCall[];
  /** Why it ended, in the words of its platform. */
  readonly endedReason?: string;
  /** Whether its caller was a real one. */
  readonly isProduction?: boolean;
}

export const recordedAs = (by: Recorded['by'], isProduction = false): Recorded => ({
  by,
  ...(isProduction && { isProduction: true }),
});

type End = Pick<EndEntry, 'by' | 'code' | 'reason'>;

/** What platforms call the end of a call: Vapi `endedReason`, Retell `disconnection_reason`, ElevenLabs `termination_reason`. */
const ENDS: readonly (readonly [RegExp, Pick<End, 'by' | 'code'>])[] = [
  [/^(caller|customer|user|user_hangup)$|^customer-ended-call(-|$)/, { by: 'caller', code: 'caller_done' }],
  [
    /^client disconnected\b|^(remote party ended call|call ended by remote party)\b/,
    { by: 'caller', code: 'caller_done' },
  ],
  [/^(agent|assistant)$|^(agent_hangup|assistant-ended-call)/, { by: 'agent', code: 'agent_hung_up' }],
  [/^assistant-said-end-call-phrase$|\bend_call tool\b/, { by: 'agent', code: 'agent_hung_up' }],
  [
    /^(max_duration_reached|exceeded-max-duration)$|\bexceeded maximum duration\b/,
    { by: 'tester', code: 'max_duration' },
  ],
  [
    /^(inactivity|silence-timed-out|assistant-forwarded-call|call_transfer|transfer_bridged)$|\bseconds of silence\b/,
    { by: 'tester', code: 'platform_hung_up' },
  ],
];
/**
 * An error or a limit of the platform: of Vapi and its providers, `error_…` of Retell, sentences of ElevenLabs. What the agent
 * would have done is not known.
 */
const BROKEN_OFF =
  /\berrors?\b|(^|[-_.])error([-_]|$)|(vapi|provider)fault|\bquota\b|^(pipeline-no-|worker-shutdown$|no-server-available$|concurrency_limit_reached$|no_valid_payment$)|websocket/;
const TRANSFERRED = /^(assistant-forwarded-call|call_transfer|transfer_bridged)$/;

/** How a call ended. Reasons that are not known leave open who ended it. @param source what the call is known by */
export function endOf(endedReason: string | undefined, source: Recorded['by']): End {
  const words = endedReason?.trim().toLowerCase() ?? '';
  const known = ENDS.find(([pattern]) => pattern.test(words));
  if (known) return { ...known[1], reason: endedReason! };
  if (BROKEN_OFF.test(words)) {
    return { by: 'tester', code: 'platform_failed', reason: `The platform ended the call: ${endedReason}` };
  }
  const over = `The ${source} ended`;
  return { by: 'tester', code: 'recording_over', reason: words === '' ? over : `${over}: ${endedReason}` };
}

/** That the agent passed the call on, if the reason says so; where to, it does not say. */
export const transferOf = (endedReason: string | undefined, atMs: number): VoiceFacts['platformEvents'] =>
  TRANSFERRED.test(endedReason?.trim().toLowerCase() ?? '') ? [{ type: 'transfer', atMs, detail: '' }] : [];

/** Why tool calls are not known; null if they were reported. */
export const unknownToolsOf = ({ toolCalls }: ReportedCall, source: Recorded['by']): string | null =>
  toolCalls ? null : `A ${source} does not show tool calls`;

export const toolFact = ({ name, arguments: args, result, startMs }: ImportedToolCall): ToolCallFact => ({
  ...{ atMs: startMs, name, json: args && JSON.stringify(args), reported: 'given' },
  ...(result !== undefined && { result }),
});

/** The facts of a recording, with what was reported of its call. */
export function withReported(facts: VoiceFacts, reported: ReportedCall): VoiceFacts {
  const { endedReason, isProduction = false, toolCalls = [] } = reported;
  const { atMs } = facts.end;
  return {
    ...facts,
    toolCalls: toolCalls.map(toolFact).sort((a, b) => a.atMs - b.atMs),
    unknownTools: unknownToolsOf(reported, 'recording'),
    platformEvents: [...facts.platformEvents, ...transferOf(endedReason, atMs)],
    end: { ...endOf(endedReason, 'recording'), atMs },
    ...(facts.imported && { imported: { ...facts.imported, ...(isProduction && { isProduction }) } }),
  };
}
