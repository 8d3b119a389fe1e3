/**
 * Callers without a script at once over OpenAI Realtime: whether the tester keeps time while it asks a model and synthesises
 * each line. Agents and model are processes of their own; the machine has to be idle.
 *
 * Usage: npm run accuracy:callers [-- CALLERS] [--write], where --write updates the table in docs/guides/accuracy.md
 */
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { type CheckInput, normalise } from '../../libs/evaluation-definition/index.js';
import { OutboundClient } from '../../libs/outbound-http/index.js';
import { CALLER_VOICES } from '../../libs/reference-agent/testing/voice.js';
import { type CallResult, executeCall, LanguageModel, mediaThread, transportTo } from '../../libs/simulation/index.js';
import { FliteEngine, soundOf } from '../../libs/speech/index.js';
import { percentile } from '../../libs/statistics/index.js';
import { type Kind, KINDS, LAST_ANSWER, scenarioOf, startAgents, startModel } from './callers-doubles.js';
import { replaceTable } from './guide.js';
import { Progress } from './progress.js';

const CALLERS = 50;
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

async function callAll(count: number): Promise<Call[]> {
  const kinds = Array.from({ length: count }, (_, caller) => kindOf(caller));
  // Two more for the calls before.
  const [agents, model] = await Promise.all([startAgents([...kinds, 'healthy', 'healthy']), startModel()]);
  const engine = new FliteEngine();
  const client = new OutboundClient({ allowedNetworks: ['127.0.0.0/8'] });
  const language = new LanguageModel({ baseUrl: model.url, model: 'double', timeoutMs: 10_000 });
  const progress = new Progress('Callers at once', count);
  const call = async (kind: Kind, caller: number): Promise<Call> => {
    const endpoint = { protocol: 'openai-realtime', url: agents.urls[caller]!, headers: {}, options: {} } as const;
    const transport = transportTo(
      { ...endpoint, firstSpeaker: 'caller' },
      { client, assistantId: 'booking', phoneNumber: '', callId: randomUUID() },
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
    await Promise.all([agents.close(), model.close(), engine.close(), mediaThread.close()]);
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

function main(): Promise<void> {
  const given = process.argv.slice(2).find((argument) => !argument.startsWith('--'));
  return measure(Number(given ?? CALLERS));
}

async function measure(count: number): Promise<void> {
  const calls = await callAll(count);
  const wrong = calls.flatMap((call, index) => {
    const fault = faultOf(call);
    return fault === undefined ? [] : [`WRONG  call ${index}, ${call.kind}: ${fault}`];
  });
  const inTime = calls.filter(({ kind }) => kind !== 'late');
  const answered = inTime.flatMap(({ result }) => heardOf(result));
  const errors = answered.map((heardMs) => Math.abs(heardMs - PLANTED_MS));
  const own = inTime.flatMap(({ delays }) => delays.map((delayMs) => Math.abs(delayMs - PLANTED_MS)));
  const apart = inTime.flatMap(differences);
  const lateness = calls.map(({ result }) => result.reliability.frameLatenessMs);
  const latenessP99 = Math.max(...lateness.map((one) => one?.p99 ?? Infinity));
  const worst = Math.max(...lateness.map((one) => one?.worst ?? Infinity));
  const thinking = calls.flatMap(({ result }) => result.voice?.voice.callerThinking ?? []);
  const thoughts = thinking.map(({ startMs, endMs }) => endMs - startMs);
  const rightOf = (kind: Kind) => {
    const own = calls.filter((call) => call.kind === kind);
    return `${own.filter((call) => faultOf(call) === undefined).length} of ${own.length}`;
  };
  const rows: readonly (readonly [string, string, string])[] = [
    ...Object.entries(KINDS).map(
      ([kind, { what }]) => [`right verdict: agent ${what}`, rightOf(kind as Kind), 'all'] as const,
    ),
    ['frame lateness, p99 of the worst call', ms(latenessP99), `${LIMITS.latenessMs} ms`],
    ['frame lateness, worst frame of all calls', ms(worst), ''],
    [`latency of ${answered.length} answers, p50`, ms(at(answered, 50)), ''],
    ['difference to the planted 700 ms, p95', ms(at(errors, 95)), `${LIMITS.latencyMs} ms`],
    ["the same by the agents' own times, p95", ms(at(own, 95)), ''],
    ["difference to the agents' own times, p50 and p95", `${ms(at(apart, 50))}, ${ms(at(apart, 95))}`, ''],
    ['thinking of a caller, with synthesis, p50 and p95', `${ms(at(thoughts, 50))}, ${ms(at(thoughts, 95))}`, ''],
  ];
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const head = row([`${count} callers at once, ${availableParallelism()} processors`, 'Measured', 'Limit']);
  const table = [head, '| --- | --: | --: |', ...rows.map(row)].join('\n');
  print(`\n${table}`);
  for (const line of wrong) print(line);
  if (process.argv.includes('--write')) await replaceTable('callers', table);
  const isInTime = latenessP99 <= LIMITS.latenessMs && at(errors, 95) <= LIMITS.latencyMs;
  process.exitCode = wrong.length === 0 && isInTime ? 0 : 1;
}

const heardOf = ({ voice }: CallResult): number[] =>
  (voice?.voice.latencies ?? []).flatMap(({ heardMs, answered }) => (answered && heardMs !== null ? [heardMs] : []));

/** Of each answer; an answer to a first sentence alone has no latency, so that the last ones are compared. */
function differences({ result, delays }: Call): number[] {
  const heard = heardOf(result);
  const count = Math.min(heard.length, delays.length);
  const own = delays.slice(delays.length - count);
  return heard.slice(heard.length - count).map((heardMs, index) => Math.abs(heardMs - own[index]!));
}

await main();
