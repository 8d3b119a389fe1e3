import type { JsonValue } from '../text.js';

/**
 * Tools with these names mean that the agent hangs up, once it has said what it is saying. Nothing else does: the
 * `finish_reason` of the protocol ends an answer and not a call.
 */
export const HANG_UP_TOOLS: ReadonlySet<string> = new Set(['end_call', 'endCall', 'hang_up', 'hangUp', 'hangup']);

/** The agent's reason among the arguments of such a tool; empty when it gives none. */
export function hangUpReason(args: { readonly [name: string]: JsonValue } | null): string {
  const reason = args?.reason;
  return typeof reason === 'string' ? reason : '';
}
