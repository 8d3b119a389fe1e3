import type { AudioFormat } from '../../../../audio/index.js';
import { AUDIO_RATES } from '../../../../audio/index.js';

type Fields = Readonly<Record<string, unknown>>;

/** What a wire of Realtime reads of the platform's events. */
export type ServerEvent =
  | ({ readonly type: 'session.created' } & SessionFacts)
  | ({ readonly type: 'session.updated' } & SessionFacts)
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

export interface SessionFacts {
  /** A text: the name of a format that is not known. */
  readonly toAgent: AudioFormat | string | undefined;
  readonly fromAgent: AudioFormat | string | undefined;
  /** Whether its fields are those of the version before general availability. */
  readonly isFlat: boolean;
  /** Whether the platform cancels a response when the caller speaks. */
  readonly isInterruptible: boolean;
}

export interface AudioDelta {
  /** Whether the event has its name of the version before general availability. */
  readonly isOld: boolean;
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
  const name = type.replace(/^response\.audio/, 'response.output_audio');
  switch (name) {
    case 'session.created':
    case 'session.updated':
      return { type: name, ...sessionOf(fieldsOf(event['session'])) };
    // Servers that follow older versions begin with them.
    case 'conversation.created':
    case 'transcription_session.created':
      return { type: 'session.created', ...sessionOf({}) };
    case 'response.created':
      return { type: 'response.created', responseId: id(fieldsOf(event['response'])['id']) ?? '' };
    case 'response.done':
      return responseOf(event['response']);
    case 'response.output_audio.delta':
      return audioOf(event, name !== type);
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

const FLAT_FIELDS = ['input_audio_format', 'output_audio_format', 'modalities', 'turn_detection', 'voice'];

function sessionOf(session: Fields): SessionFacts {
  const { audio, input_audio_format: flatInput, output_audio_format: flatOutput, turn_detection: flatTurns } = session;
  const [input, output] = [fieldsOf(fieldsOf(audio)['input']), fieldsOf(fieldsOf(audio)['output'])];
  return {
    toAgent: formatOf(input['format'] ?? flatInput),
    fromAgent: formatOf(output['format'] ?? flatOutput),
    isFlat: !isFields(audio) && FLAT_FIELDS.some((name) => name in session),
    isInterruptible: fieldsOf(input['turn_detection'] ?? flatTurns)['interrupt_response'] !== false,
  };
}

/** Names of 16-bit PCM, with a rate behind them or without, in lower case without signs and "audio/". */
const PCM_NAME = /^(?:pcm|l16|linear16|s16le)(?:s?16(?:le)?)?(?:rate)?(\d{4,})?$/;

/** @returns undefined for what is not named; the name of a format that is not known */
function formatOf(format: unknown): AudioFormat | string | undefined {
  const { type: name, rate } = typeof format === 'string' ? { type: format, rate: undefined } : fieldsOf(format);
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

function audioOf(event: Fields, isOld: boolean): ServerEvent | undefined {
  const { delta, content_index: index } = event;
  const itemId = id(event['item_id']);
  if (itemId === undefined || typeof delta !== 'string') return undefined;
  const contentIndex = Number.isSafeInteger(index) && Number(index) >= 0 ? Number(index) : 0;
  return { type: 'audio', isOld, itemId, responseId: id(event['response_id']) ?? '', contentIndex, base64: delta };
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
