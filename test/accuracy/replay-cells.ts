import { VOICE_EVALUATION_KEYS, VOICE_FAULT_NAMES, type VoiceFaultName } from '../simulators/agent/index.js';
import { LINES, type VoiceCell } from '../simulators/agent/testing/voice.js';

const STALLED_CALLS = 50;
const [CLEAN, , BABBLE] = LINES;

/** A voice call on the virtual clock that is repeated. */
export interface ReplayCell extends VoiceCell {
  readonly packetLossPercent?: number;
  /** How the agent is called; by telephone without it. */
  readonly platform?: 'pipecat' | 'sip';
  /** A time in which the tester does nothing. */
  readonly stall?: { readonly atMs: number; readonly ms: number };
}

/** The calls of the speed measurement: the healthy agent in one evaluation after the other. */
export const healthyCells = (count: number): ReplayCell[] =>
  Array.from({ length: count }, (_, index) => ({
    fault: undefined,
    key: VOICE_EVALUATION_KEYS[index % VOICE_EVALUATION_KEYS.length]!,
    line: CLEAN,
    seed: 1 + Math.floor(index / VOICE_EVALUATION_KEYS.length),
  }));

/** The calls whose hashes are stored, each under its name. Any tenth of them has every fault, evaluation and line. */
export function storedCells(): Map<string, ReplayCell> {
  const cells = [undefined, ...VOICE_FAULT_NAMES].flatMap((fault) =>
    [{ line: CLEAN }, { line: BABBLE, packetLossPercent: 2 }].flatMap((conditions) =>
      VOICE_EVALUATION_KEYS.map((key): ReplayCell => ({ fault, key, ...conditions, seed: 1 })),
    ),
  );
  return new Map([...cells, ...stalledCells(), ...pipecatCells(), ...sipCells()].map((cell) => [nameOf(cell), cell]));
}

/** Stalls of 25 to 300 ms in the first 20 s of the healthy agent's calls. */
function stalledCells(): ReplayCell[] {
  return healthyCells(STALLED_CALLS).map((cell, index) => {
    const stall = { atMs: 500 + ((index * 1_370) % 20_000), ms: 25 * (1 + (index % 12)) };
    return { ...cell, seed: 1, stall };
  });
}

/** Faults of timing and of the buffer, over a line of 24 kHz. */
const OVER_PIPECAT: readonly (VoiceFaultName | undefined)[] = [
  undefined,
  'slow-answer',
  'ignores-barge-in',
  'no-clear',
];

const pipecatCells = (): ReplayCell[] =>
  OVER_PIPECAT.flatMap((fault) =>
    VOICE_EVALUATION_KEYS.filter((key) => key !== 'phone-keys').map((key): ReplayCell => ({
      platform: 'pipecat',
      fault,
      key,
      line: CLEAN,
      seed: 1,
    })),
  );

/** Faults of timing, behind a gateway whose line jitters and loses packets. */
const sipCells = (): ReplayCell[] =>
  ([undefined, 'slow-answer', 'ignores-barge-in'] as const).flatMap((fault) =>
    VOICE_EVALUATION_KEYS.map((key): ReplayCell => ({ platform: 'sip', fault, key, line: CLEAN, seed: 1 })),
  );

function nameOf({ platform, fault, key, packetLossPercent, stall, seed }: ReplayCell): string {
  const line = packetLossPercent ? 'babble-and-loss' : 'clean';
  const stalled = stall ? `/stall-${stall.ms}-at-${stall.atMs}` : '';
  return `${platform ? `${platform}/` : ''}${fault ?? 'healthy'}/${key}/${line}/${seed}${stalled}`;
}
