/**
 * Callers without a script at once, over OpenAI Realtime or Twilio: whether the tester keeps time while it asks a model,
 * synthesises each line and, over Twilio, lets a transcription server hear the agents. Agents, model and transcription server
 * are processes of their own; the machine has to be idle.
 *
 * Usage: npm run accuracy:callers [-- CALLERS] [--telephone] [--calls] [--write], where --calls prints the times of each
 * answer, and --write updates the table in bench/results/accuracy
 */
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { type CheckInput, normalise } from '../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { CALLER_VOICES } from '../simulators/agent/testing/voice.js';
import { type CallResult, executeCall, LanguageModel, mediaThreads, transportTo } from '../../libs/simulation/index.js';
import { FliteEngine, HttpRecogniser, soundOf } from '../../libs/speech/index.js';
import { percentile } from '../../libs/statistics/index.js';
import {
  type Kind,
  KINDS,
  LAST_ANSWER,
  type Line,
  LINES,
  scenarioOf,
  startAgents,
  startModel,
  startTranscription,
} from './callers-doubles.js';
import { writeRows } from './guide.js';
import { Progress } from './progress.js';

const CALLERS: Readonly<Record<Line, number>> = { realtime: 50, telephone: 10 };
/** As in the service, by default. */
const STT_CONCURRENCY = 4;
/** Of each group of callers, one calls an agent that asks whether it is still there, and one an agent that answers late. */
const EACH = 10;
const PLANTED_MS = 700;
const LIMITS = { latencyMs: 25, latenessMs: 20 } as const;
/** The caller waits for so long; a late agent is judged by that. */
const PATIENCE_MS = 8_000;
const CHECKS: Readonly<Record<Kind, readonly CheckInput[]>> = {
  healthy: [
    { type: 'says', text: LAST_ANSWER },
    { type: 'max_latency_ms', ms: 1_000 },
    { type: 'max_silence_ms', ms: 1_000 },
    { type: 'max_interruptions', count: 0 },
  ],
  prompting: [
    { type: 'says', text: LAST_ANSWER },
    { type: 'max_latency_ms', ms: 1_000 },
    { type: 'max_silence_ms', ms: 1_000 },
    { type: 'max_interruptions', count: 0 },
  ],
  late: [{ type: 'max_silence_ms', ms: 7_000 }],
};

interface Call {
  readonly kind: Kind;
  readonly result: CallResult;
  /** The agent's own times from the end of the caller's line to its answers. */
  readonly delays: readonly number[];
}

const kindOf = (index: number): Kind => (index % EACH === 0 ? 'prompting' : index % EACH === 1 ? 'late' : 'healthy');
const print = (line = ''): void => void process.stdout.write(`${line}\n`);

async function callAll(line: Line, count: number): Promise<Call[]> {
  const kinds = Array.from({ length: count }, (_, caller) => kindOf(caller));
  const [agents, model, transcription] = await Promise.all([
    // Two more for the calls before.
    startAgents(line, [...kinds, 'healthy', 'healthy']),
    startModel(),
    line === 'telephone' ? startTranscription() : undefined,
  ]);
  const engine = new FliteEngine();
  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  const recogniser =
    transcription && new HttpRecogniser({ baseUrl: transcription.url, concurrency: STT_CONCURRENCY, outbound: client });
  const language = new LanguageModel({ baseUrl: model.url, model: 'double', timeoutMs: 10_000 });
  const progress = new Progress('Callers at once', count);
  const call = async (kind: Kind, caller: number): Promise<Call> => {
    const endpoint = { protocol: LINES[line].protocol, url: agents.urls[caller]!, headers: {}, options: {} };
    const transport = transportTo(
      { ...endpoint, firstSpeaker: 'caller' },
      { client, assistantId: 'booking', phoneNumber: '+15550100142', workspaceId: 'w-1', callId: randomUUID() },
    );
    if (!('call' in transport)) throw new Error('not a transport for voice calls');
    const result = await executeCall({
      definition: normalise({ checks: CHECKS[kind], maxDurationSeconds: 120, conditions: { seed: caller } }),
      scenario: { scenarioText: scenarioOf(kind, caller) },
      personality: { name: 'Caller' },
      transport,
      model: language,
      voice: {
        sounds: { synthesise: (request, signal) => engine.synthesise(request, signal), soundOf },
        voice: CALLER_VOICES[caller % CALLER_VOICES.length]!,
        firstSpeaker: 'caller',
        patienceMs: PATIENCE_MS,
        ...(recogniser && { transcription: { recogniser, mode: 'auto', model: null, needed: true } }),
      },
    });
    progress.advance();
    return { kind, result, delays: agents.delaysOf(caller) };
  };
  try {
    // The threads are started, and both processes have warmed up.
    await Promise.all([call('healthy', count), call('healthy', count + 1)]);
    return await Promise.all(kinds.map(call));
  } finally {
    progress.end();
    await Promise.all([agents.close(), model.close(), transcription?.close(), engine.close(), mediaThreads.close()]);
  }
}

/** What is wrong with a call; undefined if nothing is. */
function faultOf({ kind, result }: Call): string | undefined {
  const { outcome, reason, voice, timeline } = result;
  const prompted = timeline.filter((entry) => entry.type === 'speech' && entry.promptedByWait).length;
  const wanted = kind === 'late' ? 'failed' : 'passed';
  if (outcome !== wanted) return `${outcome} instead of ${wanted}: ${reason}`;
  if (kind === 'late' && prompted > 0) return 'its late question is taken for one that the wait of the caller caused';
  if (kind === 'prompting' && prompted === 0) return 'its question during the thinking of the caller was not heard';
  const first = voice?.voice.latencies[0];
  const isWait = first?.answered === false && Math.abs((first.heardMs ?? 0) - PATIENCE_MS) <= LIMITS.latencyMs;
  return kind === 'late' && !isWait ? `its wait is ${first?.heardMs} ms` : undefined;
}

const at = (values: readonly number[], p: number): number =>
  percentile(
    values.toSorted((a, b) => a - b),
    p,
  ) ?? Infinity;
const ms = (value: number): string => `${value.toFixed(1)} ms`;

const fits = (value: number, limit: number) => ({ limit: `${limit} ms`, isMet: value <= limit });

async function main(given: readonly string[]): Promise<void> {
  const line: Line = given.includes('--telephone') ? 'telephone' : 'realtime';
  const count = Number(given.find((argument) => !argument.startsWith('--')) ?? CALLERS[line]);
  const calls = await callAll(line, count);
  const rows = rowsOf(calls);
  const cells = (...texts: readonly string[]) => `| ${texts.join(' | ')} |`;
  const missed = rows.filter(({ isMet }) => isMet === false).map(({ what }) => what);
  const table = [
    cells(
      `${count} callers at once over ${LINES[line].platform}, ${availableParallelism()} processors`,
      'Measured',
      'Limit',
    ),
    '| --- | --: | --: |',
    ...rows.map(({ what, measured, limit = '' }) => cells(what, measured, limit)),
    '',
    missed.length === 0 ? 'All limits are met.' : `Not met: ${missed.join('; ')}.`,
  ].join('\n');
  print(`\n${table}`);
  calls.forEach((call, index) => {
    const fault = faultOf(call);
    if (fault !== undefined) print(`WRONG  call ${index}, ${call.kind}: ${fault}`);
    if (given.includes('--calls')) print(`call ${index}, ${call.kind}: ${timesOf(call)}`);
  });
  if (given.includes('--write')) await writeRows(line === 'realtime' ? 'callers' : `callers-${line}`, table);
  process.exitCode = missed.length === 0 ? 0 : 1;
}

interface Row {
  readonly what: string;
  readonly measured: string;
  readonly limit?: string;
  /** Absent without a limit. */
  readonly isMet?: boolean;
}

function rowsOf(calls: readonly Call[]): Row[] {
  const inTime = calls.filter(({ kind }) => kind !== 'late');
  const answered = inTime.flatMap(({ result }) => heardOf(result));
  const error = at(
    answered.map((heardMs) => Math.abs(heardMs - PLANTED_MS)),
    95,
  );
  const own = inTime.flatMap(({ delays }) => delays.map((delayMs) => Math.abs(delayMs - PLANTED_MS)));
  const apart = inTime.flatMap(comparedTimes).map(({ heardMs, ownMs }) => Math.abs(heardMs - ownMs));
  const lateness = calls.map(({ result }) => result.reliability.frameLatenessMs);
  const latenessP99 = Math.max(...lateness.map((one) => one?.p99 ?? Infinity));
  const worst = Math.max(...lateness.map((one) => one?.worst ?? Infinity));
  const thoughts = calls
    .flatMap(({ result }) => result.voice?.voice.callerThinking ?? [])
    .map(({ startMs, endMs }) => endMs - startMs);
  const both = (values: readonly number[]) => `${ms(at(values, 50))}, ${ms(at(values, 95))}`;
  return [
    ...Object.entries(KINDS).map(([kind, { what }]) => verdictsOf(calls, kind as Kind, what)),
    {
      what: 'frame lateness, p99 of the worst call',
      measured: ms(latenessP99),
      ...fits(latenessP99, LIMITS.latenessMs),
    },
    { what: 'frame lateness, worst frame of all calls', measured: ms(worst) },
    { what: `latency of ${answered.length} answers, p50`, measured: ms(at(answered, 50)) },
    { what: 'difference to the planted 700 ms, p95', measured: ms(error), ...fits(error, LIMITS.latencyMs) },
    { what: "the same by the agents' own times, p95", measured: ms(at(own, 95)) },
    { what: "difference to the agents' own times, p50 and p95", measured: both(apart) },
    { what: 'thinking of a caller, with synthesis, p50 and p95', measured: both(thoughts) },
  ];
}

function verdictsOf(calls: readonly Call[], kind: Kind, agent: string): Row {
  const own = calls.filter((call) => call.kind === kind);
  const right = own.filter((call) => faultOf(call) === undefined).length;
  const what = `right verdict: agent ${agent}`;
  return { what, measured: `${right} of ${own.length}`, limit: 'all', isMet: right === own.length };
}

const heardOf = ({ voice }: CallResult): number[] =>
  (voice?.voice.latencies ?? []).flatMap(({ heardMs, answered }) => (answered && heardMs !== null ? [heardMs] : []));

/** Of each answer; an answer to a first sentence alone has no latency, so that the last ones are compared. */
function comparedTimes({ result, delays }: Call): { readonly heardMs: number; readonly ownMs: number }[] {
  const heard = heardOf(result);
  const count = Math.min(heard.length, delays.length);
  const own = delays.slice(delays.length - count);
  return heard.slice(heard.length - count).map((heardMs, index) => ({ heardMs, ownMs: own[index]! }));
}

/** For people: as measured, and by the agent's own times. */
function timesOf(call: Call): string {
  const { worst, p99 } = call.result.reliability.frameLatenessMs ?? {};
  const times = comparedTimes(call).map(({ heardMs, ownMs }) => `${heardMs.toFixed(1)} (${ownMs.toFixed(1)})`);
  return `${times.join(', ')}; frames late by ${p99} ms at p99, ${worst} ms at most`;
}

await main(process.argv.slice(2));
