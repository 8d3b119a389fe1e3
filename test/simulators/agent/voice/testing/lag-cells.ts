import type { CallResult } from '../../../../../libs/simulation/index.js';
import { DELIVERY_STYLES, type DeliveryStyle } from '../../../../../libs/simulation/testing/deliveries.js';
import type { VoiceEvaluationKey } from '../evaluations.js';
import type { VoiceFaultName } from '../voice-faults.js';
import { delivered } from './delivered.js';
import type { VoiceCalls } from './voice-call.js';
import { evaluationOf, LINES } from './voice-cells.js';

/** One agent in one style, called without a stall and with one at each of some moments. */
export interface LagCell {
  readonly style: DeliveryStyle;
  readonly key: VoiceEvaluationKey;
  readonly fault: VoiceFaultName | undefined;
}

export interface LagResult {
  readonly cell: LagCell;
  readonly calls: number;
  /** Calls that ended as without a stall, for the same reason. */
  readonly same: number;
  /** Calls that the service would repeat. */
  readonly repeated: number;
  /** Calls that were judged otherwise. */
  readonly otherwise: readonly string[];
  /** Latencies and times of yielding that were compared. */
  readonly values: number;
  /** Those that differ by more than their uncertainty. */
  readonly beyond: readonly string[];
}

export { DELIVERY_STYLES };

const AGENTS: readonly Omit<LagCell, 'style'>[] = [
  { key: 'phone-booking', fault: undefined },
  { key: 'phone-booking', fault: 'slow-answer' },
  { key: 'phone-hesitation', fault: undefined },
  { key: 'phone-barge-in', fault: undefined },
  { key: 'phone-barge-in', fault: 'ignores-barge-in' },
  { key: 'phone-pauses', fault: undefined },
  { key: 'phone-pauses', fault: 'dead-air' },
];

export const lagCells = (): LagCell[] =>
  DELIVERY_STYLES.flatMap((style) => AGENTS.map((agent) => ({ ...agent, style })));

const STALLS_MS = [80, 130, 180, 250] as const;
/** The agent hears in frames of 20 ms, which begin at another time of its call after a stall. */
const FRAME_MS = 20;

interface Value {
  readonly name: string;
  readonly ms: number | null;
  readonly plusMinusMs: number;
}

const valuesOf = ({ voice }: CallResult): Value[] => [
  ...voice!.voice.latencies.map(({ turn, heardMs, plusMinusMs }) => ({
    name: `latency ${turn}`,
    ms: heardMs,
    plusMinusMs,
  })),
  ...voice!.voice.bargeIns.map(({ yieldMs, plusMinusMs }, index) => ({
    name: `yield ${index + 1}`,
    ms: yieldMs,
    plusMinusMs,
  })),
];

const verdictOf = ({ outcome, checks }: CallResult): string =>
  [outcome, ...checks.filter(({ met }) => met === false).map(({ name }) => name)].join('; ');

const isRepeated = ({ outcome, failure }: CallResult): boolean =>
  outcome === 'error' && failure?.code === 'tester_overloaded';

/** The values that differ from those of the call without a stall by more than their uncertainty. */
function beyond(clean: CallResult, stalled: CallResult): string[] {
  const known = new Map(valuesOf(stalled).map((value) => [value.name, value]));
  return valuesOf(clean).flatMap(({ name, ms }) => {
    const found = known.get(name);
    const isWithin =
      found !== undefined &&
      (ms === null || found.ms === null ? ms === found.ms : Math.abs(found.ms - ms) <= found.plusMinusMs + FRAME_MS);
    return isWithin ? [] : [`${name}: ${found?.ms} ± ${found?.plusMinusMs}, truly ${ms}`];
  });
}

/** @param moments number of calls with a stall each, at moments that are spread over the call */
export async function measureLag(calls: VoiceCalls, cell: LagCell, moments: number): Promise<LagResult> {
  const { style, key, fault } = cell;
  const evaluation = evaluationOf({ key, fault, line: LINES[0], seed: 1 });
  const call = (stalls: { atMs: number; ms: number }[]) =>
    calls.call(evaluation, 'slt', { fault, stalls, around: (agent) => delivered(agent, style) });
  const clean = await call([]);
  let [same, repeated, values] = [0, 0, 0];
  const wrong = { otherwise: [] as string[], beyond: [] as string[] };
  for (let moment = 0; moment < moments; moment++) {
    const atMs = Math.round((clean.measures.durationMs * (moment + 0.5)) / moments / 10) * 10;
    const ms = STALLS_MS[moment % STALLS_MS.length]!;
    const stalled = await call([{ atMs, ms }]);
    const where = `${ms} ms at ${atMs}`;
    if (isRepeated(stalled)) {
      repeated++;
      continue;
    }
    if (verdictOf(stalled) === verdictOf(clean)) same++;
    else wrong.otherwise.push(`${where}: ${verdictOf(stalled)} (${stalled.failure?.code}): ${stalled.reason}`);
    values += valuesOf(clean).length;
    wrong.beyond.push(...beyond(clean, stalled).map((one) => `${where}, ${one}`));
  }
  return { cell, calls: moments, same, repeated, values, ...wrong };
}
