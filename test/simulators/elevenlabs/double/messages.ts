/** A conversation message of the server. Those that the double sends are checked against the vendor's typings by a test. */
export interface ServerMessage {
  readonly type: string;
  readonly [field: string]: unknown;
}

export type Format = 'ulaw_8000' | `pcm_${8_000 | 16_000 | 22_050 | 24_000 | 44_100 | 48_000}`;

export interface Formats {
  readonly toAgent: Format;
  readonly fromAgent: Format;
}

export interface Alignment {
  readonly chars: string[];
  readonly char_start_times_ms: number[];
  readonly char_durations_ms: number[];
}

export const DEFAULT_FORMATS: Formats = { toAgent: 'pcm_16000', fromAgent: 'pcm_16000' };

/** The messages of the server, as its documentation has them. */
export const server = {
  metadata: ({ toAgent, fromAgent }: Formats = DEFAULT_FORMATS): ServerMessage => ({
    type: 'conversation_initiation_metadata',
    conversation_initiation_metadata_event: {
      conversation_id: 'conv_1',
      agent_output_audio_format: fromAgent,
      user_input_audio_format: toAgent,
    },
  }),
  audio: (event_id: number, bytes: Uint8Array, alignment?: Alignment): ServerMessage => ({
    type: 'audio',
    audio_event: {
      audio_base_64: Buffer.from(bytes).toString('base64'),
      event_id,
      ...(alignment && { alignment }),
    },
  }),
  response: (agent_response: string, event_id = 1): ServerMessage => ({
    type: 'agent_response',
    agent_response_event: { agent_response, event_id },
  }),
  correction: (original_agent_response: string, corrected_agent_response: string, event_id = 1): ServerMessage => ({
    type: 'agent_response_correction',
    agent_response_correction_event: { original_agent_response, corrected_agent_response, event_id },
  }),
  part: (type: 'start' | 'delta' | 'stop', text = '', event_id = 1): ServerMessage => ({
    type: 'agent_chat_response_part',
    text_response_part: { type, text, event_id },
  }),
  heard: (user_transcript: string, event_id = 1): ServerMessage => ({
    type: 'user_transcript',
    user_transcription_event: { user_transcript, event_id },
  }),
  interruption: (event_id: number): ServerMessage => ({ type: 'interruption', interruption_event: { event_id } }),
  ping: (event_id: number, ping_ms = 40): ServerMessage => ({ type: 'ping', ping_event: { event_id, ping_ms } }),
  clientTool: (
    tool_call_id: string,
    tool_name: string,
    parameters: Readonly<Record<string, unknown>> = {},
    event_id = 1,
  ): ServerMessage => ({
    type: 'client_tool_call',
    client_tool_call: { tool_name, tool_call_id, parameters, event_id },
  }),
  toolRequest: (tool_call_id: string, tool_name: string, event_id = 1): ServerMessage => ({
    type: 'agent_tool_request',
    agent_tool_request: { tool_name, tool_call_id, tool_type: 'system', event_id },
  }),
  toolResponse: (tool_call_id: string, tool_name: string, event_id = 1): ServerMessage => ({
    type: 'agent_tool_response',
    agent_tool_response: { tool_name, tool_call_id, tool_type: 'system', is_error: false, is_called: true, event_id },
  }),
  fullToolResponse: (tool_call_id: string, tool_name: string, full_tool_result: string): ServerMessage => ({
    type: 'agent_tool_response_full_payload',
    agent_tool_response_full_payload: {
      ...{ tool_name, tool_call_id, tool_type: 'webhook', is_error: false, is_called: true, event_id: 1 },
      full_tool_result,
    },
  }),
  vadScore: (vad_score: number): ServerMessage => ({ type: 'vad_score', vad_score_event: { vad_score } }),
  guardrail: (): ServerMessage => ({ type: 'guardrail_triggered' }),
  error: (code: 1000 | 1002 | 1008 | 1011, error_type: string, message: string): ServerMessage => ({
    type: 'error',
    error_event: { code, error_type, message },
  }),
};

const rateOf = (format: Format): number => Number(format.slice(format.indexOf('_') + 1));

/** A tone in a format of the platform. */
export function tone(ms: number, format: Format = DEFAULT_FORMATS.fromAgent): Buffer {
  const rate = rateOf(format);
  const samples = Array.from({ length: Math.round((ms * rate) / 1_000) }, (_, n) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * 440 * n) / rate)),
  );
  if (format === 'ulaw_8000') return Buffer.from(samples.map(mulaw));
  const bytes = Buffer.alloc(2 * samples.length);
  for (const [n, sample] of samples.entries()) bytes.writeInt16LE(sample, 2 * n);
  return bytes;
}

/** ITU-T G.711. */
function mulaw(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(32_635, Math.abs(sample)) + 132;
  const exponent = Math.floor(Math.log2(magnitude)) - 7;
  return ~(sign | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff;
}

/** Places of the characters of a text that is spoken evenly in `ms`. */
export function alignmentOf(text: string, ms: number): Alignment {
  const each = ms / text.length;
  return {
    chars: [...text],
    char_start_times_ms: [...text].map((_, n) => Math.round(n * each)),
    char_durations_ms: [...text].map(() => Math.round(each)),
  };
}
