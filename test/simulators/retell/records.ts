import type { KeptCall, KeptCalls } from '../records/kept-calls.js';
import { refusal, type Reply } from './messages.js';

/** The record of a call, by the typings of `retell-sdk` 5.66.1 (`PhoneCallResponse`, `WebCallResponse`). */
export function retellRecord(call: KeptCall, sound?: string): Readonly<Record<string, unknown>> {
  const { id, agent, startedAt, endedAt, lines, tools = [], latencies, attempt, callerNumber } = call;
  const utterances = lines.map(({ speaker, text, startMs, endMs }) => {
    const words = text.split(' ');
    const each = (endMs - startMs) / 1_000 / words.length;
    const from = startMs / 1_000;
    return {
      ...{ role: speaker === 'agent' ? 'agent' : 'user', content: text, at: startMs },
      words: words.map((word, n) => ({ word, start: from + n * each, end: from + (n + 1) * each })),
    };
  });
  const called = tools.map(({ startMs, ...tool }) => ({ ...tool, at: startMs }));
  const woven = [...utterances, ...called]
    .sort((a, b) => a.at - b.at)
    .flatMap((one): object[] =>
      'role' in one
        ? [{ role: one.role, content: one.content, words: one.words }]
        : [
            {
              ...{ role: 'tool_call_invocation', tool_call_id: one.id, name: one.name },
              arguments: JSON.stringify(one.arguments),
            },
            { role: 'tool_call_result', tool_call_id: one.id, content: one.result, successful: true },
          ],
    );
  return {
    ...{ call_id: id, agent_id: agent, agent_version: 0, call_status: endedAt === null ? 'ongoing' : 'ended' },
    ...(callerNumber === undefined
      ? { call_type: 'web_call', access_token: 'token_1' }
      : { call_type: 'phone_call', direction: 'inbound', from_number: callerNumber, to_number: '+15550100' }),
    start_timestamp: startedAt,
    // Headers of calls lose their `X-`.
    ...(attempt !== undefined && { custom_sip_headers: { 'Vat-Call': attempt } }),
    ...(endedAt !== null && {
      ...{ end_timestamp: endedAt, duration_ms: endedAt - startedAt },
      disconnection_reason: call.reason ?? 'user_hangup',
      transcript: lines.map(({ speaker, text }) => `${speaker === 'agent' ? 'Agent' : 'User'}: ${text}\n`).join(''),
      transcript_object: utterances.map(({ at: _, ...utterance }) => utterance),
      transcript_with_tool_calls: woven,
      ...(sound !== undefined && { recording_multi_channel_url: sound }),
      ...(latencies && { latency: { e2e: { num: latencies.length, values: latencies } } }),
    }),
    ...(call.sound === null && { data_storage_setting: 'basic_attributes_only' }),
    ...call.fields,
  };
}

interface ListBody {
  readonly filter_criteria?: {
    readonly agent?: readonly { readonly agent_id: string }[];
    readonly end_timestamp?: { readonly type: string; readonly op: string; readonly value: unknown };
  };
  readonly sort_order?: 'ascending' | 'descending';
  readonly limit?: number;
  readonly pagination_key?: string;
}

/** `POST /v3/list-calls`: by the start of the calls, without their words. */
export function retellList(kept: KeptCalls, body: ListBody): Reply {
  const { filter_criteria: filter = {}, limit = 50, pagination_key: key = '0', sort_order: order } = body;
  const { op, value } = filter.end_timestamp ?? { op: 'gt', value: 0 };
  const [from, until] = [value].flat() as number[];
  if (from === undefined || (op === 'bt' && until === undefined)) return refusal(400, 'end_timestamp is not a range');
  if (limit > 1_000) return refusal(400, 'limit must be <= 1000');
  const fits = ({ endedAt }: KeptCall) =>
    endedAt !== null && (op === 'bt' ? endedAt >= from && endedAt <= until! : endedAt > from);
  const all = (filter.agent ?? []).flatMap(({ agent_id: id }) => kept.of(id)).filter(fits);
  if (order !== 'ascending') all.reverse();
  const at = Number(key);
  const items = all.slice(at % Math.max(1, all.length), at + limit).map((call) => {
    const { transcript: _1, transcript_object: _2, transcript_with_tool_calls: _3, ...item } = retellRecord(call);
    return item;
  });
  const has_more = kept.faults.isEndless === true || at + limit < all.length;
  const found = { items: kept.entries(items), has_more, ...(has_more && { pagination_key: String(at + limit) }) };
  return { status: 200, body: found };
}
