import { CallFailure } from '../timeline/failure.js';
import { ANSWER_LIMITS } from './limits.js';

/** A complete tool call. */
export interface RawToolCall {
  /** One that no other call of the answer has. */
  readonly id: string;
  readonly name: string;
  /** JSON, if the agent follows the protocol. */
  readonly arguments: string;
  /** Clock time of its first and last chunk. */
  readonly start: number;
  readonly end: number;
  /** Whether it came in one message with words, which has no order. */
  readonly isBesideWords: boolean;
  /** Whether it is the older `function_call`, whose result has no id. */
  readonly isFunctionCall: boolean;
}

type OpenToolCall = { -readonly [Field in keyof RawToolCall]: RawToolCall[Field] };

/** A part of a tool call; empty texts are absent. */
export interface ToolCallPart {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly index: number | undefined;
  /** In the list of its message. */
  readonly position: number;
  readonly isBesideWords: boolean;
  readonly isFunctionCall: boolean;
}

/** Characters of arguments that are parsed to find their end: thousands of parts that may each be the last one take quadratic time. */
const MAX_PARSED = 20_000_000;

/** Assembles tool calls: servers give each part an index, an id, both or neither, and repeat names and whole calls. */
export class ToolCallParts {
  private readonly calls: OpenToolCall[] = [];
  /** The latest call with an index, and that at a position of the list. */
  private parsed = 0;
  private readonly places = new Map<number | string, OpenToolCall>();

  constructor(private readonly sink: { now(): number; toolStarts(): void }) {}

  get all(): readonly RawToolCall[] {
    const ids = new Set<string>();
    return this.calls.map((call, index) => {
      let { id } = call;
      for (let n = index; id === '' || ids.has(id); n++) id = `call_${n}`;
      ids.add(id);
      return { ...call, id };
    });
  }

  /** @throws CallFailure when there are too many, or one is too large */
  take(part: ToolCallPart): void {
    const found = this.find(part);
    if (found && this.isRepetition(found, part)) return;
    if (!found && part.id + part.name + part.arguments === '') return;
    const call = found && !this.isAnother(found, part) ? found : this.open(part);
    call.id ||= part.id;
    // One that is repeated whole is not appended.
    if (part.name !== call.name) call.name += part.name;
    // Some servers begin with an empty object, and send the whole one after it.
    call.arguments = call.arguments === '{}' ? part.arguments || '{}' : call.arguments + part.arguments;
    call.end = this.sink.now();
    const size = call.id.length + call.name.length + call.arguments.length;
    if (size > ANSWER_LIMITS.toolCall) throw new CallFailure('answer_too_large', 'a tool call');
  }

  private find({ id, name, index, position }: ToolCallPart): OpenToolCall | undefined {
    const withId = id === '' ? undefined : this.calls.findLast((call) => call.id === id);
    if (index === undefined) return withId ?? this.places.get(`#${position}`);
    return this.places.get(index) ?? (name === '' ? withId : undefined);
  }

  /** The id names one call, so the same call with the same id is not made twice. */
  private isRepetition(call: OpenToolCall, part: ToolCallPart): boolean {
    return part.id !== '' && part.id === call.id && part.arguments === call.arguments && this.isWhole(call.arguments);
  }

  /**
   * Whether a part begins another call than the one in its place. Another id alone does not: some servers send a new one with
   * each part.
   */
  private isAnother(call: OpenToolCall, { id, name, arguments: text }: ToolCallPart): boolean {
    if (name === '') return false;
    const hasOtherId = id !== '' && call.id !== '' && id !== call.id;
    if (call.name !== '' && name !== call.name) return hasOtherId || call.arguments !== '';
    if (hasOtherId) return this.isWhole(call.arguments);
    return text !== '' && call.arguments !== '{}' && this.isWhole(call.arguments);
  }

  private isWhole(json: string): boolean {
    if (!json.trimEnd().endsWith('}')) return false;
    this.parsed += json.length;
    if (this.parsed > MAX_PARSED) throw new CallFailure('answer_too_large', 'its tool calls');
    try {
      JSON.parse(json);
      return true;
    } catch {
      return false;
    }
  }

  private open({ index, position, isBesideWords, isFunctionCall }: ToolCallPart): OpenToolCall {
    if (this.calls.length === ANSWER_LIMITS.toolCalls) throw new CallFailure('answer_too_large', 'its tool calls');
    const now = this.sink.now();
    const call = { id: '', name: '', arguments: '', start: now, end: now, isBesideWords, isFunctionCall };
    this.calls.push(call);
    this.places.set(`#${position}`, call);
    if (index !== undefined) this.places.set(index, call);
    this.sink.toolStarts();
    return call;
  }
}
