import { event, tone } from './events.js';

const PLACE = { response_id: 'resp_1', item_id: 'item_1', output_index: 0, content_index: 0 };

/** A Realtime server, as `wireContract` needs it. */
export const realtimeContractDouble = () => ({
  receive: () => undefined,
  ready: () => [event({ type: 'session.updated', session: { type: 'realtime' } })],
  speech: (ms: number) => [
    event({ type: 'response.output_audio.delta', ...PLACE, delta: tone(ms).toString('base64') }),
  ],
  unknown: (text: string) => JSON.stringify({ type: 'response.of_a_later_version', event_id: text }),
  echoes: (text: string) => [
    event({ type: 'session.created', session: { type: 'realtime', instructions: text } }),
    event({ type: 'session.updated', session: { type: 'realtime', instructions: text, model: text } }),
    event({ type: 'response.created', response: { id: text, metadata: { note: text } } }),
    event({ type: 'response.output_audio.delta', ...PLACE, item_id: text, delta: tone(100).toString('base64') }),
    event({ type: 'response.output_audio_transcript.delta', ...PLACE, delta: text }),
    event({ type: 'response.output_audio_transcript.done', ...PLACE, transcript: text }),
    event({
      type: 'response.output_item.added',
      response_id: text,
      output_index: 0,
      item: { id: text, type: 'function_call', name: text, arguments: '' },
    }),
    event({
      type: 'response.function_call_arguments.done',
      ...{ response_id: 'resp_1', item_id: 'item_2', output_index: 0 },
      ...{ call_id: text, name: text, arguments: JSON.stringify({ value: text, [text]: 1 }) },
    }),
    event({
      type: 'response.done',
      response: {
        id: text,
        status: 'failed',
        status_details: { type: 'failed', error: { type: text, code: text } },
        output: [],
      },
    }),
    event({ type: 'response.done', response: { id: 'resp_1', status: 'incomplete', status_details: {} } }),
    event({
      type: 'conversation.item.input_audio_transcription.completed',
      ...{ item_id: text, content_index: 0, transcript: text, usage: { type: 'duration', seconds: 1 } },
    }),
    event({ type: 'input_audio_buffer.speech_started', audio_start_ms: 0, item_id: text }),
    event({ type: 'input_audio_buffer.speech_stopped', audio_end_ms: 0, item_id: text }),
    event({ type: 'rate_limits.updated', rate_limits: [{ name: 'tokens', limit: 1, remaining: 0, reset_seconds: 1 }] }),
    JSON.stringify({ type: 'rate_limits.updated', rate_limits: [{ name: text, remaining: 0 }] }),
    event({ type: 'error', error: { type: text, code: text, message: text, param: text, event_id: text } }),
    JSON.stringify({ type: text, text }),
    JSON.stringify({ type: 'response.output_audio.delta', item_id: [text] }),
    `not JSON: ${text}`,
  ],
});
