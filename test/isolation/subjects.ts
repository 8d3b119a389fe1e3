import type { HttpClient } from '../support/http.js';

/** Latency of the text agent, and the limit of its calls: above it by a margin for a busy machine. */
export const AGENT_MS = 300;
export const LIMIT_MS = 500;
/** By how much the slow agent is slower. */
export const SLOW_MS = 400;
/** Limit of each process, for its heap and for its resident memory (Linux only). */
export const MEMORY_MB = 1024;

export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** An agent with one evaluation. */
export interface Subject {
  readonly client: HttpClient;
  readonly agentId: string;
}

interface Prepared {
  /** Of the reference agent. */
  readonly fault?: string;
  /** URL of a voice agent. */
  readonly voiceUrl?: string;
  readonly protocol?: string;
  readonly evaluation: object;
}

/** An agent with one evaluation. @param name of both */
export async function prepare(client: HttpClient, name: string, of: Prepared): Promise<Subject> {
  const created = async (at: string, body: object) => {
    const response = await client.post(at, body);
    if (response.status !== 201) throw new Error(`POST ${at}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body.data.id as string;
  };
  const assistantId = `booking:${of.fault ?? 'healthy'}`;
  const agentId = await created('/agents', { provider: 'AGENT_PROVIDER_1', assistantId, apiKey: 'key', name });
  if (of.voiceUrl !== undefined) {
    const connection = { protocol: of.protocol ?? 'twilio-media-streams', url: of.voiceUrl };
    const { status, body } = await client.put(`/agents/${agentId}/connection`, connection);
    if (status !== 200) throw new Error(`PUT connection: ${status} ${JSON.stringify(body)}`);
  }
  const personalityId = await created('/personalities', { name: 'Plain' });
  const scenarioText = 'You ask some questions.';
  await created(`/agents/${agentId}/evaluations`, { name, scenarioText, personalityId, ...of.evaluation });
  return { client, agentId };
}

/** A text agent with an evaluation of four turns and a latency limit. @param fault of the agent */
export const prepareText = (client: HttpClient, fault: string, limitMs = LIMIT_MS): Promise<Subject> =>
  prepare(client, `Text, ${fault}`, {
    fault,
    evaluation: {
      script: ['Until when are you open?', 'Where are you?', 'Can I park there?', 'Thank you, goodbye.'].map((say) => ({
        say,
      })),
      checks: [
        { name: 'Quick', type: 'max_latency_ms', ms: limitMs },
        { name: 'Address', type: 'says', text: 'Harbour Street' },
      ],
    },
  });

/** A voice agent with an evaluation that a healthy one passes. */
export const prepareVoiceVictim = (client: HttpClient, voiceUrl: string): Promise<Subject> =>
  prepare(client, 'Voice, healthy', {
    voiceUrl,
    evaluation: {
      script: [
        { say: 'When are you open, where are you, and can I park there?' },
        { say: 'Hello, do you have vegan dishes?' },
        { say: 'Thank you, goodbye.' },
        { waitSeconds: 5 },
        { end: 'The agent does not hang up' },
      ],
      checks: [
        { name: 'Answers in time', type: 'max_latency_ms', ms: 2_500 },
        { name: 'Never interrupts', type: 'max_interruptions', count: 0 },
        { name: 'Keeps to the protocol', type: 'clean_protocol' },
        { name: 'Hangs up', type: 'ends_by', by: 'agent' },
      ],
    },
  });

/** Starts a run. @returns its id */
export async function startRun({ client, agentId }: Subject, repeat: number, concurrency: number): Promise<string> {
  const { status, body } = await client.post(`/agents/${agentId}/runs`, { repeat, concurrency });
  if (status !== 201) throw new Error(`POST run: ${status} ${JSON.stringify(body)}`);
  return body.data.id as string;
}

/** Waits for the end of a run. @returns its calls, as `GET /calls/{id}` has them */
export async function endOf({ client }: Subject, runId: string): Promise<any[]> {
  for (;;) {
    const { body } = await client.get(`/runs/${runId}?wait=60`);
    if (body.data.endedAt !== null) break;
  }
  const { body } = await client.get(`/runs/${runId}/calls?limit=100`);
  return Promise.all(body.data.map(async ({ id }: { id: string }) => (await client.get(`/calls/${id}`)).body.data));
}

/** Calls the hostile agent without pause until the signal aborts. @returns how its calls ended */
export async function attack(subject: Subject, calls: number, signal: AbortSignal): Promise<Record<string, number>> {
  const ends: Record<string, number> = {};
  while (!signal.aborted) {
    const id = await startRun(subject, 50, calls);
    const cancel = () => void subject.client.post(`/runs/${id}/cancel`).catch(() => undefined);
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    for (const call of await endOf(subject, id)) {
      const end = call.failure?.code ?? call.outcome ?? call.status;
      ends[end] = (ends[end] ?? 0) + 1;
    }
    signal.removeEventListener('abort', cancel);
  }
  return ends;
}
