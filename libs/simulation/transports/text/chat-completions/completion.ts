import { CallFailure } from '../../../timeline/failure.js';
import { truncate } from '../../../timeline/text.js';
import { ANSWER_LIMITS } from './limits.js';

/** A complete tool call. */
export interface RawToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON, if the agent follows the protocol. */
  readonly arguments: string;
  /** Clock time of its first and last chunk. */
  readonly start: number;
  readonly end: number;
}

export interface CompletionSink {
  now(): number;
  /** A part of what the agent says. */
  text(part: string): void;
}

type Fields = Readonly<Record<string, unknown>>;
interface OpenToolCall {
  id: string;
  name: string;
  arguments: string;
  start: number;
  end: number;
}

/**
 * Assembles a chat completion from its chunks. Unknown fields are ignored; known fields must have the right type.
 */
export class CompletionAssembler {
  private readonly calls = new Map<number, OpenToolCall>();
  private words = '';
  /** `stop`, `tool_calls`, …; the answer is complete once it is set. */
  finishReason: string | undefined;

  constructor(private readonly sink: CompletionSink) {}

  get text(): string {
    return this.words;
  }

  get toolCalls(): RawToolCall[] {
    return [...this.calls.values()];
  }

  /** A `chat.completion.chunk`. @throws CallFailure */
  chunk(json: string): void {
    const choice = this.choice(json);
    if (!choice) return;
    if (choice.delta !== undefined && choice.delta !== null) this.message(object(choice.delta, 'delta'));
    if (typeof choice.finish_reason === 'string') this.finishReason = choice.finish_reason;
  }

  /** A whole `chat.completion`. @throws CallFailure */
  whole(json: string): void {
    const choice = this.choice(json);
    if (!choice) throw new CallFailure('invalid_answer', 'it has no choice');
    this.message(object(choice.message, 'message'));
    this.finishReason = typeof choice.finish_reason === 'string' ? choice.finish_reason : 'stop';
  }

  private choice(json: string): Fields | undefined {
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch (cause) {
      throw new CallFailure('invalid_answer', 'a part of it is not JSON', { cause });
    }
    const { error, choices } = object(value, 'answer');
    if (error !== undefined && error !== null) throw new CallFailure('agent_error', { what: errorText(error) });
    if (!Array.isArray(choices)) throw new CallFailure('invalid_answer', 'it has no list of choices');
    // The last chunk may only contain token counts.
    return choices.length === 0 ? undefined : object(choices[0], 'choice');
  }

  private message({ content, tool_calls: calls }: Fields): void {
    if (typeof content === 'string') this.say(content);
    else if (content !== undefined && content !== null)
      throw new CallFailure('invalid_answer', 'its content is not text');
    if (calls === undefined || calls === null) return;
    if (!Array.isArray(calls)) throw new CallFailure('invalid_answer', 'its tool calls are not a list');
    calls.forEach((call, position) => this.toolCall(object(call, 'tool call'), position));
  }

  private say(part: string): void {
    if (part === '') return;
    this.words += part;
    if (this.words.length > ANSWER_LIMITS.text) throw new CallFailure('answer_too_large', 'its text');
    this.sink.text(part);
  }

  private toolCall(part: Fields, position: number): void {
    const index = typeof part.index === 'number' ? part.index : position;
    const { name, arguments: text } = part.function === undefined ? {} : object(part.function, 'function');
    const call = this.calls.get(index) ?? this.openCall(index);
    if (typeof part.id === 'string' && part.id !== '') call.id = part.id;
    if (typeof name === 'string') call.name += name;
    if (typeof text === 'string') call.arguments += text;
    // Some servers send the arguments as an object instead of as text.
    else if (typeof text === 'object' && text !== null) call.arguments = jsonOf(text);
    call.end = this.sink.now();
    const size = call.id.length + call.name.length + call.arguments.length;
    if (size > ANSWER_LIMITS.toolCall) throw new CallFailure('answer_too_large', 'a tool call');
  }

  private openCall(index: number): OpenToolCall {
    if (this.calls.size === ANSWER_LIMITS.toolCalls) throw new CallFailure('answer_too_large', 'its tool calls');
    const now = this.sink.now();
    const call = { id: `call_${index}`, name: '', arguments: '', start: now, end: now };
    this.calls.set(index, call);
    return call;
  }
}

function object(value: unknown, what: string): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  throw new CallFailure('invalid_answer', `its ${what} is not an object`);
}

/** @throws CallFailure when the value is nested too deeply to serialise */
function jsonOf(value: object): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    throw new CallFailure('answer_too_large', 'a tool call', { cause });
  }
}

function errorText(error: unknown): string | undefined {
  const { message } = typeof error === 'object' && error !== null ? (error as Fields) : {};
  const text = typeof error === 'string' ? error : message;
  return typeof text === 'string' ? truncate(text, 200) : undefined;
}
