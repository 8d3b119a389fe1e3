import { type Clock, systemClock } from './clock.js';
import { type Answer, answerTo, type AnswerToolCall, type Message } from './conversation.js';
import { behaviourOf, type FaultName } from './faults.js';

export interface ReferenceAgentOptions {
  /** The planted fault; none for the sound agent. */
  readonly fault?: FaultName;
  readonly clock?: Clock;
  /** Milliseconds since 1970, from which "on Friday" is reckoned; apart from the clock, whose zero may be anywhere. */
  readonly now?: () => number;
  /** Milliseconds before the first part of every answer. */
  readonly latencyMs?: number;
  /** Milliseconds that the fault `slow-answer` adds to that. */
  readonly slowMs?: number;
  /** Pace of the answer, a token being a word; 0 for all at once. */
  readonly tokensPerSecond?: number;
}

export const DEFAULT_SLOW_MS = 2_500;

/** One part of an answer, in the order in which it is said. */
export type AnswerPart =
  | ({ readonly type: 'tool_call' } & AnswerToolCall)
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'end'; readonly finishReason: Answer['finishReason']; readonly usage: Usage };

/** Tokens as words and punctuation would roughly have them: four characters each. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface RespondOptions {
  /** Tools that whoever asks carries out himself. */
  readonly hostedTools?: ReadonlySet<string>;
  /** Ends the waiting; no further part comes. */
  readonly signal?: AbortSignal;
}

export interface ReferenceAgent {
  readonly fault: FaultName | undefined;
  /**
   * The answer to a conversation so far, part by part at its pace. Nothing is kept between two calls.
   * @throws AgentFailure as the faults `error-status` and `cut-stream` have it
   */
  respond(messages: readonly Message[], options?: RespondOptions): AsyncGenerator<AnswerPart, void, undefined>;
}

/** The agent fails: before its answer with a status, or in the middle of it. */
export class AgentFailure extends Error {
  override readonly name = 'AgentFailure';

  /** @param status status of HTTP; undefined when the connection breaks */
  constructor(readonly status: number | undefined) {
    super(status === undefined ? 'The planted fault has cut the answer' : 'The planted fault has made the agent fail');
  }
}

/** The restaurant's booking agent: rules, no language model; the same messages on the same day get the same answer. */
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
    // A half answer has no tool calls: only a whole one has any effect.
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
    // First the good-bye, then the hanging up.
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
