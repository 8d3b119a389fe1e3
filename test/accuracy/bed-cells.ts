import type { VoiceEvaluationKey, VoiceFaultName } from '../simulators/agent/index.js';
import { BEDS, type BedName } from './beds.js';
import { type BedMode, MODES } from './mixing-agent.js';

/** One call of an agent with a bed. */
export interface BedCell {
  readonly bed: BedName;
  /** RMS level of the bed; the voice is at least 12 dB above it. */
  readonly dbfs: number;
  readonly mode: BedMode;
  readonly key: VoiceEvaluationKey;
  readonly fault: VoiceFaultName | undefined;
  readonly seed: number;
}

/** Times in milliseconds, one per line of the agent. */
export interface BedResult {
  readonly cell: BedCell;
  readonly outcome: string;
  readonly reason: string;
  readonly lines: number;
  readonly missed: number;
  /** Ends of a turn inside a line. */
  readonly falseEnds: number;
  /** Turns that ended only with a later line. */
  readonly unended: number;
  readonly onsets: readonly Difference[];
  readonly ends: readonly Difference[];
}

/** Measured minus true, and what the call says of its uncertainty. */
export interface Difference {
  readonly ms: number;
  readonly plusMinusMs: number;
}

const LEVELS = [-60, -52, -45, -38, -30];
const CALLS: readonly Pick<BedCell, 'key' | 'fault'>[] = [
  { key: 'phone-booking', fault: undefined },
  { key: 'phone-hesitation', fault: undefined },
  { key: 'phone-barge-in', fault: undefined },
  { key: 'phone-pauses', fault: undefined },
  { key: 'phone-booking', fault: 'slow-answer' },
];

/** @param take which parts of the beds are heard */
export const bedCells = (take = 1): BedCell[] =>
  BEDS.flatMap((bed, index) =>
    LEVELS.flatMap((dbfs) =>
      MODES.flatMap((mode) => CALLS.map((call) => ({ ...call, bed, dbfs, mode, seed: index + take }))),
    ),
  );
