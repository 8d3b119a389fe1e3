/**
 * The calls of replay-cells.ts, imported from their own recordings with the words of their lines: every measure must be that of
 * the call, within its ±, unless the recording does not show it.
 */
import type { RoundTrip } from '../simulators/agent/testing/voice.js';
import { type ReplayCell, storedCells } from './replay-cells.js';
import { Threads } from './replay-threads.js';

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Why a measure of a cell differs although both calls are measured rightly; undefined without a reason. */
function causeOf({ key, fault }: ReplayCell, { measure }: RoundTrip): string | undefined {
  const isOfKeys = measure === 'number of latencies' || measure === 'longest dead air';
  if (key === 'phone-keys' && isOfKeys) return 'keys are messages of the platform, not audio';
  return fault === 'interrupts-caller' && OF_LINES.test(measure) ? WITHOUT_PAUSE : undefined;
}

const WITHOUT_PAUSE = 'the caller goes on without a pause, over an agent that interrupts it: a recording has one line';
/** Measures that depend on where a line of the caller ends and the next begins. */
const OF_LINES = /^(number of|latency \d+ note|barge-in|interruption|overlap|words of the caller)/;

/** @returns whether every measure is the same, is not shown, or differs for a known reason */
export async function measureImported(): Promise<boolean> {
  const cells = [...storedCells()];
  const threads = await Threads.start<ReplayCell, RoundTrip[]>(new URL('./imported-thread.ts', import.meta.url));
  let trips: RoundTrip[][];
  try {
    trips = await threads.runAll(
      'Imported',
      cells.map(([, cell]) => cell),
    );
  } finally {
    await threads.close();
  }
  const causes = new Map<string, number>();
  const counts = { same: 0, undecided: 0, different: 0, explained: 0 };
  for (const [index, [name, cell]] of cells.entries()) {
    for (const trip of trips[index]!) {
      const cause = trip.verdict === 'different' ? causeOf(cell, trip) : undefined;
      counts[cause === undefined ? trip.verdict : 'explained']++;
      if (cause !== undefined) causes.set(cause, (causes.get(cause) ?? 0) + 1);
      else if (trip.verdict !== 'same') print(lineOf(name, trip));
    }
  }
  const { same, undecided, different, explained } = counts;
  const all = same + undecided + different + explained;
  print(
    `${cells.length} calls imported, ${all} measures: ${same} within their ±, ${undecided} undecided, ${different} different`,
  );
  for (const [cause, measures] of causes) print(`${measures} not in the recording: ${cause}`);
  return different === 0;
}

const lineOf = (name: string, { verdict, measure, made, imported, plusMinusMs }: RoundTrip): string => {
  const within = plusMinusMs === undefined ? '' : ` ± ${plusMinusMs}`;
  return `${verdict.toUpperCase()}  ${name}: ${measure} ${made}, imported ${imported}${within}`;
};
