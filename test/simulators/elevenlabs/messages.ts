import type { AudioFormat } from '../../../libs/audio/index.js';

/** Names of the audio formats of an agent, as its settings have them. */
export const AGENT_FORMATS = {
  pcm_8000: { encoding: 'pcm16', rate: 8_000 },
  pcm_16000: { encoding: 'pcm16', rate: 16_000 },
  pcm_24000: { encoding: 'pcm16', rate: 24_000 },
  pcm_48000: { encoding: 'pcm16', rate: 48_000 },
  ulaw_8000: { encoding: 'mulaw', rate: 8_000 },
} as const satisfies Readonly<Record<string, AudioFormat>>;
export type AgentFormat = keyof typeof AGENT_FORMATS;

export interface ClientMessage {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** A message of the client; audio has no type of its own. @returns undefined for what is none */
export function readClientMessage(data: string | Uint8Array): ClientMessage | undefined {
  try {
    const value: unknown = JSON.parse(String(data));
    if (typeof value !== 'object' || value === null) return undefined;
    if ('user_audio_chunk' in value) return { ...value, type: 'user_audio_chunk' };
    return 'type' in value && typeof value.type === 'string' ? (value as ClientMessage) : undefined;
  } catch {
    return undefined;
  }
}

/** Messages of the platform, as text. */
const message = (type: string, body: string, fields: object): string => JSON.stringify({ type, [body]: fields });

export const metadata = (format: AgentFormat): string =>
  message('conversation_initiation_metadata', 'conversation_initiation_metadata_event', {
    conversation_id: 'conv_reference_agent',
    agent_output_audio_format: format,
    user_input_audio_format: format,
  });

export const audio = (event_id: number, bytes: Uint8Array): string =>
  message('audio', 'audio_event', { audio_base_64: Buffer.from(bytes).toString('base64'), event_id });

export const response = (event_id: number, agent_response: string): string =>
  message('agent_response', 'agent_response_event', { agent_response, event_id });

export const part = (event_id: number, type: 'start' | 'delta' | 'stop', text = ''): string =>
  message('agent_chat_response_part', 'text_response_part', { type, text, event_id });

export const correction = (event_id: number, original: string, corrected: string): string =>
  message('agent_response_correction', 'agent_response_correction_event', {
    ...{ original_agent_response: original, corrected_agent_response: corrected, event_id },
  });

export const heard = (event_id: number, user_transcript: string): string =>
  message('user_transcript', 'user_transcription_event', { user_transcript, event_id });

export const interruption = (event_id: number): string => message('interruption', 'interruption_event', { event_id });

export const ping = (event_id: number): string => message('ping', 'ping_event', { event_id, ping_ms: 20 });

export const clientTool = (event_id: number, id: string, name: string, parameters: object): string =>
  message('client_tool_call', 'client_tool_call', { tool_name: name, tool_call_id: id, parameters, event_id });

export const toolRequest = (event_id: number, id: string, name: string): string =>
  message('agent_tool_request', 'agent_tool_request', { ...toolOf(id, name), event_id });

export const toolResponse = (event_id: number, id: string, name: string): string =>
  message('agent_tool_response', 'agent_tool_response', {
    ...toolOf(id, name),
    is_error: false,
    is_called: true,
    event_id,
  });

const toolOf = (tool_call_id: string, tool_name: string) => ({ tool_name, tool_call_id, tool_type: 'system' });

export const error = (code: 1008 | 1011, error_type: string, words: string): string =>
  message('error', 'error_event', { code, error_type, message: words });
