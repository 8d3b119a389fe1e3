import type { AudioFormat } from '../../../../audio/index.js';
import { AUDIO_RATES } from '../../../../audio/index.js';

type Fields = Readonly<Record<string, unknown>>;

/** What a wire of Realtime reads of the platform's events. */
export type ServerEvent =
  | {
      readonly type: 'session.updated';
      readonly toAgent: AudioFormat | undefined;
      readonly fromAgent: AudioFormat | undefined;
      /** Whether the platform cancels a response when the caller speaks. */
      readonly isInterruptible: boolean;
    }
  | { readonly type: 'response.created'; readonly responseId: string }
  | { readonly type: 'response.done'; readonly responseId: string; readonly end: ResponseEnd }
  | ({ readonly type: 'audio' } & AudioDelta)
  | { readonly type: 'words'; readonly itemId: string; readonly text: string; readonly isWhole: boolean }
  | { readonly type: 'item'; readonly itemId: string; readonly name: string | undefined }
  | { readonly type: 'tool_call'; readonly itemId: string; readonly responseId: string; readonly call: RequestedCall }
  | { readonly type: 'heard'; readonly text: string }
  | { readonly type: 'speech_started' | 'speech_stopped' }
  | { readonly type: 'rate_limits'; readonly exhausted: readonly string[] }
  | { readonly type: 'error'; readonly error: PlatformError }
  | { readonly type: 'other' }
  | { readonly type: 'invalid' };

export interface AudioDelta {
  readonly itemId: string;
  readonly responseId: string;
  readonly contentIndex: number;
  readonly base64: string;
}

export interface ResponseEnd {
  readonly status: string;
  /** `turn_detected`, `max_output_tokens`, …, or the code of an error. */
  readonly reason: string | undefined;
  /** The status with what the platform says of it. */
  readonly said: string;
  /** Items of the response. */
  readonly items: readonly string[];
}

export interface RequestedCall {
  readonly id: string;
  /** Servers that follow an older version leave it out. */
  readonly name: string | undefined;
  readonly json: string;
}

export interface PlatformError {
  readonly type: string;
  readonly code: string | undefined;
  readonly message: string;
}

/** Longer identifiers are not read: they are kept for the whole call. */
const MAX_ID = 256;
const INVALID = { type: 'invalid' } as const;
const OTHER = { type: 'other' } as const;

/** Reads an event; never throws. `other`: of a type that is not needed or that a later version may have. */
export function readEvent(text: string): ServerEvent {
  try {
    const event: unknown = JSON.parse(text);
    return isFields(event) && typeof event['type'] === 'string' ? (eventOf(event['type'], event) ?? INVALID) : INVALID;
  } catch {
    return INVALID;
  }
}

/** @returns undefined for an event that lacks a field */
function eventOf(type: string, event: Fields): ServerEvent | undefined {
  // Servers that follow the version before general availability leave "output_" out.
  switch (type.replace(/^response\.audio/, 'response.output_audio')) {
    case 'session.updated':
      return sessionOf(event['session']);
    case 'response.created':
      return { type: 'response.created', responseId: id(fieldsOf(event['response'])['id']) ?? '' };
    case 'response.done':
      return responseOf(event['response']);
    case 'response.output_audio.delta':
      return audioOf(event);
    case 'response.output_audio_transcript.delta':
      return wordsOf(event, event['delta'], false);
    case 'response.output_audio_transcript.done':
      return wordsOf(event, event['transcript'], true);
    case 'response.output_item.added':
      return itemOf(event['item']);
    case 'response.function_call_arguments.done':
      return toolCallOf(event);
    case 'conversation.item.input_audio_transcription.completed':
      return typeof event['transcript'] === 'string' ? { type: 'heard', text: event['transcript'] } : undefined;
    case 'input_audio_buffer.speech_started':
      return { type: 'speech_started' };
    case 'input_audio_buffer.speech_stopped':
      return { type: 'speech_stopped' };
    case 'rate_limits.updated':
      return rateLimitsOf(event['rate_limits']);
    case 'error':
      return errorOf(event['error']);
    default:
      return OTHER;
  }
}

function sessionOf(session: unknown): ServerEvent | undefined {
  if (!isFields(session)) return undefined;
  const audio = fieldsOf(session['audio']);
  const input = fieldsOf(audio['input']);
  return {
    type: 'session.updated',
    toAgent: formatOf(input['format']),
    fromAgent: formatOf(fieldsOf(audio['output'])['format']),
    isInterruptible: fieldsOf(input['turn_detection'])['interrupt_response'] !== false,
  };
}

/** @returns undefined for what is not named or not known */
function formatOf(format: unknown): AudioFormat | undefined {
  const { type, rate = 24_000 } = fieldsOf(format);
  if (type === 'audio/pcmu') return { encoding: 'mulaw', rate: 8_000 };
  if (type === 'audio/pcma') return { encoding: 'alaw', rate: 8_000 };
  const known = AUDIO_RATES.find((each) => each === rate);
  return type === 'audio/pcm' && known !== undefined ? { encoding: 'pcm16', rate: known } : undefined;
}

function responseOf(response: unknown): ServerEvent | undefined {
  if (!isFields(response)) return undefined;
  const { status, status_details: details, output } = response;
  if (typeof status !== 'string') return undefined;
  const { reason, error } = fieldsOf(details);
  const { code, type, message } = fieldsOf(error);
  const words = [status, reason, type, code, message].filter((word) => typeof word === 'string');
  const items = (Array.isArray(output) ? output : []).map((item) => id(fieldsOf(item)['id']));
  const end = {
    status,
    reason: [code, reason].find((word) => typeof word === 'string'),
    said: words.join(', '),
    items: items.filter((item) => item !== undefined),
  };
  return { type: 'response.done', responseId: id(response['id']) ?? '', end };
}

function audioOf(event: Fields): ServerEvent | undefined {
  const { delta, content_index: index } = event;
  const itemId = id(event['item_id']);
  if (itemId === undefined || typeof delta !== 'string') return undefined;
  const contentIndex = Number.isSafeInteger(index) && Number(index) >= 0 ? Number(index) : 0;
  return { type: 'audio', itemId, responseId: id(event['response_id']) ?? '', contentIndex, base64: delta };
}

function wordsOf(event: Fields, text: unknown, isWhole: boolean): ServerEvent | undefined {
  const itemId = id(event['item_id']);
  return itemId === undefined || typeof text !== 'string' ? undefined : { type: 'words', itemId, text, isWhole };
}

function itemOf(item: unknown): ServerEvent | undefined {
  const { id: itemId, name } = fieldsOf(item);
  const known = id(itemId);
  return known === undefined
    ? undefined
    : { type: 'item', itemId: known, name: typeof name === 'string' ? name.slice(0, MAX_ID) : undefined };
}

function toolCallOf(event: Fields): ServerEvent | undefined {
  const { name, arguments: json } = event;
  const [itemId, callId] = [id(event['item_id']), id(event['call_id'])];
  if (callId === undefined || typeof json !== 'string') return undefined;
  const call = { id: callId, name: typeof name === 'string' ? name : undefined, json };
  return { type: 'tool_call', itemId: itemId ?? '', responseId: id(event['response_id']) ?? '', call };
}

function rateLimitsOf(limits: unknown): ServerEvent | undefined {
  if (!Array.isArray(limits)) return undefined;
  const exhausted = limits.map(fieldsOf).filter(({ remaining }) => typeof remaining === 'number' && remaining <= 0);
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

function errorOf(error: unknown): ServerEvent | undefined {
  if (!isFields(error)) return undefined;
  const { type, code, message, param } = error;
  const at = typeof param === 'string' ? ` (${param})` : '';
  return {
    type: 'error',
    error: {
      type: typeof type === 'string' ? type : '',
      code: typeof code === 'string' ? code : undefined,
      message: `${typeof message === 'string' ? message : ''}${at}`,
    },
  };
}

const id = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' && value.length <= MAX_ID ? value : undefined;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
