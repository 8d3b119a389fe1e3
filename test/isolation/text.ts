import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpClient } from '../support/http.js';
import type { Processes } from './processes.js';
import { attack, endOf, MEMORY_MB, prepare, prepareVoiceVictim, print, startRun, type Subject } from './subjects.js';

const CALLS = 8;
const LINES = 20;
const LIMIT_MS = 1_500;
const MAX_VOICE_LATENESS_MS = 100;
const MAX_API_P99_MS = 100;
/** Calls of an attack at once. */
const FLOODS = { full: [5, 20], short: [5] } as const;
const AGENT_MS = 300;
const REQUEST_EVERY_MS = 20;
const LISTS_MS = { full: 10_000, short: 3_000 };

/** What a hostile agent sends, and how it is reached. */
const AGENTS: Readonly<Record<string, readonly [what: string, protocol: string, path: string]>> = {
  streams: ['event streams of 4 MiB', 'chat-completions', '/stream'],
  answers: ['answers of 8 MiB of {},', 'chat-completions', '/json'],
  chats: ['chats of 8 MiB of {},', 'vapi-chat', '/platform'],
  messages: ['messages of 8 MiB of {},', 'elevenlabs-text', '/platform'],
  records: ['records of 16 MiB', 'vapi', '/platform'],
};
const LISTS = 'lists';
/** Those of the short form, whose machine may be busy with other work: victims must pass, and may be repeated. */
const SHORT = ['streams', 'messages', LISTS];
export const TEXT_ATTACKS: readonly string[] = [...Object.keys(AGENTS), LISTS];

async function hostileAgent(client: HttpClient, name: string, host: string): Promise<Subject> {
  const [, protocol, path] = AGENTS[name]!;
  const script = Array.from({ length: 20 }, () => ({ say: 'Hello.' }));
  const evaluation = { script, checks: [{ name: 'Short', type: 'max_turns', turns: 30 }] };
  const subject = await prepare(client, name, { evaluation });
  const connection = { protocol, url: `http://${host}${path}` };
  const { status, body } = await client.put(`/agents/${subject.agentId}/connection`, connection);
  if (status !== 200) throw new Error(`PUT connection: ${status} ${JSON.stringify(body)}`);
  return subject;
}

const textVictim = (client: HttpClient): Promise<Subject> =>
  prepare(client, 'Text, 20 lines', {
    evaluation: {
      script: Array.from({ length: LINES }, (_, n) => ({
        say: n % 2 === 0 ? 'Until when are you open?' : 'Where are you?',
      })),
      checks: [
        { name: 'Quick', type: 'max_latency_ms', ms: LIMIT_MS },
        { name: 'Address', type: 'says', text: 'Harbour Street' },
      ],
    },
  });

/** @returns what is wrong with the victims' calls */
async function victims(subjects: readonly Subject[], title: string, isShort: boolean): Promise<string[]> {
  const calls = (await Promise.all(subjects.map(async (one) => endOf(one, await startRun(one, CALLS, CALLS))))).flat();
  const worst = (of: (call: any) => number | undefined) =>
    Math.round(Math.max(0, ...calls.map((call) => of(call) ?? 0)));
  const late = worst((call) => call.reliability?.frameLatenessMs?.worst);
  const slowest = worst((call) => (call.voice ? 0 : call.measures.latency.worst));
  const bad = calls.filter((call) => call.outcome !== 'passed' || call.attempts.length > 1);
  print(
    `  ${title}: ${calls.length - bad.length} of ${calls.length} passed in their first attempt; slowest text answer ` +
      `${slowest} ms, worst lateness ${late} ms, worst stall ${worst((call) => call.reliability?.worstStallMs)} ms`,
  );
  const wrong = isShort ? bad.filter(({ outcome }) => outcome !== 'passed') : bad;
  return [
    ...wrong.map(
      ({ attempts }) => `${title}: ${JSON.stringify(attempts.map((one: any) => [one.outcome, one.reason]))}`,
    ),
    ...(!isShort && late > MAX_VOICE_LATENESS_MS ? [`${title}: frames late by ${late} ms`] : []),
  ];
}

/** Response times of the API, while another workspace has lists of 31 MiB read. */
async function besideLists(client: HttpClient, hostile: HttpClient, ms: number): Promise<number[]> {
  const over = new AbortController();
  const list = async () => {
    while (!over.signal.aborted) {
      const { status, body } = await hostile.post('/providers/AGENT_PROVIDER_2/assistants?limit=100', {
        apiKey: 'key',
      });
      if (status !== 201 && status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
    }
  };
  const lists = Promise.all([list(), list()]);
  lists.catch(() => over.abort());
  const times: number[] = [];
  const until = performance.now() + ms;
  while (performance.now() < until) {
    const started = performance.now();
    await client.get('/agents?limit=10');
    times.push(performance.now() - started);
    await sleep(REQUEST_EVERY_MS);
  }
  over.abort();
  await lists;
  return times.sort((a, b) => a - b);
}

/**
 * Voice and text calls of one workspace beside text agents and platforms of another one that send as much as they can.
 * @returns whether the limits hold
 */
export async function besideTextAttacks(
  processes: Processes,
  attacks: readonly string[],
  isShort: boolean,
): Promise<boolean> {
  const agent = await processes.startAgent(AGENT_MS, AGENT_MS);
  const host = await processes.startAttacker('text-attacker.ts');
  await processes.startService(agent.text, MEMORY_MB, {
    WORKER_CONCURRENCY: '40',
    VOICE_CONCURRENCY: '40',
    AGENT_PROVIDER_2_PROTOCOL: 'vapi',
    AGENT_PROVIDER_2_URL: `http://${host}/platform`,
    AGENT_PROVIDER_2_CONCURRENCY: '40',
  });
  const client = await processes.createWorkspace('Victim');
  const subjects = [await prepareVoiceVictim(client, agent.voice), await textVictim(client)];
  const attacker = await processes.createWorkspace('Attacker');
  for (const subject of subjects) await endOf(subject, await startRun(subject, 2, 2));
  const faults = await victims(subjects, 'without attacks', isShort);
  const chosen = attacks.filter((attack) => !isShort || SHORT.includes(attack));
  for (const name of chosen.filter((attack) => attack !== LISTS)) {
    const hostile = await hostileAgent(attacker, name, host);
    for (const calls of FLOODS[isShort ? 'short' : 'full']) {
      const over = new AbortController();
      const attacking = attack(hostile, calls, over.signal);
      attacking.catch(() => undefined);
      await sleep(1_000);
      faults.push(...(await victims(subjects, `${calls} calls with ${AGENTS[name]![0]}`, isShort)));
      over.abort();
      print(`    ${JSON.stringify(await attacking)}`);
    }
  }
  if (chosen.includes(LISTS)) {
    const times = await besideLists(client, attacker, LISTS_MS[isShort ? 'short' : 'full']);
    const [p50, p99] = [0.5, 0.99].map((share) => times[Math.floor(times.length * share)]!) as [number, number];
    print(`  ${times.length} requests beside lists of 31 MiB: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
    if (!isShort && p99 > MAX_API_P99_MS) faults.push(`requests beside lists: p99 ${p99.toFixed(1)} ms`);
  }
  if (processes.restarts > 0) faults.push(`${processes.restarts} processes ended`);
  print(`  ends of threads: ${processes.threadDeaths}; largest resident memory ${processes.peakMemoryMb()} MB`);
  for (const fault of faults) print(`  DOES NOT HOLD: ${fault}`);
  return faults.length === 0;
}
