// Text calls of one process: how many per second with an instant agent, and how close to the ideal pace with many at once.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { send } from './load.mjs';
import { peakMemory, root, SERVICE, start, stop } from './processes.mjs';

const LINES = ['Hello.', 'A table, please.', 'For four.', 'On Friday.', 'At eight.', 'Thank you.'];
const EVALUATION = {
  scenarioText: 'You want a table.',
  script: [...LINES.map((say) => ({ say })), { end: 'Done' }],
  checks: [
    { type: 'says', text: 'your table' },
    { type: 'never_says', pattern: '(?i)sorry|cannot' },
    { type: 'max_turns', turns: 6 },
  ],
};
/** Concurrent calls of each agent: the maximum of a run. */
export const AGENT_CONCURRENCY = 100;

/**
 * @param options.agents number of agents called at the same time, AGENT_CONCURRENCY calls each
 * @param options.delayMs response time of the agent for each of the six turns
 * @param options.concurrency concurrent calls
 * @param options.calls in total
 * @returns `{ rate, pace, memory }`: calls per second over all, and while `concurrency` calls were active; peak MB
 */
export async function measureCalls(env, apiKey, { agents, delayMs, concurrency, calls }, onProgress) {
  const agent = fork(path.join(root, 'bench/agent.mjs'), [String(delayMs)]);
  const [port] = await once(agent, 'message');
  const service = await start(SERVICE, {
    ...env,
    WORKER_CONCURRENCY: String(concurrency),
    OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
    AGENT_PROVIDER_1_URL: `http://127.0.0.1:${port}/v1/chat/completions`,
  });
  const api = async (...request) => (await send(service.url, apiKey, ...request)).data;
  try {
    const repeat = 50;
    const ids = await createAgents(api, agents, calls / agents / repeat);
    const run = async (times) => {
      const body = { repeat: times, concurrency: AGENT_CONCURRENCY };
      const runs = await Promise.all(ids.map((id) => api('POST', `/agents/${id}/runs`, body)));
      return Promise.all(runs.map(({ id }) => ended(api, id)));
    };
    onProgress('warming up');
    await run(repeat / 10);
    onProgress(`${calls} calls`);
    const begin = performance.now();
    const runs = await run(repeat);
    const rate = (1000 * calls) / (performance.now() - begin);
    const passed = runs.reduce((sum, { counts }) => sum + counts.passed, 0);
    if (passed !== calls) throw new Error(`${passed} of ${calls} calls passed: ${JSON.stringify(runs[0].counts)}`);
    return { rate, pace: pace(await listCalls(api, runs), concurrency), memory: peakMemory(service) };
  } finally {
    await stop(service);
    agent.disconnect();
  }
}

async function createAgents(api, count, evaluations) {
  const personality = await api('POST', '/personalities', { name: 'Caller' });
  const ids = [];
  for (let n = 0; n < count; n++) {
    const agent = { provider: 'AGENT_PROVIDER_1', assistantId: `a${n}`, apiKey: 'key-of-agent' };
    const { id } = await api('POST', '/agents', agent);
    for (let e = 0; e < evaluations; e++) {
      await api('POST', `/agents/${id}/evaluations`, { ...EVALUATION, name: `E${e}`, personalityId: personality.id });
    }
    ids.push(id);
  }
  return ids;
}

async function ended(api, id) {
  for (;;) {
    const run = await api('GET', `/runs/${id}?wait=60`);
    if (run.endedAt !== null) return run;
  }
}

async function listCalls(api, runs) {
  const pages = runs.flatMap(({ id, counts }) =>
    Array.from({ length: Math.ceil(counts.passed / 100) }, (_, i) => `/runs/${id}/calls?limit=100&page=${i + 1}`),
  );
  const calls = [];
  for (const page of pages) calls.push(...(await api('GET', page)));
  return calls;
}

/** Calls ended per second from the start that first filled all slots to the last start. */
function pace(calls, concurrency) {
  const starts = calls.map(({ attempts }) => Date.parse(attempts.at(-1).startedAt)).sort((a, b) => a - b);
  const [from, to] = [starts[concurrency - 1], starts.at(-1)];
  const count = calls.filter(({ endedAt }) => Date.parse(endedAt) > from && Date.parse(endedAt) <= to).length;
  return (1000 * count) / (to - from);
}
