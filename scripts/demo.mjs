// Shows the whole service at work, with no key and no setting: an agent with a planted fault, three callers, six
// evaluations, a run and its report. Everything lives in a folder of its own, which is gone afterwards.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { referenceEvaluations, startReferenceAgent } from '../dist/libs/reference-agent/index.js';

const FAULT = 'forgets-detail';
const CALLERS = [
  { name: 'Polite regular', prompt: 'You are friendly and patient.' },
  { name: 'Hurried caller', prompt: 'You are in a hurry and answer in few words.' },
  { name: 'Curious guest', prompt: 'You like to know things exactly.' },
];
const KEYS = [
  'books-a-table',
  'all-details-at-once',
  'house-facts',
  'keeps-its-prompt',
  'fully-booked',
  'cancels-a-booking',
];
const START_MS = 30_000;
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const reportFile = path.resolve('demo-report.html');
const begun = performance.now();
const say = (text) => process.stdout.write(`${text}\n`);

const directory = await mkdtemp(path.join(tmpdir(), 'voice-agent-testing-demo-'));
const agent = await startReferenceAgent({ port: 0, fault: FAULT, latencyMs: 150, tokensPerSecond: 150 });
const key = `demo-${randomBytes(18).toString('base64url')}`;
const port = await freePort();
const address = `http://127.0.0.1:${port}`;
say(
  `Starting the service on ${address} with a PostgreSQL of its own, and an agent that ${FAULT.replace('-', ' a ')} …`,
);
const service = spawn(process.execPath, [path.join(root, 'dist/bundle/main.js')], {
  stdio: ['ignore', 'ignore', 'pipe'],
  env: {
    ...withoutSettings(process.env),
    PORT: String(port),
    HOST: '127.0.0.1',
    DATA_DIR: directory,
    BOOTSTRAP_API_KEY: key,
    DEFAULT_PLAN: 'ENTERPRISE',
    LOG_LEVEL: 'error',
    OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
    AGENT_PROVIDER_1_URL: `${agent.url}/v1/chat/completions`,
  },
});
let complaints = '';
service.stderr.on('data', (text) => (complaints = (complaints + text).slice(-4_000)));
const stop = stopper();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void stop().then(() => process.exit(130)));

try {
  await untilReady();
  const agentId = await create('/agents', {
    provider: 'AGENT_PROVIDER_1',
    assistantId: `booking:${FAULT}`,
    apiKey: 'the-demo-agent-needs-none',
    name: 'Bella Vista reservations',
  });
  const callers = [];
  for (const caller of CALLERS) callers.push(await create('/personalities', caller));
  const evaluations = KEYS.map((name, index) =>
    referenceEvaluations(callers[index % callers.length]).find((evaluation) => evaluation.key === name),
  );
  for (const evaluation of evaluations) await create(`/agents/${agentId}/evaluations`, evaluation);
  say(`Registered an agent, ${callers.length} personalities and ${evaluations.length} evaluations. The run:\n`);
  const vat = spawn(
    process.execPath,
    [
      path.join(root, 'scripts/vat.mjs'),
      'run',
      '--agent',
      agentId,
      '--url',
      address,
      '--name',
      'Demo',
      '--min-score',
      '95',
      '--report',
      reportFile,
    ],
    { stdio: 'inherit', env: { ...process.env, VAT_API_KEY: key } },
  );
  const [code] = await once(vat, 'exit');
  if (code !== 0 && code !== 1) throw new Error(`The run could not be carried out (vat ended with ${code})`);
  say(`
The agent was told to forget how many people come: the one evaluation that failed found it.
The report: file://${reportFile}
Took ${((performance.now() - begun) / 1000).toFixed(1)} s.`);
  if (process.stdout.isTTY) {
    say(`
The service goes on until Ctrl-C. Swagger page: ${address}/docs   API key: ${key}
The same report: curl -H 'Authorization: Bearer ${key}' ${address}/runs/RUN_ID/report`);
    await once(service, 'exit');
  }
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`${error.message}\n${complaints}`);
} finally {
  await stop();
}

function stopper() {
  let stopping;
  return () =>
    (stopping ??= (async () => {
      if (service.exitCode === null && service.signalCode === null) {
        service.kill('SIGTERM');
        await once(service, 'exit');
      }
      await agent.close();
      await rm(directory, { recursive: true, force: true });
    })());
}

/** Settings of the reader's own installation have no say here. */
function withoutSettings(env) {
  const own =
    /^(PORT|HOST|ROLE|DATABASE_|DATA_DIR|REDIS_|DEFAULT_PLAN|PLAN_|BOOTSTRAP_|ENCRYPTION_|TRUST_|CORS_|LOG_|METRICS_|WORKER_|WEB_|LLM_|AGENT_PROVIDER_|OUTBOUND_)/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !own.test(name)));
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address();
  server.close();
  return free;
}

async function untilReady() {
  const deadline = performance.now() + START_MS;
  while (performance.now() < deadline) {
    if (service.exitCode !== null) throw new Error('The service did not start:');
    const isReady = await fetch(`${address}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await sleep(50);
  }
  throw new Error(`The service was not ready after ${START_MS / 1000} s:`);
}

/** @returns the identifier of what was created */
async function create(route, body) {
  const response = await fetch(address + route, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`POST ${route} answered ${response.status}: ${JSON.stringify(answer)}`);
  return answer.data.id;
}
