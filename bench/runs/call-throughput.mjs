// How many six-turn calls one process carries out, its database included: with an agent that answers at once, and a
// thousand at the same time with one that takes 500 ms. On an embedded PostgreSQL of its own; needs `npm run build`.
import { fork } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort, root } from '../harness/processes.mjs';
import { AS_NPM_START, PROGRAM } from '../harness/subjects.mjs';

const KEY = 'vat_benchmark-key-of-the-first-workspace';
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const SCRIPT = ['Hello.', 'A table, please.', 'For four.', 'On Friday.', 'At eight.', 'Thank you.'];
const EVALUATION = {
  scenarioText: 'You want a table.',
  script: [...SCRIPT.map((say) => ({ say })), { end: 'Done' }],
  checks: [
    { type: 'says', text: 'your table' },
    { type: 'never_says', pattern: '(?i)sorry|cannot' },
    { type: 'max_turns', turns: 6 },
  ],
};

/** Starts a program that tells when it is ready. */
async function start(program, args, env = {}) {
  const child = fork(file(program), args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const message = await new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}`)));
  });
  return { child, message, stop: () => new Promise((resolve) => (child.once('exit', resolve), child.kill())) };
}

async function measure({ delayMs, agents, callsPerAgent, workerConcurrency }) {
  const directory = await mkdtemp(path.join(tmpdir(), 'call-throughput-'));
  const agent = await start('instant-agent.mjs', [String(delayMs)]);
  const port = await freePort();
  const service = fork(path.join(root, PROGRAM), [], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [
      ...AS_NPM_START.nodeArgs,
      ...(process.env.SERVICE_ARGS ?? '').split(' ').filter(Boolean),
      ...(process.env.CPU_PROFILE ? ['--cpu-prof', `--cpu-prof-dir=${process.env.CPU_PROFILE}`] : []),
    ],
    env: {
      ...process.env,
      ...AS_NPM_START.ownEnv,
      PORT: String(port),
      DATA_DIR: directory,
      BOOTSTRAP_API_KEY: KEY,
      DEFAULT_PLAN: 'ENTERPRISE',
      PLAN_ENTERPRISE_REQUESTS_PER_MINUTE: '1000000',
      LOG_LEVEL: 'warn',
      WORKER_CONCURRENCY: String(workerConcurrency),
      OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
      AGENT_PROVIDER_1_URL: `http://127.0.0.1:${agent.message}/v1/chat/completions`,
    },
  });
  service.once('exit', (code, signal) => {
    if (code !== 0) throw new Error(`The service ended with ${signal ?? code}`);
  });
  try {
    const call = async (method, route, body) => {
      const response = await fetch(`http://127.0.0.1:${port}${route}`, {
        method,
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      const answer = await response.json();
      if (!response.ok) throw new Error(`${method} ${route}: ${JSON.stringify(answer)}`);
      return answer.data;
    };
    for (let ready = false; !ready; await sleep(50)) {
      ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
    }
    const personality = await call('POST', '/personalities', { name: 'Caller' });
    const ids = [];
    for (let n = 0; n < agents; n++) {
      const { id } = await call('POST', '/agents', {
        provider: 'AGENT_PROVIDER_1',
        assistantId: `a${n}`,
        apiKey: 'key-of-agent',
      });
      for (let e = 0; e < callsPerAgent / 50; e++) {
        await call('POST', `/agents/${id}/evaluations`, {
          ...EVALUATION,
          name: `E${e}`,
          personalityId: personality.id,
        });
      }
      ids.push(id);
    }
    const carryOut = async (repeat) => {
      const runs = await Promise.all(ids.map((id) => call('POST', `/agents/${id}/runs`, { repeat, concurrency: 100 })));
      const ended = [];
      for (const { id } of runs) {
        let run;
        do run = await call('GET', `/runs/${id}?wait=60`);
        while (run.endedAt === null);
        ended.push(run);
      }
      return ended;
    };
    // A tenth as many before, as everywhere in this bench: what is measured is the pace and not the compiler.
    await carryOut(5);
    let peak = 0;
    const watch = setInterval(async () => {
      const status = await readFile(`/proc/${service.pid}/status`, 'utf8').catch(() => '');
      peak = Math.max(peak, Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
    }, 100);
    const cpu = () =>
      readFile(`/proc/${service.pid}/stat`, 'utf8').then(
        (s) =>
          s
            .split(' ')
            .slice(13, 15)
            .reduce((a, b) => a + Number(b), 0) * 10,
      );
    const before = await cpu();
    const begun = performance.now();
    const ended = await carryOut(50);
    const seconds = (performance.now() - begun) / 1000;
    const cpuMs = ((await cpu()) - before) / (agents * callsPerAgent);
    clearInterval(watch);
    const all = [];
    for (const { id, counts } of ended) {
      for (let page = 1; page <= Math.ceil(counts.passed / 100); page++)
        all.push(...(await call('GET', `/runs/${id}/calls?limit=100&page=${page}`)));
    }
    const calls = ended.reduce((sum, { counts }) => sum + counts.passed, 0);
    const planned = agents * callsPerAgent;
    if (calls !== planned)
      throw new Error(`Only ${calls} of ${planned} calls passed: ${JSON.stringify(ended[0].counts)}`);
    return { calls, seconds, rate: calls / seconds, held: pace(all, workerConcurrency), peak, cpuMs };
  } finally {
    await new Promise((resolve) => (service.once('exit', resolve), service.kill()));
    await agent.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

/** Calls ended per second while as many were carried out as may be: from the begin of the last of them to the last begin. */
function pace(calls, atOnce) {
  const begins = calls.map(({ attempts }) => Date.parse(attempts.at(-1).startedAt)).sort((a, b) => a - b);
  const [from, to] = [begins[atOnce - 1], begins.at(-1)];
  const ended = calls.filter(({ endedAt }) => Date.parse(endedAt) > from && Date.parse(endedAt) <= to);
  return (1000 * ended.length) / (to - from);
}

const show = (name, { calls, seconds, rate, peak, cpuMs }) =>
  process.stdout.write(
    `${name}: ${calls} calls in ${seconds.toFixed(1)} s, ${rate.toFixed(0)} calls/s, ${cpuMs.toFixed(2)} ms CPU per call, ${peak.toFixed(0)} MB at most\n`,
  );

const only = process.argv[2];
if (only !== 'waiting') {
  show(
    'agent that answers at once',
    await measure({ delayMs: 0, agents: 1, callsPerAgent: 2_000, workerConcurrency: 100 }),
  );
}
if (only !== 'instant') {
  const result = await measure({ delayMs: 500, agents: 10, callsPerAgent: 1_000, workerConcurrency: 1_000 });
  show('agent that takes 500 ms, 1,000 at once', result);
  // Six turns of 500 ms.
  const ideal = 1_000 / 3;
  process.stdout.write(
    `${result.held.toFixed(0)} calls/s while there are 1,000 at once, ${((100 * result.held) / ideal).toFixed(0)} % of ideal\n`,
  );
}
