import { setTimeout as sleep } from 'node:timers/promises';
import { isRealtime } from './attacks.js';
import type { Processes } from './processes.js';
import {
  AGENT_MS,
  attack,
  endOf,
  MEMORY_MB,
  prepare,
  prepareText,
  prepareVoiceVictim,
  print,
  SLOW_MS,
  startRun,
  type Subject,
} from './subjects.js';

const VOICE_CALLS = 10;
const TEXT_CALLS = 20;
/**
 * Of text calls: a measured time carries the sum of the stalls inside it, and fifteen floods at once leave two processors no
 * idle time. A limit just above the agent's latency is undecided then, as it should be.
 */
const TEXT_LIMIT_MS = 1_500;
/** How long victims are measured, with and without the flood; the calls that have begun then are part of it. */
const WINDOW_MS = { full: 60_000, short: 10_000 };
const REST_MS = 120_000;
const MAX_LATENESS_MS = 20;
const MAX_WORST_LATENESS_MS = 100;
const MAX_DIFFERENCE_MS = 10;
const MAX_RESTED_MB = 450;
/**
 * Share of the victims that may be repeated in the short form, because its machine may be busy with other work: a call during
 * which the service itself was stopped is repeated instead of judged.
 */
const MAX_REPEATED_SHORT = 0.05;

/** Figures of the victims' calls in a window. */
interface Figures {
  readonly calls: number;
  /** How many did not pass. */
  readonly notPassed: number;
  /** How many had more than one attempt, for whatever reason. */
  readonly repeated: number;
  /** The largest of the 99th percentiles of the calls, and the largest of all. */
  readonly latenessP99Ms: number;
  readonly worstLatenessMs: number;
  readonly worstStallMs: number;
  /** What ended the attempts that did not pass, with their number. */
  readonly faults: Readonly<Record<string, number>>;
}

/** Repeats runs until the window is over. */
async function callsOf(subject: Subject, concurrency: number, windowMs: number): Promise<any[]> {
  const calls: any[] = [];
  const until = performance.now() + windowMs;
  while (performance.now() < until) {
    calls.push(...(await endOf(subject, await startRun(subject, concurrency, concurrency))));
  }
  return calls;
}

const most = (values: readonly (number | undefined)[]): number => Math.max(0, ...values.map((value) => value ?? 0));

function figuresOf(calls: readonly any[]): Figures {
  const attempts = calls.flatMap((call) => call.attempts as any[]);
  const reliability = [...calls, ...attempts].flatMap((each) => each.reliability ?? []);
  const faults: Record<string, number> = {};
  for (const { outcome, failureCode, reason } of attempts.filter((attempt) => attempt.outcome !== 'passed')) {
    const name = failureCode ?? `${outcome}: ${reason}`;
    faults[name] = (faults[name] ?? 0) + 1;
  }
  return {
    calls: calls.length,
    notPassed: calls.filter(({ outcome }) => outcome !== 'passed').length,
    repeated: calls.filter((call) => call.attempts.length > 1).length,
    latenessP99Ms: most(reliability.map(({ frameLatenessMs }) => frameLatenessMs?.p99)),
    worstLatenessMs: most(reliability.map(({ frameLatenessMs }) => frameLatenessMs?.worst)),
    worstStallMs: most(reliability.map(({ worstStallMs }) => worstStallMs)),
    faults,
  };
}

interface Victims {
  readonly voice: Subject;
  readonly text: Subject;
}

async function measure({ voice, text }: Victims, windowMs: number) {
  const [voiceCalls, textCalls] = await Promise.all([
    callsOf(voice, VOICE_CALLS, windowMs),
    callsOf(text, TEXT_CALLS, windowMs),
  ]);
  return { voice: figuresOf(voiceCalls), text: figuresOf(textCalls) };
}

function show(title: string, { voice, text }: Awaited<ReturnType<typeof measure>>): void {
  print(title);
  for (const [name, of] of Object.entries({ voice, text })) {
    const { calls, notPassed, repeated, latenessP99Ms, worstLatenessMs, worstStallMs, faults } = of;
    const lateness =
      name === 'voice'
        ? `; frames late by p99 ${latenessP99Ms.toFixed(1)} ms, worst ${worstLatenessMs.toFixed(1)} ms`
        : '';
    print(
      `  ${name}: ${calls - notPassed} of ${calls} passed, ${repeated} repeated${lateness}; ` +
        `worst stall ${worstStallMs.toFixed(0)} ms; ${JSON.stringify(faults)}`,
    );
  }
}

/** How the calls of hostile agents ended, by attack, as they are called without pause until the signal aborts. */
async function attackAll(subjects: ReadonlyMap<string, Subject>, atOnce: number, signal: AbortSignal) {
  const all = [...subjects].map(async ([name, subject]) => [name, await attack(subject, atOnce, signal)] as const);
  return Object.fromEntries(await Promise.all(all));
}

/**
 * Voice and text calls of one workspace without and beside agents of another one that flood their voice calls.
 * @param hostileCalls of each attack at once
 * @param isShort a few seconds beside them alone, without limits of time, and with some repeated attempts
 * @returns whether the limits hold
 */
export async function besideVoiceAttacks(
  processes: Processes,
  attacks: readonly string[],
  hostileCalls: number,
  isShort: boolean,
): Promise<boolean> {
  const windowMs = isShort ? WINDOW_MS.short : WINDOW_MS.full;
  const agent = await processes.startAgent(AGENT_MS, SLOW_MS);
  // Enough for all of them: slots are not what is measured.
  const slots = { WORKER_CONCURRENCY: '40', VOICE_CONCURRENCY: '50' };
  await processes.startService(agent.text, MEMORY_MB, slots);
  const client = await processes.createWorkspace('Victim');
  const victims = {
    voice: await prepareVoiceVictim(client, agent.voice),
    text: await prepareText(client, 'healthy', TEXT_LIMIT_MS),
  };
  const attacker = await processes.createWorkspace('Attacker');
  const script = [{ say: 'Hello.' }, { waitSeconds: 50 }, { say: 'Hello.' }, { waitSeconds: 50 }];
  const evaluation = { script, checks: [{ name: 'Short', type: 'max_turns', turns: 20 }] };
  const hostile = new Map<string, Subject>();
  const hosts = await Promise.all(attacks.map(() => processes.startAttacker()));
  for (const [index, name] of attacks.entries()) {
    const host = hosts[index]!;
    const voiceUrl = name === 'slow-play' ? `http://${host}/${name}` : `ws://${host}/${name}`;
    hostile.set(
      name,
      await prepare(attacker, name, { voiceUrl, evaluation, ...(isRealtime(name) && { protocol: 'openai-realtime' }) }),
    );
  }
  // Prepares the agent's voice and the caller's lines, and loads what both use.
  for (const subject of Object.values(victims)) await endOf(subject, await startRun(subject, 2, 2));

  const calm = isShort ? undefined : await measure(victims, windowMs);
  if (calm) {
    show('without the flood', calm);
    if (calm.voice.repeated + calm.text.repeated > 0) print('  The machine is too busy to measure victims.');
    print(`  largest resident memory ${processes.peakMemoryMb()} MB`);
  }
  const over = new AbortController();
  const attacking = attackAll(hostile, hostileCalls, over.signal);
  // Awaited below; until then a failure must not end this process before it has stopped the others.
  attacking.catch(() => undefined);
  const flooded = await measure(victims, windowMs);
  over.abort();
  show(`beside ${attacks.length} floods with ${hostileCalls} calls each`, flooded);
  for (const [name, ends] of Object.entries(await attacking)) print(`  ${name}: ${JSON.stringify(ends)}`);
  const peakMb = processes.peakMemoryMb();
  if (calm) await sleep(REST_MS);
  const limits: (readonly [what: string, value: number, limit: number])[] = [
    ['victims that did not pass', flooded.voice.notPassed + flooded.text.notPassed, 0],
    ['attempts that ended by another fault than tester_overloaded', otherFaults(flooded), 0],
    [
      'victims repeated',
      flooded.voice.repeated + flooded.text.repeated,
      isShort ? Math.floor((flooded.voice.calls + flooded.text.calls) * MAX_REPEATED_SHORT) : 0,
    ],
    ['restarts of processes', processes.restarts, 0],
    ['ends of threads', processes.threadDeaths, 0],
    ['largest resident memory in MB', peakMb, MEMORY_MB],
  ];
  if (calm) {
    const lateness = flooded.voice.latenessP99Ms;
    limits.push(
      ['frame lateness, p99 in ms', lateness, MAX_LATENESS_MS],
      ['frame lateness, worst in ms', flooded.voice.worstLatenessMs, MAX_WORST_LATENESS_MS],
      ['difference to no flood in ms', lateness - calm.voice.latenessP99Ms, MAX_DIFFERENCE_MS],
      [`resident memory ${REST_MS / 60_000} minutes later in MB`, processes.memoryMb(), MAX_RESTED_MB],
    );
  }
  for (const [what, value, limit] of limits) {
    print(`${what}: ${Math.round(value * 10) / 10} (limit ${limit}) ${value <= limit ? 'holds' : 'DOES NOT HOLD'}`);
  }
  return limits.every(([, value, limit]) => value <= limit);
}

const otherFaults = ({ voice, text }: Awaited<ReturnType<typeof measure>>): number =>
  [voice, text]
    .flatMap(({ faults }) => Object.entries(faults))
    .reduce((sum, [name, times]) => sum + (name === 'tester_overloaded' ? 0 : times), 0);
