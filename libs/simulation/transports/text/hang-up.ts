import type { JsonValue } from '../../timeline/text.js';

/**
 * A call of one of these tools means that the agent hangs up after its answer. `finish_reason` only ends an answer, not
 * the call.
 */
export const HANG_UP_TOOLS: ReadonlySet<string> = new Set(['end_call', 'endCall', 'hang_up', 'hangUp', 'hangup']);

/** The agent's reason for hanging up; empty when it gives none. */
export function hangUpReason(args: { readonly [name: string]: JsonValue } | null): string {
  const reason = args?.reason;
  return typeof reason === 'string' ? reason : '';
}
