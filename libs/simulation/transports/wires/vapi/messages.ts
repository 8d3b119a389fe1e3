import type { SpokenWord } from '../../../voice/facts/facts.js';
import { parseArguments } from '../../../timeline/text.js';
import { argumentsJson, type Fields, type Json, listOf, objectOf, readTyped, textOf } from '../fields.js';

/** Words of the agent as they are played. */
export interface SpokenMessage {
  readonly type: 'spoken';
  readonly turn: number | undefined;
  /** All words of the turn. */
  readonly text: string;
  /** How many of them have been played; undefined if the platform does not say, null if it does not know yet. */
  readonly count?: number | null;
  /** Those of a piece of audio that is being played, with their places in it. */
  readonly words?: readonly SpokenWord[];
}

export interface ToolCall {
  /** Undefined where the platform gives none, as in `function-call`. */
  readonly id: string | undefined;
  readonly name: string;
  readonly json: string;
}

/** What is read of the platform's messages. */
export type VapiMessage = (
  | SpokenMessage
  | { readonly type: 'model'; readonly turnId: string; readonly text: string }
  | { readonly type: 'transcript' | 'heard'; readonly text: string }
  | { readonly type: 'interrupted' }
  | { readonly type: 'tools'; readonly calls: readonly ToolCall[] }
  | { readonly type: 'caller_speech' }
  | { readonly type: 'ended'; readonly reason: string }
  | { readonly type: 'note' | 'transfer'; readonly detail: string }
  | { readonly type: 'other' }
  | { readonly type: 'invalid' }
) & {
  /** What it does not have, by which nothing is lost. */
  readonly lacks?: string;
};

const MAX_ID = 256;
/** More entries, words and the spaces between them, than a turn has. */
const MAX_ALIGNED = 20_000;
const OTHER = { type: 'other' } as const;
const CALL_LISTS = ['toolCallList', 'toolWithToolCallList', 'toolCalls'] as const;
const CONVERSATIONS = ['messagesOpenAIFormatted', 'conversation', 'messages'] as const;

/** Reads a message; never throws. `other`: of a type that is not needed or that a later version may have. */
export const readMessage = (text: string): VapiMessage => readTyped(READERS, text);

const READERS: Readonly<Record<string, (message: Fields) => VapiMessage>> = {
  __proto__: null as never,
  'assistant.speechStarted': spokenOf,
  'model-output': modelOf,
  transcript: transcriptOf,
  'transcript[transcriptType="final"]': (message) => transcriptOf(message, 'final'),
  'user-interrupted': () => ({ type: 'interrupted' }),
  'tool-calls': (message) =>
    toolsOf(CALL_LISTS.filter((name) => message.has(name)).map((name) => listOf(message.raw(name)))),
  'function-call': (message) => toolsOf([[message.raw('functionCall')]]),
  'conversation-update': (message) => wholeCallsOf(CONVERSATIONS.flatMap((name) => listOf(message.raw(name)))),
  'speech-update': (message) => (message.raw('role') === 'user' ? { type: 'caller_speech' } : OTHER),
  'status-update': (message) => (message.raw('status') === 'ended' ? endedOf(message) : OTHER),
  'end-of-call-report': endedOf,
  hang: () => ({ type: 'note', detail: 'The platform reported that the agent hangs (hang)' }),
  'transfer-update': transferOf,
};

function spokenOf(message: Fields): SpokenMessage {
  const turn = message.raw('turn');
  const spoken = {
    type: 'spoken',
    turn: typeof turn === 'number' ? turn : undefined,
    text: message.text('text'),
  } as const;
  if (!message.has('timing')) return spoken;
  const timing = message.of('timing');
  if (timing.text('type') === 'word-progress') {
    const count = timing.id('wordsSpoken');
    return { ...spoken, count: count === 0 && !Number(timing.raw('totalWords')) ? null : count };
  }
  return timing.text('type') === 'word-alignment' ? { ...spoken, words: wordsOf(timing) } : spoken;
}

/** Entries of white space lie between the words; a word may be in several entries. */
function wordsOf(timing: Fields): SpokenWord[] {
  const [entries, starts, ends] = ['words', 'wordsStartTimesMs', 'wordsEndTimesMs'].map((name) => {
    const list = timing.raw(name);
    if (!Array.isArray(list) || list.length > MAX_ALIGNED) throw new TypeError(`${name} is not a list of a turn`);
    return list as readonly unknown[];
  }) as [readonly unknown[], readonly unknown[], readonly unknown[]];
  const words: SpokenWord[] = [];
  const hasSpaces = entries.some((entry) => typeof entry === 'string' && /\s/.test(entry));
  let isBetween = true;
  for (const [index, entry] of entries.entries()) {
    const [startMs, endMs] = [starts[index], ends[index]];
    if (typeof entry !== 'string' || typeof startMs !== 'number' || typeof endMs !== 'number') {
      throw new TypeError('a word is none');
    }
    const last = words.at(-1);
    if (entry.trim() === '') isBetween = true;
    else {
      if (isBetween || !last) words.push({ text: entry.trim(), startMs, endMs });
      else words[words.length - 1] = { text: last.text + entry.trim(), startMs: last.startMs, endMs };
      isBetween = !hasSpaces || /\s$/.test(entry);
    }
  }
  return words;
}

/** Its output may be a tool call, which `tool-calls` has as well if the assistant sends it. */
function modelOf(message: Fields): VapiMessage {
  const output = message.raw('output');
  if (typeof output !== 'string') return wholeCallsOf([{ tool_calls: [output].flat() }, output], '{}');
  const id = message.raw('turnId') ?? '';
  const turnId = typeof id === 'string' ? id : JSON.stringify(id);
  return {
    type: 'model',
    turnId: turnId.slice(0, MAX_ID),
    text: output,
    ...(id !== turnId && { lacks: 'turnId as text' }),
  };
}

function transcriptOf(message: Fields, kind = message.raw('transcriptType')): VapiMessage {
  const role = message.raw('role');
  // What the agent said is needed, what the platform understood of the caller is shown.
  const text = role === 'assistant' ? message.text('transcript') : textOf(message.raw('transcript'));
  if (text === null || typeof kind !== 'string')
    return { ...OTHER, lacks: text === null ? 'transcript' : 'transcriptType' };
  if (kind !== 'final' || (role !== 'user' && role !== 'assistant')) return OTHER;
  return { type: role === 'user' ? 'heard' : 'transcript', text };
}

/** The lists have the same calls, and one of them may lack what the other has. */
function toolsOf(lists: readonly (readonly unknown[])[]): VapiMessage {
  const read = lists.map((list) => list.map(toolOf));
  if (!read.some((calls) => calls.every((call) => call !== null))) throw new TypeError('a tool call is lost');
  return { type: 'tools', calls: read.flat().filter((call) => call !== null) };
}

/** Only whole calls: the model generates them in parts. @param begun the arguments of one that may just have begun */
function wholeCallsOf(messages: readonly unknown[], begun?: string): VapiMessage {
  const entries = messages.map(objectOf).flatMap((one) => listOf(one['tool_calls'] ?? one['toolCalls']));
  const isWhole = (call: ToolCall | null) =>
    call?.id !== undefined && call.json !== begun && !!parseArguments(call.json);
  return {
    type: 'tools',
    calls: entries
      .map(toolOf)
      .filter((call) => call !== null)
      .filter(isWhole),
  };
}

/**
 * A tool call in the shapes of typings and documentation: the name stands in `function`, in the call or beside it. What stands
 * beside it as `parameters` is the description of the tool, not its arguments. @returns null without a name
 */
export function toolOf(entry: unknown): ToolCall | null {
  const item = objectOf(entry);
  const call = objectOf(item['toolCall'] ?? entry);
  const inside = [objectOf(call['function']), call];
  const first = (places: readonly Json[], ...names: readonly string[]) =>
    places.flatMap((place) => names.map((name) => place[name] ?? '')).find((value) => value !== '');
  const name = textOf(first([...inside, objectOf(item['function']), item, objectOf(item['tool'])], 'name'));
  const id = textOf(first([call, item], 'id', 'toolCallId'))?.slice(0, MAX_ID);
  return name === null ? null : { id, name, json: argumentsJson(first(inside, 'arguments', 'parameters')) };
}

/** To a number, a SIP address, or another assistant; the latter leaves the caller with the agent. */
function transferOf(message: Fields): VapiMessage {
  const { type, number, sipUri, assistantName } = objectOf(message.raw('destination'));
  if (type === 'assistant' || assistantName !== undefined) {
    return { type: 'note', detail: 'The platform reported a transfer to another assistant (transfer-update)' };
  }
  return { type: 'transfer', detail: (textOf(number) ?? textOf(sipUri) ?? '').slice(0, MAX_ID) };
}

function endedOf(message: Fields): VapiMessage {
  return { type: 'ended', reason: textOf(message.raw('endedReason')) ?? '' };
}
