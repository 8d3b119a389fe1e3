import type {
  RealtimeAudioFormats,
  RealtimeClientEvent,
  RealtimeConversationItemAssistantMessage,
  RealtimeServerEvent,
} from 'openai/resources/realtime/realtime';

type Unsent<Event> = Event extends unknown ? Omit<Event, 'event_id'> : never;

/** An event of the server, by the typings of OpenAI's package; its id is added when it is sent. */
export type ServerEvent = Unsent<RealtimeServerEvent>;
/** An event of the client, as far as the agent uses it. */
export type ClientEvent = RealtimeClientEvent;
export type AssistantMessage = RealtimeConversationItemAssistantMessage;
export type AudioFormats = RealtimeAudioFormats;

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
