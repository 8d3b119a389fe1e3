import { type Clock, systemClock } from './clock.js';
import { type Answer, answerTo, type AnswerToolCall, type Message } from './conversation.js';
import { behaviourOf, type FaultName } from './faults.js';

export interface ReferenceAgentOptions {
  /** The planted fault; the agent is healthy without one. */
  readonly fault?: FaultName;
  readonly clock?: Clock;
  /** Milliseconds since 1970, to resolve dates such as "on Friday". Separate from the clock, whose zero is arbitrary. */
  readonly now?: () => number;
  /** Milliseconds before the first part of every answer. */
  readonly latencyMs?: number;
  /** Milliseconds that the fault `slow-answer` adds to `latencyMs`. */
  readonly slowMs?: number;
  /** Speed of the answer, counting words as tokens; 0 sends it at once. */
  readonly tokensPerSecond?: number;
}

export const DEFAULT_SLOW_MS = 2_500;

/** One part of an answer, in spoken order. */
export type AnswerPart =
  | ({ readonly type: 'tool_call' } & AnswerToolCall)
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'end'; readonly finishReason: Answer['finishReason']; readonly usage: Usage };

/** Estimated tokens: one for every four characters. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface RespondOptions {
  /** Tools that the client runs itself. */
  readonly hostedTools?: ReadonlySet<string>;
  /** Stops the answer: no further part follows. */
  readonly signal?: AbortSignal;
}

export interface ReferenceAgent {
  readonly fault: FaultName | undefined;
  /**
   * Answers a conversation, part by part at the configured speed. Keeps no state between calls.
   * @throws AgentFailure with the faults `error-status` and `cut-stream`
   */
  respond(messages: readonly Message[], options?: RespondOptions): AsyncGenerator<AnswerPart, void, undefined>;
}

/** A planted failure: with a status before the answer, or in the middle of the answer. */
export class AgentFailure extends Error {
  override readonly name = 'AgentFailure';

  /** @param status HTTP status; undefined when the connection is closed */
  constructor(readonly status: number | undefined) {
    super(status === undefined ? 'The planted fault cut the answer' : 'The planted fault made the agent fail');
  }
}

/** Creates the restaurant's booking agent. It uses rules and no language model: the same messages on the same day get the same answer. */
export function createReferenceAgent(options: ReferenceAgentOptions = {}): ReferenceAgent {
  const {
    fault,
    clock = systemClock,
    now = Date.now,
    latencyMs = 0,
    slowMs = DEFAULT_SLOW_MS,
    tokensPerSecond = 0,
  } = options;
  const behaviour = behaviourOf(fault);
  const delay = latencyMs + (behaviour.isSlow ? slowMs : 0);
  const pause = tokensPerSecond > 0 ? 1_000 / tokensPerSecond : 0;

  async function* respond(messages: readonly Message[], { hostedTools, signal }: RespondOptions = {}) {
    const answer = answerTo(messages, behaviour, now(), hostedTools);
    if (delay > 0) await clock.sleep(delay, signal);
    if (answer.failure === 'status') throw new AgentFailure(500);
    // An answer that is cut off has no tool calls: only complete answers have effects.
    const calls = answer.failure === 'cut' ? [] : answer.toolCalls;
    for (const call of calls) if (call.name !== 'end_call') yield { type: 'tool_call' as const, ...call };
    const words = answer.text.match(/\S+\s*/g) ?? [];
    const said = answer.failure === 'cut' ? words.slice(0, Math.ceil(words.length / 2)) : words;
    if (pause === 0 && said.length > 0) yield { type: 'text' as const, text: said.join('') };
    else {
      for (const [index, text] of said.entries()) {
        if (index > 0) await clock.sleep(pause, signal);
        if (signal?.aborted) return;
        yield { type: 'text' as const, text };
      }
    }
    if (answer.failure === 'cut') throw new AgentFailure(undefined);
    // Say goodbye before hanging up.
    for (const call of calls) if (call.name === 'end_call') yield { type: 'tool_call' as const, ...call };
    yield { type: 'end' as const, finishReason: answer.finishReason, usage: usageOf(messages, answer) };
  }

  return { fault, respond };
}

function usageOf(messages: readonly Message[], { text, toolCalls }: Answer): Usage {
  const tokens = (characters: number) => Math.ceil(characters / 4);
  return {
    promptTokens: tokens(messages.reduce((sum, { content }) => sum + content.length, 0)),
    completionTokens: tokens(
      toolCalls.reduce((sum, call) => sum + call.name.length + call.arguments.length, text.length),
    ),
  };
}
