import { READ_LIMITS } from '../../../other-side/read-limits.js';
import { download } from '../../http/download.js';
import { foreignAddress } from '../../http/foreign-address.js';
import type { ListedCall, ProductionCall, Records, RecordsRequest } from '../../modules/records.js';
import { argumentsJson, type Json, listOf, objectOf, textOf } from '../fields.js';
import {
  attemptIn,
  Conversation,
  figureOf,
  idOf,
  latenciesOf,
  listedCall,
  listInParts,
  nullIf,
  phraseOf,
  readRecord,
  secondsOf,
  spanOf,
} from '../record.js';
import { RetellApi } from './api.js';

const LIMIT = 100;
/** Pages that are read before the window is halved. */
const MAX_PAGES = 10;
/** Of the lists with tools, an agent that stores no personal data has the second one alone. */
const LISTS = ['transcript_with_tool_calls', 'scrubbed_transcript_with_tool_calls', 'transcript_object'] as const;
/** What stands for an answer that the agent did not give, in place of its words. */
const REMARK = /^\[[^\]]*\]$/;
const OVER: ReadonlySet<unknown> = new Set(['ended', 'error']);

const apiOf = ({ endpoint, client }: RecordsRequest) => new RetellApi({ ...endpoint, client });

/** The records of calls of an agent, over the telephone and the web: those of the account, whatever protocol tests it. */
export const retellRecords: Records = {
  list: (window, request) => {
    const api = apiOf(request);
    return listInParts(api, window, MAX_PAGES, async ({ assistantId, from, until }, key) => {
      await request.turn();
      const body = {
        filter_criteria: {
          agent: [{ agent_id: assistantId.toWellFormed() }],
          end_timestamp: { type: 'range', op: 'bt', value: [from, until] },
        },
        ...{ sort_order: 'ascending', limit: LIMIT, ...(key !== null && { pagination_key: key }) },
      };
      const asked = { method: 'POST', body, limit: READ_LIMITS.list, signal: request.signal } as const;
      const { items, has_more, pagination_key } = await api.object('/v3/list-calls', asked);
      if (!Array.isArray(items)) throw api.notUnderstood('its list has no items');
      return { entries: items.map(listed), next: has_more === true ? textOf(pagination_key) : null };
    });
  },
  get: async (id, request) => {
    const api = apiOf(request);
    const record = await recordOf(api, id, request);
    return record && readRecord(api, id, () => callOf(record));
  },
  recording: async (id, request, take) => {
    const api = apiOf(request);
    const record = await recordOf(api, id, request);
    const url = record && soundOf(record);
    if (!record || url === null || url === undefined) return record && keepsSound(record) ? 'awaited' : 'none';
    const address = foreignAddress(url, 'https', 'the recording');
    if (!address)
      throw api.notUnderstood('its record has an address of the recording that does not begin with https://');
    return (await download(address, request, take)) ? 'taken' : 'awaited';
  },
};

async function recordOf(api: RetellApi, id: string, request: RecordsRequest): Promise<Json | null> {
  await request.turn();
  const asked = { limit: READ_LIMITS.record, signal: request.signal };
  return api.object(`/v2/get-call/${encodeURIComponent(id)}`, asked).catch(nullIf(404, 422));
}

function listed(entry: unknown): ListedCall | undefined | null {
  const item = objectOf(entry);
  const { call_id, call_status, start_timestamp, end_timestamp } = item;
  const isOver = OVER.has(call_status) && figureOf(start_timestamp) !== undefined;
  return listedCall(call_id, figureOf(end_timestamp), isOver, attemptOf(item));
}

const attemptOf = (record: Json): string | null =>
  attemptIn(record['metadata'], record['custom_sip_headers'], record['retell_llm_dynamic_variables']);

function callOf(record: Json): ProductionCall | null {
  const id = idOf(record['call_id']);
  if (id === undefined) throw new TypeError('it has no call_id');
  const startedAt = figureOf(record['start_timestamp']);
  if (!OVER.has(record['call_status']) || startedAt === undefined) return null;
  const span = spanOf(
    startedAt,
    figureOf(record['end_timestamp']) ?? startedAt + (figureOf(record['duration_ms']) ?? NaN),
  );
  const [tools, scrubbed, words] = LISTS.map((name) => listIn(record, name));
  const withTools = [tools, scrubbed].find((list) => list && list.length > 0);
  const conversation = new Conversation(span);
  const entries = (withTools ?? words ?? []).map(objectOf);
  for (const entry of entries) say(conversation, entry);
  for (const { role, tool_call_id, content } of entries) {
    if (role === 'tool_call_result') conversation.returned(tool_call_id as string, content);
  }
  const { from_number, to_number, direction, latency } = record;
  const kinds = Object.entries(objectOf(latency)).map(
    ([kind, found]) => [kind, listOf(objectOf(found)['values'])] as const,
  );
  return {
    ...{ id, ...span, endedReason: phraseOf(record['disconnection_reason']) },
    said: conversation.isEmpty ? null : conversation.said,
    toolCalls: withTools && !conversation.isEmpty ? conversation.toolCalls : null,
    latencies: latenciesOf(kinds),
    recording: textOf(soundOf(record)) ? 'available' : keepsSound(record) ? 'awaited' : 'none',
    attemptId: attemptOf(record),
    callerNumber: phraseOf(direction === 'outbound' ? to_number : from_number),
  };
}

/** @throws TypeError for what is neither a list nor nothing */
function listIn(record: Json, name: string): readonly unknown[] | undefined {
  const value = record[name];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) throw new TypeError(`its ${name} is not a list`);
  return value as unknown[];
}

/** An entry has the times of its words; a tool is called where it stands among them. A person after a transfer is not the agent. */
function say(conversation: Conversation, entry: Json): void {
  const { role, content, name, tool_call_id: id } = entry;
  if (role === 'tool_call_invocation') {
    conversation.called(textOf(name), argumentsJson(entry['arguments']), secondsOf(entry['time_sec']), textOf(id));
    return;
  }
  const words = listOf(entry['words']).map(objectOf);
  const startMs = secondsOf(words.find(({ start }) => figureOf(start) !== undefined)?.['start']);
  const endMs = secondsOf(words.findLast(({ end }) => figureOf(end) !== undefined)?.['end']);
  if (startMs === endMs && REMARK.test(textOf(content) ?? '')) return;
  if (role === 'agent' || role === 'assistant') conversation.say('agent', content, { startMs, endMs });
  else if (role === 'user') conversation.say('caller', content, { startMs, endMs });
}

/** That without personal data, if there is one. */
const soundOf = (record: Json): unknown =>
  textOf(record['scrubbed_recording_multi_channel_url']) ?? record['recording_multi_channel_url'];

const keepsSound = ({ data_storage_setting: kept }: Json): boolean => kept !== 'basic_attributes_only';
