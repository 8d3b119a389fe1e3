import { READ_LIMITS } from '../../../other-side/read-limits.js';
import { CallFailure } from '../../../timeline/failure.js';
import { download } from '../../http/download.js';
import { foreignAddress } from '../../http/foreign-address.js';
import { PlatformApi } from '../../http/platform-api.js';
import type { ListedCall, ProductionCall, Records, RecordsRequest } from '../../modules/records.js';
import { argumentsJson, type Json, listOf, objectOf } from '../fields.js';
import {
  attemptIn,
  Conversation,
  dateOf,
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
import { toolOf } from './messages.js';
import { VAPI_RULES } from './refusals.js';

/** The most that is listed at once; the list has no pages. */
const LIMIT = 100;
/** Named as in the record, without `Latency`. */
const LATENCIES = ['turn', 'model', 'voice', 'transcriber', 'endpointing'];

const apiOf = ({ endpoint, client }: RecordsRequest) => new PlatformApi(VAPI_RULES, { ...endpoint, client });
const pathOf = (id: string) => `/call/${encodeURIComponent(id)}`;

/** The records of calls of an assistant: neither those of squads nor of assistants that exist for one call are listed. */
export const vapiRecords: Records = {
  list: (window, request) => {
    const api = apiOf(request);
    return listInParts(api, window, 1, async ({ assistantId, from, until }) => {
      await request.turn();
      const query = {
        assistantId: assistantId.toWellFormed(),
        updatedAtGt: new Date(from).toISOString(),
        updatedAtLt: new Date(until + 1).toISOString(),
        limit: String(LIMIT),
      };
      const found = await api.json('/call', { query, limit: READ_LIMITS.list, signal: request.signal });
      if (!Array.isArray(found)) throw api.notUnderstood('its answer is not a list of calls');
      const isWithin = (entry: unknown) => {
        const updatedAt = dateOf(objectOf(entry)['updatedAt']) ?? NaN;
        return updatedAt >= from && updatedAt <= until;
      };
      const isFull = new Set(found.filter(isWithin).map((entry) => objectOf(entry)['id'])).size === LIMIT;
      return { entries: found.map(listed), next: found.length < LIMIT ? null : 'more', isFull };
    });
  },
  get: async (id, request) => {
    const api = apiOf(request);
    await request.turn();
    const asked = { limit: READ_LIMITS.record, signal: request.signal };
    const record = await api.json(pathOf(id), asked).catch(nullIf(404));
    return record === null ? null : readRecord(api, id, () => callOf(record));
  },
  recording: async (id, request, take) => {
    const api = apiOf(request);
    await request.turn();
    const asked = api.location(`${pathOf(id)}/stereo-recording`, { signal: request.signal });
    const location = await asked.catch((error: unknown) => {
      const { status } = error instanceof CallFailure ? error.failure : {};
      if (status === 404) return 'awaited' as const;
      // Older than the plan of the account keeps it.
      if (status === 400) return 'none' as const;
      throw error;
    });
    if (location === 'awaited' || location === 'none') return location;
    const address = foreignAddress(location, 'https', 'the recording');
    if (!address) throw api.notUnderstood('it leads to an address of the recording that does not begin with https://');
    return (await download(address, request, take)) ? 'taken' : 'awaited';
  },
};

function listed(entry: unknown): ListedCall | undefined | null {
  const call = objectOf(entry);
  const { id, status, startedAt, endedAt } = call;
  const isOver = status === 'ended' && startedAt !== undefined && startedAt !== null;
  return listedCall(id, dateOf(endedAt), isOver, attemptOf(call));
}

/** Headers of a call over SIP are variables, in lower case and without `X-`, and beside them as they were sent. */
function attemptOf(call: Json): string | null {
  const overrides = objectOf(call['assistantOverrides']);
  const { headers } = objectOf(objectOf(call['phoneCallProviderDetails'])['sip']);
  return attemptIn(call['name'], call['metadata'], overrides['metadata'], overrides['variableValues'], headers);
}

function callOf(record: unknown): ProductionCall | null {
  const call = objectOf(record);
  const id = idOf(call['id']);
  if (id === undefined) throw new TypeError('it has no id');
  const { startedAt, endedAt, status, artifact, artifactPlan, customer } = call;
  if (status !== 'ended' || startedAt === undefined || startedAt === null) return null;
  const span = spanOf(dateOf(startedAt), dateOf(endedAt));
  const kept = objectOf(artifact);
  const messages = [kept['messages'], call['messages']].filter((list) => list !== undefined && list !== null);
  if (!messages.every(Array.isArray)) throw new TypeError('its messages are not a list');
  const conversation = new Conversation(span);
  const entries = listOf(messages.find((list) => listOf(list).length > 0)).map(objectOf);
  for (const message of entries) say(conversation, message, span.startedAt);
  for (const { role, toolCallId, result, name, ...message } of entries) {
    if (role === 'tool_call_result') conversation.returned(toolCallId as string, result, name);
    else if (role === 'tool') conversation.returned(message['tool_call_id'] as string, message['content'], name);
  }
  const hasWords = !conversation.isEmpty;
  const { turnLatencies } = objectOf(kept['performanceMetrics']);
  const turns = listOf(turnLatencies).map(objectOf);
  return {
    ...{ id, ...span, endedReason: phraseOf(call['endedReason']) },
    said: hasWords ? conversation.said : null,
    toolCalls: hasWords ? conversation.toolCalls : null,
    latencies: latenciesOf(LATENCIES.map((kind) => [kind, turns.map((turn) => turn[`${kind}Latency`])])),
    recording: recordingOf(kept, objectOf(artifactPlan)),
    attemptId: attemptOf(call),
    callerNumber: phraseOf(objectOf(customer)['number']),
  };
}

/** Whose times are those of the clock, seconds since the start, and, whatever the typings say, a duration in milliseconds. */
function say(conversation: Conversation, message: Json, startedAt: number): void {
  const { role, time, endTime, duration } = message;
  const [from, to] = [figureOf(time), figureOf(endTime)];
  const startMs = secondsOf(message['secondsFromStart']) ?? (from === undefined ? undefined : from - startedAt);
  const lengthMs = from !== undefined && to !== undefined && to >= from ? to - from : figureOf(duration);
  const endMs = startMs === undefined ? undefined : startMs + (lengthMs ?? 0);
  // A security filter of the platform hides what was said from the model.
  const said = message['isFiltered'] === true ? message['originalMessage'] : undefined;
  const text = said ?? message['message'] ?? message['content'];
  if (role === 'user') conversation.say('caller', text, { startMs, endMs });
  else if (role === 'bot' || role === 'assistant') conversation.say('agent', text, { startMs, endMs });
  const calls =
    role === 'tool_calls' || role === 'assistant' ? listOf(message['toolCalls'] ?? message['tool_calls']) : [];
  for (const call of calls) {
    const tool = toolOf(call);
    conversation.called(tool?.name ?? null, tool?.json ?? argumentsJson(null), startMs, tool?.id);
  }
}

function recordingOf(artifact: Json, { recordingEnabled }: Json): ProductionCall['recording'] {
  if (recordingEnabled === false) return 'none';
  const { presignedStereoUrl, stereoRecordingUrl, recordingUrl, recording } = artifact;
  const { stereoUrl } = objectOf(recording);
  const isThere = [presignedStereoUrl, stereoRecordingUrl, recordingUrl, stereoUrl].some(
    (url) => typeof url === 'string',
  );
  return isThere ? 'available' : 'awaited';
}
