import type { IncomingMessage } from 'node:http';
import type { KeptCall, KeptCalls, KeptLine, KeptTool } from '../records/kept-calls.js';
import type { Reply } from './assistants.js';
import type { ClientMessage } from './messages.js';
import { notFound } from './replies.js';

/** The record of a call, by the typings of `@vapi-ai/server-sdk` 2.0.1 (`Call`, `Artifact`); its durations are milliseconds, as observed. */
export function vapiRecord(call: KeptCall): object {
  const { id, agent, startedAt, endedAt, lines, tools = [], latencies, attempt, callerNumber, sound } = call;
  const at = (ms: number) => ({ time: startedAt + ms, secondsFromStart: ms / 1_000 });
  const spoken = lines.map(({ speaker, text, startMs, endMs }) => ({
    ...{ role: speaker === 'agent' ? 'bot' : 'user', message: text, ...at(startMs) },
    ...{ endTime: startedAt + endMs, duration: endMs - startMs },
  }));
  const called = tools.flatMap(({ id: toolCallId, name, arguments: args, result, startMs }) => [
    {
      ...{ role: 'tool_calls', message: '', ...at(startMs) },
      toolCalls: [{ id: toolCallId, type: 'function', function: { name, arguments: JSON.stringify(args) } }],
    },
    { role: 'tool_call_result', toolCallId, name, result, ...at(startMs + 100) },
  ]);
  const messages = [
    { role: 'system', message: 'You take bookings.', ...at(0) },
    ...[...spoken, ...called].sort((a, b) => a.time - b.time),
  ];
  const stored = 'https://storage.vapi.ai/hipaa-recordings/stereo.wav';
  return {
    ...{ id, orgId: 'org_1', type: callerNumber === undefined ? 'webCall' : 'inboundPhoneCall', assistantId: agent },
    ...{ createdAt: new Date(startedAt - 500).toISOString(), startedAt: new Date(startedAt).toISOString() },
    updatedAt: new Date(endedAt ?? startedAt).toISOString(),
    status: endedAt === null ? 'in-progress' : 'ended',
    // Headers of calls over SIP are variables, in lower case and without `X-`.
    ...(attempt !== undefined &&
      (callerNumber === undefined
        ? { name: `vat:${attempt}` }
        : { assistantOverrides: { variableValues: { 'vat-call': attempt } } })),
    ...(callerNumber !== undefined && { customer: { number: callerNumber } }),
    ...(endedAt !== null && {
      endedAt: new Date(endedAt).toISOString(),
      endedReason: call.reason ?? 'customer-ended-call',
      artifact: {
        messages,
        transcript: lines.map(({ speaker, text }) => `${speaker === 'agent' ? 'AI' : 'User'}: ${text}\n`).join(''),
        ...(sound && { stereoRecordingUrl: stored, recording: { stereoUrl: stored, mono: {} } }),
        ...(latencies && { performanceMetrics: { turnLatencies: latencies.map((turnLatency) => ({ turnLatency })) } }),
      },
    }),
    ...(sound === null && { artifactPlan: { recordingEnabled: false } }),
    ...call.fields,
  };
}

/** `GET /call`: the newest first, by when they were updated; it has no pages. */
function vapiList(kept: KeptCalls, query: URLSearchParams): Reply {
  const limit = Number(query.get('limit') ?? 100);
  const [after, before] = ['updatedAtGt', 'updatedAtLt'].map((name) => query.get(name));
  if (!(limit >= 1 && limit <= 1_000)) {
    return [400, { message: ['limit must not be greater than 1000'], error: 'Bad Request', statusCode: 400 }];
  }
  const updated = ({ startedAt, endedAt }: KeptCall) => endedAt ?? startedAt;
  const all = kept.of(query.get('assistantId')).filter((call) => {
    if (kept.faults.isEndless) return true;
    return !(after && updated(call) <= Date.parse(after)) && !(before && updated(call) >= Date.parse(before));
  });
  const newest = all.sort((a, b) => updated(b) - updated(a)).slice(0, limit);
  const entries = kept.entries(newest.map(vapiRecord));
  while (kept.faults.isEndless && entries.length > 0 && entries.length < limit) entries.push(entries[0]!);
  return [200, entries.slice(0, limit)];
}

interface RecordsRequest {
  readonly route: string;
  readonly id: string | undefined;
  readonly request: IncomingMessage;
  readonly base: string;
}

/** Answers requests about calls. @param carried records of calls from their creation on, by their ids */
export function answerOfRecords(
  kept: KeptCalls,
  { route, id = '', request, base }: RecordsRequest,
  carried: ReadonlyMap<string, object>,
): Reply {
  const query = new URL(request.url!, base).searchParams;
  if (route === 'GET call') return query.has('assistantId') ? vapiList(kept, query) : [200, [...carried.values()]];
  if (route === 'GET call/{id}') {
    const call = kept.read(id);
    if (!call && !carried.has(id)) return notFound(`Call ${id} not found`);
    return [200, { ...carried.get(id), ...(call && vapiRecord(call)) }];
  }
  const recorded = kept.all.get(id);
  const address = recorded && kept.address(recorded, base);
  return address === undefined ? notFound('Recording not found') : [302, address];
}

export type End = 'control' | 'message' | 'agent' | 'limit';
/** Why calls ended, in the words of the platform. */
const REASONS: Readonly<Record<End, string>> = {
  control: 'manually-canceled',
  message: 'customer-ended-call',
  agent: 'assistant-ended-call',
  limit: 'exceeded-max-duration',
};

/** Listens to what a call sends to its client, for its record. */
export class CallRecorder {
  private readonly startedAt = Date.now();
  private readonly lines: KeptLine[] = [];
  private readonly tools: KeptTool[] = [];
  private readonly speechAt = new Map<string, number>();

  constructor(private readonly call: Pick<KeptCall, 'id' | 'agent' | 'attempt'>) {}

  hear(data: string | Uint8Array): void {
    if (typeof data !== 'string' || !data.startsWith('{')) return;
    const message = JSON.parse(data) as ClientMessage;
    const at = Date.now() - this.startedAt;
    const role = message['role'] as string;
    if (message.type === 'speech-update' && message['status'] === 'started') this.speechAt.set(role, at);
    if (message.type === 'transcript' && message['transcriptType'] === 'final') {
      const text = String(message['transcript']);
      const startMs = this.speechAt.get(role) ?? at;
      this.lines.push({ speaker: role === 'user' ? 'caller' : 'agent', text, startMs, endMs: at });
    }
    for (const { id, function: run } of (message['toolCallList'] ?? []) as readonly SentTool[]) {
      const args = JSON.parse(run.arguments) as object;
      this.tools.push({ id, name: run.name, arguments: args, result: '{"status":"ok"}', startMs: at });
    }
  }

  ended(how: End): KeptCall {
    const { startedAt, lines, tools } = this;
    return { ...this.call, startedAt, endedAt: Date.now(), lines, tools, reason: REASONS[how] };
  }
}

interface SentTool {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}
