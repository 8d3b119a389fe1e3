import { AUDIO_RATES, type AudioFormat } from '../../../../audio/index.js';
import type { JsonValue } from '../../../timeline/text.js';
import { argumentsJson, type Fields, numberOf, objectOf, readTyped, textOf } from '../fields.js';

/** Where each character of a piece of audio is spoken, in milliseconds from its first sample. */
export type Alignment = readonly { readonly char: string; readonly startMs: number; readonly endMs: number }[];

export interface PlatformError {
  readonly code: number | undefined;
  /** The platform's own words. */
  readonly said: string;
}

/** What is read of the platform's messages. */
export type ServerMessage = (
  | {
      readonly type: 'metadata';
      /** In the records of the platform; null without one. */
      readonly id: string | null;
      readonly toAgent: AudioFormat | string;
      readonly fromAgent: AudioFormat | string;
    }
  | { readonly type: 'audio'; readonly eventId: number; readonly base64: string; readonly alignment?: Alignment }
  | { readonly type: 'response' | 'heard'; readonly text: string }
  | { readonly type: 'part'; readonly part: string; readonly text: string }
  | { readonly type: 'correction'; readonly corrected: string }
  | { readonly type: 'interruption' | 'ping'; readonly eventId: number | undefined }
  /** `json` is null if the platform runs the tool itself: it does not tell the arguments, and waits for no result. */
  | {
      readonly type: 'tool_call';
      readonly id: string;
      readonly name: string;
      readonly json: string | null;
    }
  | { readonly type: 'tool_done'; readonly id: string; readonly name: string }
  | { readonly type: 'guardrail' | 'other' }
  | { readonly type: 'invalid' }
  | ({ readonly type: 'error' } & PlatformError)
) & {
  /** What it does not have, by which nothing is lost. */
  readonly lacks?: string;
};

type Of<Type extends ServerMessage['type']> = Extract<ServerMessage, { type: Type }>;

/** Longer identifiers are not read: they are kept for the whole call. */
const MAX_ID = 256;
/** More characters than anybody says in ten minutes, the most that is buffered. */
const MAX_ALIGNED = 20_000;

/** Where errors have words, in the order in which they are shown. */
const WORDS = ['error_type', 'message', 'reason', 'debug_message', 'error_event', 'error'] as const;

/** Reads a message; never throws. `other`: of a type that is not needed or that a later version may have. */
export const readMessage = (text: string): ServerMessage => readTyped(READERS, text);

const numbered = (type: 'interruption' | 'ping', body: string) => (message: Fields) => {
  const eventId = numberOf(objectOf(message.raw(body))['event_id']);
  return { type, eventId, ...(eventId === undefined && { lacks: 'event_id' }) };
};

const toolDone = (body: string) => (message: Fields) => {
  const { id, name } = toolOf(message.of(body));
  return { type: 'tool_done' as const, id, name };
};

const READERS: Readonly<Record<string, (message: Fields) => ServerMessage>> = {
  __proto__: null as never,
  conversation_initiation_metadata: metadataOf,
  audio: audioOf,
  agent_response: (message) => ({ type: 'response', text: message.of('agent_response_event').text('agent_response') }),
  user_transcript: (message) => {
    const text = objectOf(message.raw('user_transcription_event'))['user_transcript'];
    return typeof text === 'string' ? { type: 'heard', text } : { type: 'other', lacks: 'user_transcript' };
  },
  interruption: numbered('interruption', 'interruption_event'),
  ping: numbered('ping', 'ping_event'),
  agent_chat_response_part: (message) => {
    const { type, text } = objectOf(message.raw('text_response_part'));
    return { type: 'part', part: textOf(type) ?? 'delta', text: textOf(text) ?? '' };
  },
  agent_response_correction: (message) => {
    const event = objectOf(message.raw('agent_response_correction_event') ?? message.raw('correction_event'));
    const corrected = event['corrected_agent_response'] ?? event['corrected_response'];
    if (typeof corrected !== 'string') return { type: 'other', lacks: 'corrected_agent_response' };
    const isWhole = typeof event['original_agent_response'] === 'string';
    return { type: 'correction', corrected, ...(!isWhole && { lacks: 'original_agent_response' }) };
  },
  client_tool_call: (message) => {
    const call = message.of('client_tool_call');
    return { type: 'tool_call', ...toolOf(call), json: argumentsJson(call.raw('parameters')) };
  },
  agent_tool_request: (message) => {
    return { type: 'tool_call', ...toolOf(message.of('agent_tool_request')), json: null };
  },
  agent_tool_response: toolDone('agent_tool_response'),
  agent_tool_response_full_payload: toolDone('agent_tool_response_full_payload'),
  guardrail_triggered: () => ({ type: 'guardrail' }),
  error: errorOf,
};

/** Its words stand in `error_event` by the typings, and elsewhere in `error` or in the message itself. */
function errorOf(message: Fields): Of<'error'> {
  const event = { ...objectOf(message.raw('error')), ...objectOf(message.raw('error_event')) };
  const field = (name: string) => event[name] ?? message.raw(name);
  const detail = field('detail');
  const words = [...WORDS.map(field), detail, objectOf(detail)['message']];
  const distinct = new Set(words.filter((word) => typeof word === 'string' && word !== ''));
  return { type: 'error', code: numberOf(field('code')), said: [...distinct].join(': ') };
}

const toolOf = (call: Fields) => ({ id: call.text('tool_call_id', MAX_ID), name: call.text('tool_name') });

/** Formats that are not known are returned as they are named. */
function metadataOf(message: Fields): Of<'metadata'> {
  const event = message.of('conversation_initiation_metadata_event');
  const format = (name: string) => {
    const value = event.has(name) ? event.text(name, MAX_ID) : 'pcm_16000';
    if (value === 'ulaw_8000') return { encoding: 'mulaw', rate: 8_000 } as const;
    const rate = AUDIO_RATES.find((one) => value === `pcm_${one}`);
    return rate ? ({ encoding: 'pcm16', rate } as const) : value;
  };
  const id = textOf(event.raw('conversation_id'));
  return {
    type: 'metadata',
    id: id !== null && id.length <= MAX_ID ? id : null,
    toAgent: format('user_input_audio_format'),
    fromAgent: format('agent_output_audio_format'),
  };
}

function audioOf(message: Fields): Of<'audio'> {
  const event = message.of('audio_event');
  const alignment = alignmentOf(event.raw('alignment'));
  const base64 = event.text('audio_base_64');
  return { type: 'audio', eventId: event.id('event_id'), base64, ...(alignment && { alignment }) };
}

/** @returns undefined without one, or for one that makes no sense: the audio counts */
function alignmentOf(value: unknown): Alignment | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { chars, char_start_times_ms: starts, char_durations_ms: durations } = value as Record<string, unknown>;
  if (!Array.isArray(chars) || !Array.isArray(starts) || !Array.isArray(durations)) return undefined;
  if (chars.length > MAX_ALIGNED) return undefined;
  const isWhole = chars.length === starts.length && chars.length === durations.length;
  const areTexts = chars.every((char) => typeof char === 'string');
  const areTimes = [starts, durations]
    .flat()
    .every((ms: unknown) => typeof ms === 'number' && ms >= 0 && ms < 3_600_000);
  if (!isWhole || !areTexts || !areTimes) return undefined;
  return chars.map((char, n) => {
    const startMs = starts[n] as number;
    return { char, startMs, endMs: startMs + (durations[n] as number) };
  });
}

/** The result of a client tool. A text is sent as it is, and an error as its text. */
export function clientToolResult(id: string, result: JsonValue, isError = false): object {
  const said = isError ? objectOf(result)['error'] : result;
  const text = typeof said === 'string' ? said : JSON.stringify(said);
  return { type: 'client_tool_result', tool_call_id: id, result: text, is_error: isError };
}
