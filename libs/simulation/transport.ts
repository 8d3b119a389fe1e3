import type { Clock } from './clock.js';
import type { Failure } from './failure.js';
import type { ToolCallEntry } from './timeline.js';

/**
 * What the agent does, in order. `at` is a moment of the clock, as close to what happened as can be: latencies are
 * computed from it.
 */
export type AgentEvent =
  /** The next part of what the agent says; the first one after a `speech_end` begins a new speech. */
  | { readonly type: 'speech'; readonly at: number; readonly text: string }
  | { readonly type: 'speech_end'; readonly at: number }
  | ({ readonly type: 'tool_call'; readonly at: number; readonly endedAt: number } & Pick<
      ToolCallEntry,
      'name' | 'arguments' | 'rawArguments'
    >)
  /** The agent waits for the caller. A transport of audio tells this from a pause; of text, from the answer's end. */
  | { readonly type: 'turn_end'; readonly at: number }
  | { readonly type: 'hang_up'; readonly at: number; readonly reason: string }
  | { readonly type: 'failure'; readonly at: number; readonly failure: Failure };

export interface LineOptions {
  readonly clock: Clock;
  /** Takes what the agent does; may be called until `hangUp`, and is ignored afterwards. */
  readonly emit: (event: AgentEvent) => void;
}

/** An open connection to the agent. */
export interface Line {
  /** Whether the agent says the first words of the call. */
  readonly agentSpeaksFirst: boolean;
  /**
   * Whether both sides may speak at any time. Otherwise the agent acts only between the caller's words and its own
   * `turn_end`, and the tester's time to think stands outside of the call.
   */
  readonly isDuplex: boolean;
  /** Says something. Resolves with the moments at which the caller's words began and ended. */
  say(text: string): Promise<{ readonly start: number; readonly end: number }>;
  /** Ends the call and lets go of everything; may be called more than once. */
  hangUp(): void;
}

/** How the caller reaches an agent. */
export interface Transport {
  /** Stands in the result. */
  readonly name: string;
  /** Calls the agent; what goes wrong comes as an event. */
  connect(options: LineOptions): Line;
}
