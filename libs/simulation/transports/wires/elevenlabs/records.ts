import { READ_LIMITS } from '../../../other-side/read-limits.js';
import { PlatformApi } from '../../http/platform-api.js';
import type { ListedCall, ProductionCall, Records, RecordsRequest, RecordsWindow } from '../../modules/records.js';
import { argumentsJson, type Json, listOf, objectOf, textOf } from '../fields.js';
import {
  attemptIn,
  Conversation,
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
import { ELEVENLABS_RULES } from './refusals.js';

const PATH = '/v1/convai/conversations';
const PAGE_SIZE = '100';
const MAX_PAGES = 50;
/** The platform lists by the start of conversations: how long before the window one can have begun that ended in it. */
const LONGEST_MS = 2 * 60 * 60_000;

const apiOf = ({ endpoint, client }: RecordsRequest) => new PlatformApi(ELEVENLABS_RULES, { ...endpoint, client });

/** The records of conversations of an agent: words, in whole seconds, and tools. The platform's recording mixes both sides. */
export const elevenlabsRecords: Records = {
  list: (window, request) => {
    const api = apiOf(request);
    return listInParts(api, window, MAX_PAGES, async ({ assistantId, from, until }, cursor) => {
      await request.turn();
      const query = {
        agent_id: assistantId.toWellFormed(),
        call_start_after_unix: String(Math.floor((from - LONGEST_MS) / 1_000)),
        call_start_before_unix: String(Math.ceil(until / 1_000)),
        page_size: PAGE_SIZE,
        ...(cursor !== null && { cursor }),
      };
      const found = await api.json(PATH, { query, limit: READ_LIMITS.list, signal: request.signal });
      const { conversations, has_more, next_cursor } = objectOf(found);
      if (!Array.isArray(conversations)) throw api.notUnderstood('its list has no conversations');
      const entries = conversations.map(listed).filter((one) => !one || isWithin(one, { from, until }));
      return { entries, next: has_more === true ? textOf(next_cursor) : null };
    });
  },
  get: async (id, request) => {
    const api = apiOf(request);
    await request.turn();
    const asked = { limit: READ_LIMITS.record, signal: request.signal };
    const record = await api.json(`${PATH}/${encodeURIComponent(id)}`, asked).catch(nullIf(404));
    return record === null ? null : readRecord(api, id, () => callOf(objectOf(record)));
  },
};

const isWithin = ({ endedAt }: ListedCall, { from, until }: Pick<RecordsWindow, 'from' | 'until'>): boolean =>
  endedAt === null || (endedAt >= from && endedAt <= until);

function listed(entry: unknown): ListedCall | undefined | null {
  const { conversation_id, status, start_time_unix_secs, call_duration_secs } = objectOf(entry);
  const [from, length] = [secondsOf(start_time_unix_secs), secondsOf(call_duration_secs)];
  const endedAt = from === undefined || length === undefined ? undefined : from + length;
  return listedCall(conversation_id, endedAt, status === 'done');
}

function callOf(record: Json): ProductionCall | null {
  const id = idOf(record['conversation_id']);
  if (id === undefined) throw new TypeError('it has no conversation_id');
  if (record['status'] !== 'done') return null;
  const metadata = objectOf(record['metadata']);
  const startedAt = secondsOf(metadata['start_time_unix_secs']);
  const span = spanOf(startedAt, (startedAt ?? NaN) + (secondsOf(metadata['call_duration_secs']) ?? NaN));
  const { transcript } = record;
  if (transcript !== undefined && transcript !== null && !Array.isArray(transcript)) {
    throw new TypeError('its transcript is not a list');
  }
  const conversation = new Conversation(span);
  const entries = listOf(transcript).map(objectOf);
  for (const entry of entries) say(conversation, entry);
  const metrics = new Map<string, unknown[]>();
  for (const { tool_results, conversation_turn_metrics } of entries) {
    for (const { request_id, result_value, tool_name } of withNested(tool_results)) {
      conversation.returned(request_id as string, result_value, tool_name);
    }
    for (const [name, found] of Object.entries(objectOf(objectOf(conversation_turn_metrics)['metrics']))) {
      metrics.set(name, [...(metrics.get(name) ?? []), objectOf(found)['elapsed_time']]);
    }
  }
  const hasWords = !conversation.isEmpty;
  const begun = objectOf(record['conversation_initiation_client_data']);
  return {
    ...{ id, ...span, endedReason: phraseOf(metadata['termination_reason']) },
    said: hasWords ? conversation.said : null,
    toolCalls: hasWords ? conversation.toolCalls : null,
    latencies: latenciesOf([...metrics], 1_000),
    recording: 'none',
    attemptId: attemptIn(record['user_id'], begun['user_id'], begun['dynamic_variables']),
    callerNumber: phraseOf(objectOf(metadata['phone_call'])['external_number']),
  };
}

/** An entry may call tools without words, and the reverse. What the caller did not hear of it stands in `original_message`. */
function say(conversation: Conversation, entry: Json): void {
  const { role, message, multivoice_message, contextual_update_info, source_medium } = entry;
  const startMs = secondsOf(entry['time_in_call_secs']);
  const voices = listOf(objectOf(multivoice_message)['parts']).map((part) => textOf(objectOf(part)['text']) ?? '');
  // Keys, and what a client tells the agent in silence, are listed as messages of the user.
  const isSpoken = !contextual_update_info && source_medium !== 'dtmf';
  if (role === 'agent' || role === 'assistant') conversation.say('agent', message ?? voices.join(' '), { startMs });
  else if (role === 'user' && isSpoken) conversation.say('caller', message, { startMs });
  // A workflow moves between its nodes by a tool of the platform.
  const inNodes = withNested(entry['tool_results'])
    .flatMap(stepsOf)
    .flatMap(({ requests }) => listOf(requests).map(objectOf))
    .filter(({ type, tool_name }) => type !== 'system' || tool_name !== 'transfer_to_agent');
  for (const { tool_name, params_as_json, request_id } of [...listOf(entry['tool_calls']).map(objectOf), ...inNodes]) {
    conversation.called(textOf(tool_name), argumentsJson(params_as_json), startMs, textOf(request_id));
  }
}

const stepsOf = ({ result }: Json): Json[] => listOf(objectOf(result)['steps']).map(objectOf);

/** Results of tools. That of a step of a workflow has those of the tools in its nodes. */
const withNested = (results: unknown): Json[] =>
  listOf(results)
    .map(objectOf)
    .flatMap((one) => [one, ...stepsOf(one).flatMap((step) => withNested(step['results']))]);
