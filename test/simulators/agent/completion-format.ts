import type { AnswerPart, Usage } from './agent.js';

/** The fields that all chunks of one answer share. */
export interface CompletionHead {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

const usageOf = ({ promptTokens, completionTokens }: Usage) => ({
  prompt_tokens: promptTokens,
  completion_tokens: completionTokens,
  total_tokens: promptTokens + completionTokens,
});

type ToolCallPart = Extract<AnswerPart, { type: 'tool_call' }>;
const toolCall = (call: ToolCallPart) => ({
  id: call.id,
  type: 'function',
  function: { name: call.name, arguments: call.arguments },
});

/** Formats the parts of an answer as server-sent events with `chat.completion.chunk` objects. */
export class ChunkWriter {
  private toolCalls = 0;
  private isFirst = true;

  constructor(
    private readonly head: CompletionHead,
    private readonly includesUsage: boolean,
  ) {}

  /** Returns the events of one part; the last part ends the stream with `[DONE]`. */
  events(part: AnswerPart): string {
    switch (part.type) {
      case 'text':
        return this.delta({ content: part.text });
      case 'tool_call': {
        // Split as other servers do, so that clients are tested with tool calls in several chunks.
        const index = this.toolCalls;
        this.toolCalls += 1;
        const start = { index, ...toolCall({ ...part, arguments: '' }) };
        const half = Math.ceil(part.arguments.length / 2);
        const pieces = [part.arguments.slice(0, half), part.arguments.slice(half)];
        return [
          this.delta({ tool_calls: [start] }),
          ...pieces.map((piece) => this.delta({ tool_calls: [{ index, function: { arguments: piece } }] })),
        ].join('');
      }
      case 'end': {
        const end = this.delta({}, part.finishReason);
        const usage = this.includesUsage ? this.event({ choices: [], usage: usageOf(part.usage) }) : '';
        return `${end}${usage}data: [DONE]\n\n`;
      }
    }
  }

  private delta(delta: object, finishReason: string | null = null): string {
    const role = this.isFirst ? { role: 'assistant' } : {};
    this.isFirst = false;
    const choice = { index: 0, delta: { ...role, ...delta }, finish_reason: finishReason };
    return this.event({ choices: [choice], ...(this.includesUsage && { usage: null }) });
  }

  private event(body: object): string {
    return `data: ${JSON.stringify({ ...this.head, object: 'chat.completion.chunk', ...body })}\n\n`;
  }
}

/** A complete answer as one `chat.completion`. */
export function completion(head: CompletionHead, parts: readonly AnswerPart[]): object {
  const texts = parts.filter((part) => part.type === 'text').map(({ text }) => text);
  const calls = parts.filter((part) => part.type === 'tool_call').map(toolCall);
  const end = parts.find((part) => part.type === 'end');
  const message = {
    role: 'assistant',
    content: end?.finishReason === 'tool_calls' ? null : texts.join(''),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: end?.finishReason ?? 'stop' }],
    ...(end && { usage: usageOf(end.usage) }),
  };
}
