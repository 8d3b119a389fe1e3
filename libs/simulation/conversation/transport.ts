import type { HistoryLine, ToolResult } from '../../evaluation-definition/index.js';
import type { ConnectionPhase } from '../../outbound-http/index.js';
import type { CallExchange } from '../other-side/call-exchange.js';
import type { Clock } from '../time/clock.js';
import type { Stall } from '../time/stalls.js';
import type { Failure } from '../timeline/failure.js';
import type { SentSecrets } from '../other-side/secrets.js';
import type { FindingEntry, ToolCallEntry } from '../timeline/timeline.js';

/**
 * The agent's actions, in order. `at` is the clock time of the action, from which latencies are computed.
 */
export type AgentEvent =
  /** The next part of the agent's words; the first one after a `speech_end` starts a new speech entry. */
  | { readonly type: 'speech'; readonly at: number; readonly text: string }
  | { readonly type: 'speech_end'; readonly at: number }
  /** The next words go on in an entry of their own, because a tool call comes with them. */
  | { readonly type: 'speech_split'; readonly at: number }
  /** A tool call begins, whose `tool_call` follows when it is complete; this is its place among the words. */
  | { readonly type: 'tool_start'; readonly at: number }
  | ({
      readonly type: 'tool_call';
      readonly at: number;
      readonly endedAt: number;
      /** How long the tester takes to return the result. */
      readonly delayMs?: number;
    } & Pick<ToolCallEntry, 'name' | 'arguments' | 'rawArguments' | 'result' | 'isBesideWords'>)
  /** A deviation that does not change what is heard. */
  | ({ readonly type: 'warning'; readonly at: number } & Pick<FindingEntry, 'code' | 'detail'>)
  /** The end of an answer was waited for, which does not count as time of the call. */
  | { readonly type: 'idle'; readonly since: number; readonly at: number }
  /** The agent waits for the caller. Text transports detect this by the end of the answer. */
  | { readonly type: 'turn_end'; readonly at: number }
  /** A request begins, which is not an action of the agent. */
  | { readonly type: 'request'; readonly at: number; readonly request: RequestRecord }
  | { readonly type: 'hang_up'; readonly at: number; readonly reason: string }
  | { readonly type: 'failure'; readonly at: number; readonly failure: Failure };

export interface LineOptions {
  readonly clock: Clock;
  /** Receives the agent's actions; ignored after `hangUp`. */
  readonly emit: (event: AgentEvent) => void;
  /** What the agent gets as the conversation before the call. */
  readonly history?: readonly HistoryLine[];
  /** Results for an agent that waits for its tools; `DEFAULT_TOOL_RESULT` for any other tool. */
  readonly toolResults?: readonly ToolResult[];
  /** Whether the first call of a tool, or the end of the agent's turn, ends the call. */
  readonly isTest?: boolean;
  /** Called as the connection to the agent is set up. @param at on the clock; absent: now */
  readonly onPhase?: (phase: ConnectionPhase, at?: number) => void;
}

/**
 * One request to the agent, filled in while it is in progress; the counterpart of `ExchangedRequest` with clock times.
 */
export interface RequestRecord {
  sentAt?: number;
  status?: number;
  firstByteAt?: number;
  /** At most `EXCHANGE_LIMITS.tokens`. */
  readonly tokensAt: number[];
  finishReason?: string;
  unreadable?: string;
  /** What the agent sent, if that was not an answer: its beginning, without secrets. */
  said?: string;
}

/**
 * An open connection to the agent, which only acts between the caller's words and its own `turn_end`; the tester's thinking
 * time is not part of the call.
 */
export interface Line {
  /** What identifies this call on the agent's side; undefined for an agent in this process. */
  readonly identity?: Pick<CallExchange, 'protocol' | 'url' | 'callId'>;
  /** Whether the agent says the first words of the call. */
  readonly agentSpeaksFirst: boolean;
  /**
   * Asks for the agent's first words, where the agent does not speak by itself. Resolves with the clock time at which it
   * was asked: connecting takes none of the agent's time.
   */
  greet?(): Promise<number>;
  /** Says something. Resolves with the clock times at which the caller's words started and ended. */
  say(text: string): Promise<{ readonly start: number; readonly end: number }>;
  /** Ends the call and releases all resources; may be called more than once. */
  hangUp(): void;
  /** Those of the thread that reads what the agent sends, if it is another one; on the clock. */
  readonly stalls?: readonly Stall[];
}

/** How the caller reaches an agent. */
export interface Transport {
  /** Name in the result. */
  readonly name: string;
  readonly secrets?: SentSecrets;
  /** Calls the agent; failures are reported as events. */
  connect(options: LineOptions): Line;
}
