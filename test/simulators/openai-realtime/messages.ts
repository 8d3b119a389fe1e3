import type {
  ConversationItemTruncateEvent,
  RealtimeAudioFormats,
  RealtimeClientEvent,
  RealtimeConversationItemAssistantMessage,
  RealtimeServerEvent,
} from 'openai/resources/realtime/realtime';
import type { Session, SessionSocket } from '../session-sockets.js';

type Unsent<Event> = Event extends unknown ? Omit<Event, 'event_id'> : never;

/** An event of the server, by the typings of OpenAI's package; its id is added when it is sent. */
export type ServerEvent = Unsent<RealtimeServerEvent>;
/** An event of the client, as far as an agent uses it. */
export type ClientEvent = RealtimeClientEvent;
export type Truncate = ConversationItemTruncateEvent;
export type AssistantMessage = RealtimeConversationItemAssistantMessage;
export type AudioFormats = RealtimeAudioFormats;

/** The agents of an account. */
export interface RealtimeAgents {
  /** Prepares what calls wait for. */
  prepare(): Promise<unknown>;
  /** @returns status and reason of the refusal, if the agent cannot take the call */
  begin(name: string): Promise<((socket: SessionSocket) => Session) | readonly [status: string, reason?: string]>;
}

/** A function as the model calls it. */
interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

type Status = 'completed' | 'cancelled' | 'incomplete';

/** The place of a piece of an answer. */
export interface Part {
  readonly response_id: string;
  readonly output_index: number;
  readonly item_id: string;
  readonly content_index: number;
}

export const partOf = (response_id: string, item_id: string): Part => ({
  ...{ response_id, output_index: 0, item_id, content_index: 0 },
});

const response = (id: string, status: Status | 'in_progress') => ({
  ...{ id, object: 'realtime.response' as const, status, output: [] },
});

/** The events that both kinds of agents send. */
export const server = {
  created: (session: object): ServerEvent => ({ type: 'session.created', session: { type: 'realtime', ...session } }),
  updated: (session: object): ServerEvent => ({ type: 'session.updated', session: { type: 'realtime', ...session } }),
  callerStarts: (item_id: string, audio_start_ms = 0): ServerEvent => ({
    ...{ type: 'input_audio_buffer.speech_started', audio_start_ms, item_id },
  }),
  callerEnds: (item_id: string, audio_end_ms = 0): ServerEvent[] => [
    { type: 'input_audio_buffer.speech_stopped', audio_end_ms, item_id },
    { type: 'input_audio_buffer.committed', item_id, previous_item_id: null },
  ],
  truncated: ({ item_id, content_index, audio_end_ms }: Truncate): ServerEvent => ({
    ...{ type: 'conversation.item.truncated', item_id, content_index, audio_end_ms },
  }),
  begins: (id: string): ServerEvent => ({ type: 'response.created', response: response(id, 'in_progress') }),
  words: (part: Part, delta: string): ServerEvent => ({
    ...{ type: 'response.output_audio_transcript.delta', ...part, delta },
  }),
  allWords: (part: Part, transcript: string): ServerEvent => ({
    ...{ type: 'response.output_audio_transcript.done', ...part, transcript },
  }),
  audio: (part: Part, bytes: Uint8Array): ServerEvent => ({
    ...{ type: 'response.output_audio.delta', ...part, delta: Buffer.from(bytes).toString('base64') },
  }),
  call: (response_id: string, { id, name, arguments: json }: Call, output_index = 0): ServerEvent => ({
    ...{ type: 'response.function_call_arguments.done', response_id, output_index },
    ...{ item_id: `item_${id}`, call_id: id, name, arguments: json },
  }),
  ends: (id: string, status: Status, more: object = {}): ServerEvent => ({
    ...{ type: 'response.done', response: { ...response(id, status), ...more } },
  }),
};

/** An event as it is sent. @param number of its id */
export const written = (fields: ServerEvent, number: number): string =>
  JSON.stringify({ event_id: `event_${number}`, ...fields });

let count = 0;

/** An event as the platform sends it: checked against the typings of its vendor's package. */
export const event = (fields: ServerEvent): string => written(fields, ++count);

/** @returns undefined for what is not an event */
export function readClientEvent(text: string): ClientEvent | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const isEvent = typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
    return isEvent ? (value as ClientEvent) : undefined;
  } catch {
    return undefined;
  }
}

/** A tone in mu-law at 8,000 Hz. */
export const tone = (ms: number): Buffer =>
  Buffer.from(Array.from({ length: 8 * ms }, (_byte, n) => mulaw(8_000 * Math.sin((2 * Math.PI * 440 * n) / 8_000))));

/** ITU-T G.711. */
function mulaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(32_635, Math.abs(Math.round(sample))) + 132;
  const exponent = Math.floor(Math.log2(magnitude)) - 7;
  return ~(sign | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff;
}
