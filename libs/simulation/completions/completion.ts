import { CallFailure } from '../timeline/failure.js';
import { truncate } from '../timeline/text.js';
import { ANSWER_LIMITS } from './limits.js';
import { type RawToolCall, type ToolCallPart, ToolCallParts } from './tool-call-parts.js';

export interface CompletionSink {
  now(): number;
  /** A part of what the agent says. @param isApart whether it came in one message with a tool call */
  text(part: string, isApart: boolean): void;
  /** A tool call begins. */
  toolStarts(): void;
}

type Fields = Readonly<Record<string, unknown>>;

/** Parts of content that are said; servers also send what the model thinks, references and the like. */
const SAID_PARTS: readonly unknown[] = ['text', 'output_text', undefined];
/**
 * Assembles a chat completion from its chunks. Unknown fields are ignored; known fields must have the right type.
 */
export class CompletionAssembler {
  private readonly calls: ToolCallParts;
  private words = '';
  /** `stop`, `tool_calls`, …: the last one, which is not the end if more follows. */
  finishReason: string | undefined;
  /** Whether something was said or called after the last reason. */
  hasMore = false;
  /** Whether the last of it was a tool call, or words and tool calls in one message. */
  endsWithCall = false;
  /** Whether anything was a chat completion, or a chunk of one. */
  isAnswer = false;
  /** What the model thought, where a server keeps it apart from its words. */
  thoughts = '';
  /** Numbers of tokens, as the server writes them. */
  usage: unknown;

  constructor(private readonly sink: CompletionSink) {
    this.calls = new ToolCallParts(sink);
  }

  get text(): string {
    return this.words;
  }

  get toolCalls(): readonly RawToolCall[] {
    return this.calls.all;
  }

  /**
   * A `chat.completion.chunk`. Anything else without choices is passed over, unless it reports an error.
   * @param name of its event; others than `message` and `error` are the agent's own
   * @throws CallFailure
   */
  chunk(json: string, name = ''): void {
    const isOwn = name !== '' && name !== 'message' && name !== 'error';
    const value = parsed(json, isOwn);
    if (value === null || (isOwn && typeof value !== 'object')) return;
    const choice = this.choice(object(value, 'answer'), name);
    if (!choice) return;
    const message = choice.delta ?? choice.message;
    if (message !== undefined && message !== null) this.message(object(message, 'delta'));
    this.finish(choice);
  }

  /** A whole `chat.completion`. @throws CallFailure */
  whole(json: string): void {
    const choice = this.choice(object(parsed(json, false), 'answer'), '');
    if (!this.isAnswer) throw new CallFailure('invalid_answer', 'it has no list of choices');
    if (!choice) throw new CallFailure('invalid_answer', 'it has no choice');
    this.message(object(choice.message ?? choice.delta, 'message'));
    this.finish(choice);
    this.finishReason ??= 'stop';
  }

  private finish({ finish_reason: reason }: Fields): void {
    if (reason === 'error') throw new CallFailure('agent_error', { what: 'its finish_reason is error' });
    // Many servers send an empty one with each chunk.
    if (typeof reason !== 'string' || reason.trim() === '') return;
    this.finishReason = reason;
    this.hasMore = false;
  }

  private choice(value: Fields, name: string): Fields | undefined {
    const { error, choices, usage } = value;
    this.usage = usage ?? this.usage;
    const list = Array.isArray(choices) ? (choices as readonly unknown[]) : undefined;
    // An event of the agent's own may tell of an error of a tool.
    const isError =
      list || name === '' || name === 'message' ? Boolean(error) || value['object'] === 'error' : name === 'error';
    if (isError) throw new CallFailure('agent_error', { what: errorText(error || value) });
    if (!list) return undefined;
    this.isAnswer = true;
    // The first and the last chunk may have none.
    const first = list.find((choice) => (choice as Fields | null)?.['index'] === 0) ?? list[0];
    return first === undefined || first === null ? undefined : object(first, 'choice');
  }

  private message({ content, refusal, tool_calls: calls, function_call: call, ...message }: Fields): void {
    this.thoughts += textOf(message['reasoning_content'] ?? message['reasoning']);
    const said = `${saidIn(content)}${typeof refusal === 'string' ? refusal : ''}`;
    if (calls !== undefined && calls !== null && !Array.isArray(calls))
      throw new CallFailure('invalid_answer', 'its tool calls are not a list');
    const parts = ((calls ?? []) as readonly unknown[]).map((one, position) => toolCallPart(one, position));
    if (call && !this.isRepeated(object(call, 'function'), parts))
      parts.push({ ...toolCallPart({ function: call }, -1), isFunctionCall: true });
    const isBesideWords = parts.length > 0 && said.trim() !== '';
    if (said !== '') this.say(said, isBesideWords);
    for (const part of parts) this.calls.take({ ...part, isBesideWords });
    if (said !== '' || parts.length > 0) this.hasMore = true;
    if (said.trim() !== '' || parts.length > 0) this.endsWithCall = parts.length > 0;
  }

  /** An agent that sends a call in both forms means one. Only the first part of the older form has the name. */
  private isRepeated({ name }: Fields, parts: readonly ToolCallPart[]): boolean {
    const others = [...parts, ...this.toolCalls.filter(({ isFunctionCall }) => !isFunctionCall)];
    const isFirst = textOf(name) !== '' || !this.toolCalls.some(({ isFunctionCall }) => isFunctionCall);
    return isFirst && others.some((other) => textOf(name) === '' || other.name === name);
  }

  private say(part: string, isApart: boolean): void {
    this.words += part;
    if (this.words.length > ANSWER_LIMITS.text) throw new CallFailure('answer_too_large', 'its text');
    this.sink.text(part, isApart);
  }
}

/** @param isOwn whether it need not be JSON. @throws CallFailure */
function parsed(json: string, isOwn: boolean): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    if (isOwn) return undefined;
    throw new CallFailure('invalid_answer', 'a part of it is not JSON', { cause });
  }
}

/** The words of a content, which is a text or a list of parts. @throws CallFailure */
function saidIn(content: unknown): string {
  if (content === undefined || content === null) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw new CallFailure('invalid_answer', 'its content is not text');
  return content.map(saidInPart).join('');
}

function saidInPart(part: unknown): string {
  if (typeof part === 'string') return part;
  const { type, text, refusal } = (part ?? {}) as Fields;
  if (type === 'refusal') return typeof refusal === 'string' ? refusal : '';
  return SAID_PARTS.includes(type) && typeof text === 'string' ? text : '';
}

/** @throws CallFailure */
function toolCallPart(value: unknown, position: number): ToolCallPart {
  const call = object(value, 'tool call');
  const { name, arguments: given } = object(call.function ?? call, 'function');
  const index = typeof call.index === 'string' && /^\d{1,3}$/.test(call.index) ? Number(call.index) : call.index;
  return {
    id: textOf(call.id),
    name: textOf(name),
    // Some servers send the arguments as an object instead of as text.
    arguments: typeof given === 'object' && given !== null ? jsonOf(given) : textOf(given),
    index: typeof index === 'number' ? index : undefined,
    ...{ position, isBesideWords: false, isFunctionCall: false },
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

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
