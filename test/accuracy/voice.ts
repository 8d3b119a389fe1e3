import {
  type AnswerStamp,
  VOICE_EVALUATION_KEYS,
  VOICE_FAULT_NAMES,
  voiceEvaluations,
  voiceExpectationOf,
} from '../simulators/agent/index.js';
import {
  evaluationOf,
  judged,
  LINES,
  voiceAccuracy,
  type VoiceCell,
  type VoiceCellResult,
  VoiceCalls,
  voiceCells,
  voiceOfCell,
} from '../simulators/agent/testing/voice.js';
import { percentile } from '../../libs/statistics/index.js';
import { writeRows } from './guide.js';
import { mapLimited } from './limited.js';
import { Progress } from './progress.js';
import { startTelephoneAgent } from './telephone.js';

const SEEDS = 3;
/** Calls over sockets at once. */
const CALLS_AT_ONCE = 20;
const DELAYS_MS = [200, 800, 2_500] as const;
const MAX_ERROR_MS = 25;
const ATTEMPTS = 3;

const print = (line = ''): void => void process.stdout.write(`${line}\n`);

interface DelayRow {
  readonly where: string;
  readonly delayMs: number;
  readonly answers: number;
  readonly p95: number;
}

/** Measures voice calls and prints the tables. @returns whether the limits hold */
export async function measureVoice(isWritten: boolean): Promise<boolean> {
  const calls = new VoiceCalls();
  try {
    await calls.prepare();
    const virtual = await inProcess(calls);
    const sockets = await overSockets(calls);
    const delays = [
      ...(await virtualDelays(calls)),
      ...(await socketDelays(calls, 1)),
      ...(await socketDelays(calls, 20)),
    ];
    const table = [cellTable(virtual, sockets), delayTable(delays)].join('\n\n');
    print(`\nVoice calls\n\n${table}`);
    for (const { where, results } of [
      { where: 'virtual clock', results: virtual },
      { where: 'sockets', results: sockets },
    ]) {
      const { precision, recall } = voiceAccuracy(results);
      print(
        `${where}: ${results.length} calls, failed: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}`,
      );
      for (const { fault, key, line, seed, found } of results.filter(({ isRight }) => !isRight)) {
        print(`WRONG  ${fault ?? 'healthy'} in ${key}, ${line}, seed ${seed}: ${found}`);
      }
    }
    if (isWritten) await writeRows('voice', table);
    return [...virtual, ...sockets].every(({ isRight }) => isRight) && delays.every(({ p95 }) => p95 <= MAX_ERROR_MS);
  } finally {
    await calls.close();
  }
}

async function measured(
  title: string,
  limit: number,
  cells: readonly VoiceCell[],
  one: (cell: VoiceCell) => Promise<VoiceCellResult>,
) {
  const progress = new Progress(title, cells.length);
  const results = await mapLimited(cells, limit, async (cell) => {
    const result = await one(cell);
    progress.advance();
    return result;
  });
  progress.end();
  return results;
}

export const inProcess = (calls: VoiceCalls) =>
  measured('Voice, in process', 1, voiceCells(SEEDS), async (cell) =>
    judged(cell, await calls.call(evaluationOf(cell), voiceOfCell(cell), { fault: cell.fault })),
  );

/** The healthy agent everywhere, and each fault where it must be found: these calls take real time. */
const socketCells = () =>
  voiceCells(1).filter(({ fault, key }) => !fault || voiceExpectationOf(fault, key).outcome === 'failed');

export async function overSockets(calls: VoiceCalls): Promise<VoiceCellResult[]> {
  const agent = await startTelephoneAgent();
  try {
    return await measured('Voice, over sockets', CALLS_AT_ONCE, socketCells(), async (cell) => {
      const url = `${agent.url}/agents/booking:${cell.fault ?? 'healthy'}/voice`;
      for (let attempt = 1; ; attempt++) {
        const result = await calls.callOver(url, evaluationOf(cell), voiceOfCell(cell));
        // As the service does, a call with a fault of the tester is tried again.
        if (result.failure?.code !== 'tester_overloaded' || attempt === ATTEMPTS) return judged(cell, result);
      }
    });
  } finally {
    await agent.close();
  }
}

/** A few answers are enough for latencies. */
function shortBooking() {
  const booking = voiceEvaluations('any')[VOICE_EVALUATION_KEYS.indexOf('phone-booking')]!;
  return { ...booking, script: [...booking.script!.slice(0, 4), { end: 'Enough' }], checks: [] };
}

export async function virtualDelays(calls: VoiceCalls): Promise<DelayRow[]> {
  const rows: DelayRow[] = [];
  for (const delayMs of DELAYS_MS) {
    const stamps: AnswerStamp[] = [];
    const { voice } = await calls.call(shortBooking(), 'slt', {
      responseMs: delayMs,
      onAnswer: (stamp) => stamps.push(stamp),
    });
    const errors = errorsOf(voice!.voice.latencies, stamps);
    rows.push(delayRow('virtual clock', delayMs, errors));
  }
  return rows;
}

export async function socketDelays(calls: VoiceCalls, atOnce: number): Promise<DelayRow[]> {
  const rows: DelayRow[] = [];
  for (const delayMs of DELAYS_MS) {
    const agent = await startTelephoneAgent({ responseMs: delayMs });
    const errors = await Promise.all(
      Array.from({ length: atOnce }, async () => {
        let callSid = '';
        const wire = (lines: readonly string[]) => (callSid ||= /CA[0-9a-f]{32}/.exec(lines.join(' '))?.[0] ?? '');
        const recording = { audio: () => undefined, wire: (lines: readonly string[]) => void wire(lines) };
        const { voice } = await calls.callOver(`${agent.url}/voice`, shortBooking(), 'slt', recording);
        return errorsOf(voice?.voice.latencies ?? [], agent.stampsOf(callSid));
      }),
    );
    await agent.close();
    rows.push(delayRow(`sockets, ${atOnce} at once`, delayMs, errors.flat()));
  }
  return rows;
}

interface Measured {
  readonly heardMs: number | null;
  readonly leadingSilenceMs: number | null;
}

/** Differences between the latency as heard and the agent's own times; its first sound follows some silence of its voice. */
function errorsOf(latencies: readonly Measured[], stamps: readonly AnswerStamp[]): number[] {
  return stamps.map(({ firstByteMs, callerEndMs, leadMs }, index) => {
    const heardMs = latencies[index]?.heardMs ?? Infinity;
    return Math.abs(heardMs - (firstByteMs + leadMs - callerEndMs));
  });
}

function delayRow(where: string, delayMs: number, errors: readonly number[]): DelayRow {
  const sorted = [...errors].sort((a, b) => a - b);
  return { where, delayMs, answers: errors.length, p95: percentile(sorted, 95) ?? Infinity };
}

const row = (texts: readonly (string | number)[]): string => `| ${texts.join(' | ')} |`;
const rightOf = (results: readonly VoiceCellResult[]): string =>
  results.length === 0 ? '-' : `${results.filter(({ isRight }) => isRight).length} of ${results.length}`;

function cellTable(virtual: readonly VoiceCellResult[], sockets: readonly VoiceCellResult[]): string {
  const rows = [undefined, ...VOICE_FAULT_NAMES].flatMap((fault) =>
    LINES.slice(0, fault ? 1 : LINES.length).map((line) => {
      const of = (results: readonly VoiceCellResult[]) =>
        results.filter((result) => result.fault === fault && result.line === line);
      const failing = of(virtual).filter(({ expected, seed }) => seed === 1 && expected.outcome === 'failed').length;
      const name = fault ?? (line === LINES[0] ? 'none' : `none; ${line}`);
      return row([name, `${failing} of ${VOICE_EVALUATION_KEYS.length}`, rightOf(of(virtual)), rightOf(of(sockets))]);
    }),
  );
  const head = [row(['Fault', 'Must fail', 'Right, virtual clock', 'Right, sockets']), '| --- | --: | --: | --: |'];
  return [...head, ...rows].join('\n');
}

function delayTable(delays: readonly DelayRow[]): string {
  const head = [row(['Planted delay', 'Where', 'Answers', 'Error at p95']), '| --: | --- | --: | --: |'];
  const rows = delays.map(({ delayMs, where, answers, p95 }) =>
    row([`${delayMs} ms`, where, answers, `${p95.toFixed(1)} ms`]),
  );
  return [...head, ...rows].join('\n');
}
