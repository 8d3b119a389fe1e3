import type { KeptCall, KeptCalls } from '../records/kept-calls.js';

/** Whole seconds, as the platform has them. */
const seconds = (ms: number) => Math.floor(ms / 1_000);

/** The record of a conversation, by the typings of `@elevenlabs/elevenlabs-js` 2.73.0 (`GetConversationResponseModel`). */
export function elevenlabsRecord(call: KeptCall): object {
  const { id, agent, startedAt, endedAt, lines, tools = [], attempt, callerNumber } = call;
  const nothing = { tool_calls: [], tool_results: [], feedback: null, interrupted: false };
  const spoken = lines.map(({ speaker, text, startMs }, index) => ({
    ...{ role: speaker === 'agent' ? 'agent' : 'user', message: text, ...nothing, at: startMs },
    conversation_turn_metrics:
      speaker === 'agent' && call.latencies?.[index] !== undefined
        ? { metrics: { convai_llm_service_ttfb: { elapsed_time: call.latencies[index] / 1_000 } } }
        : null,
  }));
  const called = tools.flatMap(({ id: request_id, name: tool_name, arguments: args, result, startMs }) => {
    const tool = { request_id, tool_name, tool_has_been_called: true };
    const entry = { role: 'agent', message: null, ...nothing, conversation_turn_metrics: null, at: startMs };
    return [
      { ...entry, tool_calls: [{ ...tool, type: 'webhook', params_as_json: JSON.stringify(args) }] },
      { ...entry, tool_results: [{ ...tool, type: 'webhook', result_value: result, is_error: false }] },
    ];
  });
  const transcript = [...spoken, ...called]
    .sort((a, b) => a.at - b.at)
    .map(({ at, ...entry }) => ({ ...entry, time_in_call_secs: seconds(at) }));
  return {
    ...{ agent_id: agent, conversation_id: id, status: endedAt === null ? 'in-progress' : 'done', transcript },
    ...{ has_audio: true, has_user_audio: true, has_response_audio: true, has_auxiliary_audio: false },
    user_id: attempt === undefined ? null : `vat:${attempt}`,
    metadata: {
      start_time_unix_secs: seconds(startedAt),
      call_duration_secs: endedAt === null ? 0 : seconds(endedAt) - seconds(startedAt),
      termination_reason: call.reason ?? 'Client disconnected: 1000',
      ...(callerNumber !== undefined && {
        phone_call: {
          ...{ type: 'twilio', direction: 'inbound', phone_number_id: 'phnum_1', agent_number: '+15550100' },
          ...{ external_number: callerNumber, stream_sid: 'MZ1', call_sid: 'CA1' },
        },
      }),
    },
    conversation_initiation_client_data: { dynamic_variables: {} },
    ...call.fields,
  };
}

/** `GET /v1/convai/conversations`: the newest first. @returns undefined for a query that the platform refuses with 422 */
export function elevenlabsList(kept: KeptCalls, query: URLSearchParams): object | undefined {
  const size = Number(query.get('page_size') ?? 30);
  const at = Number(query.get('cursor')?.replace('cursor-', '') ?? 0);
  const [after, before] = ['call_start_after_unix', 'call_start_before_unix'].map((name) => query.get(name));
  if (!Number.isInteger(size) || size < 1 || size > 100 || !Number.isInteger(at)) return undefined;
  const all = kept
    .of(query.get('agent_id'))
    .filter(({ startedAt }) => !(after && seconds(startedAt) < Number(after)))
    .filter(({ startedAt }) => !(before && seconds(startedAt) > Number(before)))
    .reverse();
  const conversations = all.slice(at % Math.max(1, all.length), at + size).map((call) => {
    const { agent_id, conversation_id, status, transcript, metadata } = elevenlabsRecord(call) as {
      readonly [field: string]: unknown;
      readonly transcript: readonly unknown[];
      readonly metadata: { readonly start_time_unix_secs: number; readonly call_duration_secs: number };
    };
    const { start_time_unix_secs, call_duration_secs } = metadata;
    return {
      ...{ agent_id, conversation_id, status, start_time_unix_secs, call_duration_secs },
      ...{ message_count: transcript.length, call_successful: 'unknown' },
    };
  });
  const has_more = kept.faults.isEndless === true || at + size < all.length;
  return { conversations: kept.entries(conversations), has_more, next_cursor: has_more ? `cursor-${at + size}` : null };
}
