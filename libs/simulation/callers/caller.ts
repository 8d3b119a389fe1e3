/** What the caller does when it has the floor. */
export type CallerAction =
  | { readonly type: 'speak'; readonly text: string }
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'hang_up'; readonly code: 'script_over' | 'caller_done'; readonly reason: string };

export interface AgentReply {
  /** What the agent said when it last said something; empty while it has said nothing. */
  readonly answer: string;
  /** Whether the agent has not answered the caller's last words. */
  readonly isSilent: boolean;
}

/** The simulated person. The conversation decides when it acts; it decides what it does. */
export interface Caller {
  readonly kind: 'scripted' | 'generated';
  /** @throws CallerUnusable, CallFailure */
  next(heard: AgentReply, signal: AbortSignal): CallerAction | Promise<CallerAction>;
}

/** The caller could not play its part: the call is `invalid`. */
export class CallerUnusable extends Error {
  override readonly name = 'CallerUnusable';
}
