import { AUDIO_RATES, type AudioFormat } from '../../../../audio/index.js';
import { Fields, textOf } from '../fields.js';

/** Where each character of a piece of audio is spoken, in milliseconds from its first sample. */
export type Alignment = readonly { readonly char: string; readonly startMs: number; readonly endMs: number }[];

export interface PlatformError {
  readonly code: number;
  /** The platform's own words. */
  readonly said: string;
}

/** What is read of the platform's messages. */
export type ServerMessage =
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
  | { readonly type: 'correction'; readonly original: string; readonly corrected: string }
  | { readonly type: 'interruption' | 'ping'; readonly eventId: number }
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
  | ({ readonly type: 'error' } & PlatformError);

type Of<Type extends ServerMessage['type']> = Extract<ServerMessage, { type: Type }>;

/** Longer identifiers are not read: they are kept for the whole call. */
const MAX_ID = 256;

/** Reads a message; never throws. `other`: of a type that is not needed or that a later version may have. */
export function readMessage(text: string): ServerMessage {
  try {
    const message = new Fields(JSON.parse(text));
    return READERS[message.text('type')]?.(message) ?? { type: 'other' };
  } catch {
    return { type: 'invalid' };
  }
}

const said = (type: 'response' | 'heard', body: string, name: string) => (message: Fields) => ({
  type,
  text: message.of(body).text(name),
});

const numbered = (type: 'interruption' | 'ping', body: string) => (message: Fields) => ({
  type,
  eventId: message.of(body).id('event_id'),
});

const toolDone = (body: string) => (message: Fields) => {
  const { id, name } = toolOf(message.of(body));
  return { type: 'tool_done' as const, id, name };
};

const READERS: Readonly<Record<string, (message: Fields) => ServerMessage>> = {
  __proto__: null as never,
  conversation_initiation_metadata: metadataOf,
  audio: audioOf,
  agent_response: said('response', 'agent_response_event', 'agent_response'),
  user_transcript: said('heard', 'user_transcription_event', 'user_transcript'),
  interruption: numbered('interruption', 'interruption_event'),
  ping: numbered('ping', 'ping_event'),
  agent_chat_response_part: (message) => {
    const part = message.of('text_response_part');
    return { type: 'part', part: part.text('type'), text: part.text('text') };
  },
  agent_response_correction: (message) => {
    const event = message.of('agent_response_correction_event');
    const [original, corrected] = [event.text('original_agent_response'), event.text('corrected_agent_response')];
    return { type: 'correction', original, corrected };
  },
  client_tool_call: (message) => {
    const call = message.of('client_tool_call');
    const json = JSON.stringify(call.raw('parameters') ?? {});
    return { type: 'tool_call', ...toolOf(call), json };
  },
  agent_tool_request: (message) => {
    return { type: 'tool_call', ...toolOf(message.of('agent_tool_request')), json: null };
  },
  agent_tool_response: toolDone('agent_tool_response'),
  agent_tool_response_full_payload: toolDone('agent_tool_response_full_payload'),
  guardrail_triggered: () => ({ type: 'guardrail' }),
  error: (message) => {
    const event = message.of('error_event');
    const words = ['error_type', 'message', 'reason'].map((name) => event.raw(name));
    const distinct = new Set(words.filter((word) => typeof word === 'string' && word !== ''));
    return { type: 'error', code: event.id('code'), said: [...distinct].join(': ') };
  },
};

const toolOf = (call: Fields) => ({ id: call.text('tool_call_id', MAX_ID), name: call.text('tool_name') });

/** Formats that are not known are returned as they are named. */
function metadataOf(message: Fields): Of<'metadata'> {
  const event = message.of('conversation_initiation_metadata_event');
  const format = (name: string) => {
    const value = event.raw(name) === undefined ? 'pcm_16000' : event.text(name, MAX_ID);
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
