import type { AudioFormat } from '../../../../audio/index.js';
import { AUDIO_RATES } from '../../../../audio/index.js';
import { isObject } from '../../../../json-input/index.js';
import { type Json, objectOf } from '../fields.js';

/** What a wire of Realtime reads of the platform's events. */
export type ServerEvent =
  | ({ readonly type: 'session.created' } & SessionFacts)
  | ({ readonly type: 'session.updated' } & SessionFacts)
  | { readonly type: 'response.created'; readonly responseId: string }
  | { readonly type: 'response.done'; readonly responseId: string; readonly end: ResponseEnd }
  | ({ readonly type: 'audio' } & AudioDelta)
  | ({ readonly type: 'words'; readonly text: string; readonly isWhole: boolean } & Place)
  | { readonly type: 'text'; readonly text: string }
  | ({ readonly type: 'item'; readonly item: OutputItem; readonly isDone: boolean } & Omit<Place, 'itemId'>)
  | ({ readonly type: 'tool_call'; readonly call: RequestedCall } & Omit<Place, 'itemId'>)
  | { readonly type: 'heard'; readonly text: string }
  | { readonly type: 'speech_started' | 'speech_stopped' }
  | { readonly type: 'rate_limits'; readonly exhausted: readonly string[] }
  | { readonly type: 'error'; readonly error: PlatformError }
  | { readonly type: 'other' }
  | { readonly type: 'invalid'; readonly isLoss: boolean };

/** Empty where the platform names none. */
interface Place {
  readonly itemId: string;
  readonly responseId: string;
}

export interface SessionFacts {
  /** A text: the name of a format that is not known. */
  readonly toAgent: AudioFormat | string | undefined;
  readonly fromAgent: AudioFormat | string | undefined;
  /** Whether its fields are those of the version before general availability. */
  readonly isFlat: boolean;
  /** Whether the platform cancels a response when the caller speaks. */
  readonly isInterruptible: boolean;
}

export interface AudioDelta extends Place {
  /** Whether the event has its name of the version before general availability. */
  readonly isOld: boolean;
  readonly contentIndex: number;
  readonly base64: string;
}

export interface ResponseEnd {
  readonly status: string;
  /** `turn_detected`, `max_output_tokens`, …, or the code of an error. */
  readonly reason: string | undefined;
  /** The status with what the platform says of it. */
  readonly said: string;
  readonly items: readonly OutputItem[];
}

/** An item as the platform has it in the end. */
export interface OutputItem {
  readonly id: string;
  /** What it says, and what it only writes. */
  readonly words: string;
  readonly text: string;
  readonly call: RequestedCall | undefined;
  /** Whether it is complete. */
  readonly isWhole: boolean;
}

export interface RequestedCall {
  readonly id: string;
  /** Empty where the event has none. */
  readonly name: string;
  readonly json: string;
}

export interface PlatformError {
  readonly type: string;
  readonly code: string | undefined;
  readonly message: string;
}

/** Longer identifiers are not read: they are kept for the whole call. */
const MAX_ID = 256;
/** What the core keeps of the arguments of a call. */
const MAX_JSON = 64 * 1024;
/** Events without which the caller hears something else than the agent meant. */
const LOSS = /^(response\.(output_)?audio\.delta|response\.(output_item|function_call_arguments)\.done)$/;
const OTHER = { type: 'other' } as const;

/** Reads an event; never throws. `other`: of a type that is not needed or that a later version may have. */
export function readEvent(text: string): ServerEvent {
  let type: unknown;
  try {
    const event = JSON.parse(text) as Json;
    type = event['type'] ?? ('error' in event && 'error');
    const read = isObject(event) && typeof type === 'string' ? eventOf(type, event) : undefined;
    if (read) return read;
  } catch {
    // What is not JSON, or no object.
  }
  return { type: 'invalid', isLoss: typeof type === 'string' && LOSS.test(type) };
}

/** The type of an event; undefined for what is none. */
export function typeOf(text: string): string | undefined {
  try {
    return id(objectOf(JSON.parse(text))['type']);
  } catch {
    return undefined;
  }
}

/** @returns undefined for an event that lacks a field */
function eventOf(type: string, event: Json): ServerEvent | undefined {
  // Servers that follow the version before general availability leave "output_" out.
  const name = type.replace(/^response\.audio/, 'response.output_audio');
  switch (name) {
    case 'session.created':
    case 'session.updated':
      return { type: name, ...sessionOf(objectOf(event['session'])) };
    // Servers that follow older versions begin with them.
    case 'conversation.created':
    case 'transcription_session.created':
      return { type: 'session.created', ...sessionOf({}) };
    case 'response.created':
      return { type: 'response.created', responseId: id(objectOf(event['response'])['id']) ?? '' };
    case 'response.done':
      return responseOf(event['response']);
    case 'response.output_audio.delta':
      return audioOf(event, name !== type);
    case 'response.output_audio_transcript.delta':
      return wordsOf(event, event['delta'], false);
    case 'response.output_audio_transcript.done':
      return wordsOf(event, event['transcript'], true);
    case 'response.output_text.done':
    case 'response.text.done':
      return typeof event['text'] === 'string' ? { type: 'text', text: event['text'] } : undefined;
    case 'response.output_item.added':
    case 'response.output_item.done':
    case 'conversation.item.done': {
      const item = itemOf(event['item']);
      const isCallWithoutId = objectOf(event['item'])['type'] === 'function_call' && !item.call;
      if (isCallWithoutId) return undefined;
      return { type: 'item', ...placeOf(event), item, isDone: name.endsWith('done') };
    }
    case 'response.function_call_arguments.done': {
      const call = callOf(event);
      return call && { type: 'tool_call', ...placeOf(event), call };
    }
    case 'conversation.item.input_audio_transcription.completed':
      return typeof event['transcript'] === 'string' ? { type: 'heard', text: event['transcript'] } : undefined;
    case 'input_audio_buffer.speech_started':
      return { type: 'speech_started' };
    case 'input_audio_buffer.speech_stopped':
      return { type: 'speech_stopped' };
    case 'rate_limits.updated':
      return rateLimitsOf(event['rate_limits']);
    case 'error':
      return errorOf(event);
    default:
      return OTHER;
  }
}

const FLAT_FIELDS = ['input_audio_format', 'output_audio_format', 'modalities', 'turn_detection', 'voice'];

function sessionOf(session: Json): SessionFacts {
  const { audio, input_audio_format: flatInput, output_audio_format: flatOutput, turn_detection: flatTurns } = session;
  const [input, output] = [objectOf(objectOf(audio)['input']), objectOf(objectOf(audio)['output'])];
  return {
    toAgent: formatOf(input['format'] ?? flatInput),
    fromAgent: formatOf(output['format'] ?? flatOutput),
    isFlat: !isObject(audio) && FLAT_FIELDS.some((name) => name in session),
    isInterruptible: objectOf(input['turn_detection'] ?? flatTurns)['interrupt_response'] !== false,
  };
}

/** Names of 16-bit PCM, with a rate behind them or without, in lower case without signs and "audio/". */
const PCM_NAME = /^(?:pcm|l16|linear16|s16le)(?:s?16(?:le)?)?(?:rate)?(\d{4,})?$/;

/** @returns undefined for what is not named; the name of a format that is not known */
function formatOf(format: unknown): AudioFormat | string | undefined {
  const { type: name, rate } = typeof format === 'string' ? { type: format, rate: undefined } : objectOf(format);
  if (typeof name !== 'string' || name === '') return undefined;
  const plain = name.toLowerCase().replace(/^audio\/(x-)?|[^a-z\d]/g, '');
  if (/^(g711)?(pcmu|(mu|u)law)/.test(plain)) return { encoding: 'mulaw', rate: 8_000 };
  if (/^(g711)?(pcma|alaw)/.test(plain)) return { encoding: 'alaw', rate: 8_000 };
  const pcm = PCM_NAME.exec(plain);
  const known = AUDIO_RATES.find((each) => each === Number(rate ?? pcm?.[1] ?? 24_000));
  return pcm && known !== undefined
    ? { encoding: 'pcm16', rate: known }
    : [name, rate].filter((word) => typeof word !== 'object').join(' ');
}

function responseOf(response: unknown): ServerEvent | undefined {
  if (!isObject(response)) return undefined;
  const { status, status_details: details, output } = response;
  if (typeof status !== 'string') return undefined;
  const { reason, error } = objectOf(details);
  const { code, type, message } = objectOf(error);
  const words = [status, reason, type, code, message].filter((word) => typeof word === 'string');
  const end = {
    status,
    reason: [code, reason].find((word) => typeof word === 'string'),
    said: words.join(', '),
    items: (Array.isArray(output) ? output : []).map(itemOf),
  };
  return { type: 'response.done', responseId: id(response['id']) ?? '', end };
}

function audioOf(event: Json, isOld: boolean): ServerEvent | undefined {
  const { delta, content_index: index } = event;
  if (typeof delta !== 'string') return undefined;
  const contentIndex = Number.isSafeInteger(index) && Number(index) >= 0 ? Number(index) : 0;
  return { type: 'audio', isOld, ...placeOf(event), contentIndex, base64: delta };
}

const wordsOf = (event: Json, text: unknown, isWhole: boolean): ServerEvent | undefined =>
  typeof text === 'string' ? { type: 'words', ...placeOf(event), text, isWhole } : undefined;

const placeOf = (event: Json) => ({ itemId: id(event['item_id']) ?? '', responseId: id(event['response_id']) ?? '' });

function itemOf(value: unknown): OutputItem {
  const item = objectOf(value);
  const { type, status = 'completed', content } = item;
  const parts = (Array.isArray(content) ? content : []).map(objectOf);
  const textsOf = (field: string) => parts.map((part) => part[field]).filter((text) => typeof text === 'string');
  return {
    id: id(item['id']) ?? '',
    words: textsOf('transcript').join(' '),
    text: textsOf('text').join(' '),
    call: type === 'function_call' ? callOf(item) : undefined,
    isWhole: status === 'completed' || status === null,
  };
}

function callOf({ call_id, name, arguments: json }: Json): RequestedCall | undefined {
  const callId = id(call_id);
  const text = isObject(json) ? JSON.stringify(json) : typeof json === 'string' ? json : '';
  return callId === undefined
    ? undefined
    : { id: callId, name: typeof name === 'string' ? name.slice(0, MAX_ID) : '', json: text.slice(0, MAX_JSON) };
}

function rateLimitsOf(limits: unknown): ServerEvent | undefined {
  if (!Array.isArray(limits)) return undefined;
  const exhausted = limits.map(objectOf).filter(({ remaining }) => typeof remaining === 'number' && remaining <= 0);
  return {
    type: 'rate_limits',
    exhausted: exhausted.slice(0, 10).map(({ name, limit, reset_seconds: seconds }) => {
      const words = [
        name,
        typeof limit === 'number' && `limit ${limit}`,
        typeof seconds === 'number' && `resets in ${seconds} s`,
      ];
      return words.filter((word) => typeof word === 'string').join(', ');
    }),
  };
}

/** Some servers have a text as the error, or the fields of the error in the event itself. */
function errorOf(event: Json): ServerEvent {
  const { error } = event;
  const fields = isObject(error)
    ? error
    : { ...event, type: '', message: typeof error === 'string' ? error : event['message'] };
  const { type, code, message, param } = fields;
  const at = typeof param === 'string' ? ` (${param})` : '';
  return {
    type: 'error',
    error: {
      type: typeof type === 'string' ? type : '',
      code: typeof code === 'string' || typeof code === 'number' ? String(code) : undefined,
      message: `${typeof message === 'string' ? message : JSON.stringify(error ?? event)}${at}`,
    },
  };
}

const id = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= MAX_ID ? value : undefined;
