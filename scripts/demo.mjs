// Runs the whole service without any configuration: an agent with a planted fault, three callers, six evaluations,
// one run and its report; then two voice calls to the same agent with other faults: on the telephone, with its recording, and
// over OpenAI Realtime, with its words; last a call with a key and an id, in text, to the agent as one of ElevenLabs. Exits with 1 unless the runs find exactly the planted faults. All data is kept in a temporary directory, which is removed at the end.
import { spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { importSource } from './compiled-sources.mjs';

const {
  correctedTimeEvaluation,
  expectationOf,
  FAULTS,
  isExpected,
  prepareVoice,
  referenceEvaluations,
  startReferenceAgent,
  VOICE_FAULTS,
  voiceEvaluations,
  voiceExpectationOf,
  WRONG_TIME_CHECKS,
} = await importSource('test/simulators/agent/index.ts');
const { FliteEngine } = await importSource('libs/speech/index.ts');

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
const VOICE_FAULT = 'ignores-barge-in';
const VOICE_KEY = 'phone-barge-in';
const WORD_FAULT = 'ignores-correction';
const TEXT_FAULT = 'wrong-fact';
const TEXT_KEY = 'house-facts';
const START_TIMEOUT_MS = 30_000;
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const reportFile = path.resolve('demo-report.html');
const callReportFile = path.resolve('demo-call.html');
const wordsReportFile = path.resolve('demo-words.html');
const textReportFile = path.resolve('demo-text.html');
const recordingFile = path.resolve('demo-call.wav');
const startedAt = performance.now();
const print = (text) => process.stdout.write(`${text}\n`);

const directory = await mkdtemp(path.join(tmpdir(), 'voice-agent-testing-demo-'));
const speech = new FliteEngine();
const telephone = {
  slowMs: 3_000,
  prepare: () => prepareVoice({ speech, today: Date.now(), lines: linesOf(telephoneEvaluation('')) }),
};
const agent = await startReferenceAgent({ port: 0, fault: FAULT, latencyMs: 150, tokensPerSecond: 150, telephone });
const spokenWords = { speech, today: Date.now(), lines: linesOf(correctedTimeEvaluation('')), faults: [WORD_FAULT] };
let prepared;
const withWords = { prepare: () => (prepared ??= prepareVoice(spokenWords)) };
const realtimeAgent = await startReferenceAgent({ port: 0, realtime: withWords });
const elevenlabsAgent = await startReferenceAgent({ port: 0, elevenlabs: withWords });
const apiKey = `demo-${randomBytes(18).toString('base64url')}`;
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
print(`Starting the service on ${url} with an embedded PostgreSQL, and an agent with the fault ${FAULT} …`);
const service = spawn(process.execPath, [path.join(root, 'dist/src/main.js')], {
  stdio: ['ignore', 'ignore', 'pipe'],
  env: {
    ...withoutServiceSettings(process.env),
    PORT: String(port),
    HOST: '127.0.0.1',
    DATA_DIR: directory,
    BOOTSTRAP_API_KEY: apiKey,
    DEFAULT_PLAN: 'ENTERPRISE',
    LOG_LEVEL: 'error',
    OUTBOUND_ALLOWED_NETWORKS: '127.0.0.0/8',
    AGENT_PROVIDER_1_URL: `${agent.url}/v1/chat/completions`,
    AGENT_PROVIDER_2_PROTOCOL: 'elevenlabs-text',
    AGENT_PROVIDER_2_URL: elevenlabsAgent.url,
  },
});
let serviceErrors = '';
service.stderr.on('data', (text) => (serviceErrors = (serviceErrors + text).slice(-4_000)));
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
  const keysById = new Map();
  for (const [index, key] of KEYS.entries()) {
    const evaluation = referenceEvaluations(callers[index % callers.length]).find((each) => each.key === key);
    keysById.set(await create(`/agents/${agentId}/evaluations`, evaluation), key);
  }
  print(`Created an agent, ${callers.length} personalities and ${KEYS.length} evaluations. Starting a run:\n`);
  await runEvaluations(agentId, { name: 'Demo', report: reportFile, more: ['--min-score', '95'] });
  const [run] = await request('GET', `/agents/${agentId}/runs`);
  const calls = await request('GET', `/runs/${run.id}/calls?limit=100`);
  const surprises = await findSurprises(calls, keysById);
  const failed = calls.filter(({ outcome }) => outcome === 'failed').map(({ evaluationName }) => `"${evaluationName}"`);
  print(`\nThe planted fault: the agent ${FAULTS[FAULT].effect}.`);
  if (surprises.length > 0) throw new Error(`The run did not give the expected result:\n${surprises.join('\n')}`);
  print(`The run found it: of ${calls.length} evaluations, only ${failed.join(' and ')} failed.
Report: file://${reportFile}
`);
  await callByTelephone(callers[0]);
  await callOverRealtime(callers[0]);
  await callOverElevenLabs(callers[0]);
  print(`
Finished in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.`);
  if (process.stdout.isTTY) {
    print(`
The service keeps running until you press Ctrl-C. Swagger page: ${url}/docs   API key: ${apiKey}
The same report: curl -H 'Authorization: Bearer ${apiKey}' ${url}/runs/${run.id}/report`);
    await once(service, 'exit');
  }
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(`${error.message}\n${serviceErrors}`);
} finally {
  await stop();
}

/** Calls the agent by telephone, over a caller that interrupts it, and saves what was heard. */
async function callByTelephone(personalityId) {
  const agentId = await create('/agents', {
    provider: 'AGENT_PROVIDER_1',
    assistantId: 'booking',
    apiKey: 'the-demo-agent-needs-none',
    name: 'Bella Vista telephone',
  });
  const address = `${agent.url}/agents/booking:${VOICE_FAULT}/voice`;
  await request('PUT', `/agents/${agentId}/connection`, { protocol: 'twilio-media-streams', url: address });
  await create(`/agents/${agentId}/evaluations`, telephoneEvaluation(personalityId));
  print(
    'Now a voice call: the service plays Twilio, and a caller interrupts the agent. The call takes about half a minute:\n',
  );
  await runEvaluations(agentId, { name: 'Demo telephone', report: callReportFile });
  const [run] = await request('GET', `/agents/${agentId}/runs`);
  print(`\nThe planted fault: the agent ${VOICE_FAULTS[VOICE_FAULT].effect}.`);
  const call = await requireExpected(run, voiceExpectationOf(VOICE_FAULT, VOICE_KEY));
  const heard = call.voice.latencies.flatMap(({ heardMs }) => (heardMs === null ? [] : [`${Math.round(heardMs)} ms`]));
  await writeFile(recordingFile, await download(`/calls/${call.id}/recording`));
  print(`The call found it. Latency as heard: ${heard.join(', ')}.
Listen (left the caller, right the agent): file://${recordingFile}
See and hear it on one page:               file://${callReportFile}`);
}

/** Calls the agent as a Realtime server, which reports its words: it confirms a wrong time. */
async function callOverRealtime(personalityId) {
  const agentId = await create('/agents', {
    provider: 'AGENT_PROVIDER_1',
    assistantId: `booking:${WORD_FAULT}`,
    apiKey: 'the-demo-agent-needs-none',
    name: 'Bella Vista over Realtime',
  });
  const address = `${realtimeAgent.url.replace(/^http/, 'ws')}/v1/realtime?model={assistantId}`;
  await request('PUT', `/agents/${agentId}/connection`, { protocol: 'openai-realtime', url: address });
  await create(`/agents/${agentId}/evaluations`, correctedTimeEvaluation(personalityId));
  print(`
Now a voice call over OpenAI Realtime, which reports what the agent says. The caller corrects the time of its booking, in
about half a minute:
`);
  await runEvaluations(agentId, { name: 'Demo words', report: wordsReportFile });
  const [run] = await request('GET', `/agents/${agentId}/runs`);
  print(`\nThe planted fault: the agent ${FAULTS[WORD_FAULT].effect}.`);
  const call = await requireExpected(run, { outcome: 'failed', fails: WRONG_TIME_CHECKS });
  print(`The call found it. What was said:
${spoken(call.timeline)}
Its words on the time line: file://${wordsReportFile}`);
}

/** Calls the agent as one of ElevenLabs: its id is found in the account of a key, and it needs no connection. */
async function callOverElevenLabs(personalityId) {
  const apiKey = 'the-demo-agent-needs-none';
  const assistants = await request('POST', '/providers/AGENT_PROVIDER_2/assistants?limit=100', { apiKey });
  const { assistantId, name } = assistants.find((one) => one.assistantId === `booking:${TEXT_FAULT}`);
  const agentId = await create('/agents', { provider: 'AGENT_PROVIDER_2', assistantId, name, apiKey });
  const evaluation = referenceEvaluations(personalityId).find(({ key }) => key === TEXT_KEY);
  await create(`/agents/${agentId}/evaluations`, evaluation);
  print(`
Last, a call in text to an agent of ElevenLabs: a key and the id "${assistantId}" are enough.
`);
  await runEvaluations(agentId, { name: 'Demo ElevenLabs', report: textReportFile });
  const [run] = await request('GET', `/agents/${agentId}/runs`);
  await requireExpected(run, expectationOf(TEXT_FAULT, TEXT_KEY));
  print(`\nThe planted fault: the agent ${FAULTS[TEXT_FAULT].effect}.
The call found it. Report: file://${textReportFile}`);
}

/** @returns the only call of a run @throws Error unless it has the result that the planted fault must have */
async function requireExpected(run, expectation) {
  const [{ id }] = await request('GET', `/runs/${run.id}/calls`);
  const call = await request('GET', `/calls/${id}`);
  const failed = call.checks.filter(({ met }) => met === false).map(({ name }) => name);
  if (!isExpected(expectation, { outcome: call.outcome, endCode: call.end?.code, failed }))
    throw new Error(`The call did not give the expected result: ${call.outcome}: ${call.reason}`);
  return call;
}

/** What was said, one line per utterance. */
function spoken(timeline) {
  const lines = [];
  for (const { type, speaker, text, continues } of timeline) {
    if (type !== 'speech') continue;
    if (continues) lines.push(lines.pop() + text);
    else lines.push(`  ${speaker.padEnd(6)} ${text}`);
  }
  return lines.join('\n');
}

function telephoneEvaluation(personalityId) {
  return voiceEvaluations(personalityId).find(({ key }) => key === VOICE_KEY);
}

/** What the caller says in an evaluation: the agent has to understand nothing else. */
function linesOf({ script }) {
  return script.flatMap(({ say }) => say ?? []);
}

/** Runs all evaluations of the agent with the `vat` CLI, which shows the progress and writes the report. */
async function runEvaluations(agentId, { name, report, more = [] }) {
  const flags = ['--agent', agentId, '--url', url, '--name', name, '--report', report, ...more];
  const vat = spawn(process.execPath, [path.join(root, 'scripts/vat.mjs'), 'run', ...flags], {
    stdio: 'inherit',
    env: { ...process.env, VAT_API_KEY: apiKey },
  });
  const [code] = await once(vat, 'exit');
  // 0: the gate is met; 1: it is not. Anything else means that there is no result.
  if (code !== 0 && code !== 1) throw new Error(`The run did not complete (vat exited with ${code})`);
}

/** Compares each call with what the planted fault must cause. @returns a line for each call that differs */
async function findSurprises(calls, keysById) {
  const surprises = [];
  if (calls.length !== KEYS.length) surprises.push(`${calls.length} calls in place of ${KEYS.length}`);
  for (const { id, evaluationId, evaluationName, outcome, reason } of calls) {
    const expected = expectationOf(FAULT, keysById.get(evaluationId));
    const { checks } = await request('GET', `/calls/${id}`);
    const unmet = new Set(checks.filter(({ met }) => !met).map(({ name }) => name));
    const hasExpectedReason = (expected.fails ?? []).every((name) => unmet.has(name));
    if (outcome === expected.outcome && hasExpectedReason) continue;
    const checkNames = expected.fails ? ` on ${expected.fails.map((name) => `"${name}"`).join(', ')}` : '';
    surprises.push(`  ${evaluationName}: expected ${expected.outcome}${checkNames}, got ${outcome}: ${reason}`);
  }
  return surprises;
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
      await realtimeAgent.close();
      await elevenlabsAgent.close();
      await speech.close();
      await rm(directory, { recursive: true, force: true });
    })());
}

/** The user's own service settings must not affect the demo. */
function withoutServiceSettings(env) {
  const setting =
    /^(PORT|HOST|ROLE|DATABASE_|DATA_DIR|REDIS_|DEFAULT_PLAN|PLAN_|BOOTSTRAP_|ENCRYPTION_|TRUST_|CORS_|LOG_|METRICS_|WORKER_|WEB_|LLM_|STT_|TTS_|AGENT_PROVIDER_|PERSONALITY_PROVIDER_|OUTBOUND_)/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => !setting.test(name)));
}

/** @returns a port below those that the kernel assigns: another program could take one of them before the service listens */
async function freePort() {
  for (;;) {
    const candidate = 15_000 + randomInt(16_000);
    const server = createServer().listen(candidate, '127.0.0.1');
    try {
      await once(server, 'listening');
    } catch {
      continue;
    }
    server.close();
    await once(server, 'close');
    return candidate;
  }
}

async function untilReady() {
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (performance.now() < deadline) {
    if (service.exitCode !== null) throw new Error('The service did not start:');
    // Only this service knows the key; another one on the port would refuse it.
    const isReady = await fetch(`${url}/agents?limit=1`, { headers: { Authorization: `Bearer ${apiKey}` } }).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await sleep(50);
  }
  throw new Error(`The service was not ready after ${START_TIMEOUT_MS / 1000} s:`);
}

/** @returns the id of the created resource */
async function create(route, body) {
  const { id } = await request('POST', route, body);
  return id;
}

async function download(route) {
  const response = await fetch(url + route, { headers: { Authorization: `Bearer ${apiKey}` } });
  if (!response.ok) throw new Error(`GET ${route} returned ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

/** @returns the `data` of the response @throws when its status is not 2xx */
async function request(method, route, body) {
  const response = await fetch(url + route, {
    method,
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const content = await response.json();
  if (!response.ok) throw new Error(`${method} ${route} returned ${response.status}: ${JSON.stringify(content)}`);
  return content.data;
}
