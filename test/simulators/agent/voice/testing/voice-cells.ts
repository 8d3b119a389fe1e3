import type { EvaluationInput } from '../../../../../libs/evaluation-definition/index.js';
import type { CallResult } from '../../../../../libs/simulation/index.js';
import { VOICE_EVALUATION_KEYS, type VoiceEvaluationKey, voiceEvaluations } from '../evaluations.js';
import { isExpected, type VoiceExpectation, voiceExpectationOf } from '../expected.js';
import { CALLER_VOICES } from '../prepare.js';
import { VOICE_FAULT_NAMES, type VoiceFaultName } from '../voice-faults.js';

export const LINES = ['as in the evaluation', 'white noise, 20 dB', 'babble, 20 dB'] as const;
/** Noise on the caller's line. */
export type LineName = (typeof LINES)[number];

/** One call of the accuracy measurement of voice calls. */
export interface VoiceCell {
  readonly fault: VoiceFaultName | undefined;
  readonly key: VoiceEvaluationKey;
  readonly line: LineName;
  /** Counts from 1; varies the noise and the voice of the caller. */
  readonly seed: number;
}

export interface VoiceCellResult extends VoiceCell {
  readonly expected: VoiceExpectation;
  readonly isRight: boolean;
  /** What happened, for people. */
  readonly found: string;
  readonly outcome: CallResult['outcome'];
}

/** Every fault in every evaluation, and the healthy agent there on each of the lines, once per seed. */
export function voiceCells(seeds: number): VoiceCell[] {
  return [undefined, ...VOICE_FAULT_NAMES].flatMap((fault) =>
    LINES.slice(0, fault ? 1 : LINES.length).flatMap((line) =>
      VOICE_EVALUATION_KEYS.flatMap((key) =>
        Array.from({ length: seeds }, (_, index) => ({ fault, key, line, seed: index + 1 })),
      ),
    ),
  );
}

const evaluations = voiceEvaluations('any');

export function evaluationOf({ key, line, seed }: VoiceCell): EvaluationInput {
  const evaluation = evaluations[VOICE_EVALUATION_KEYS.indexOf(key)]!;
  const type = line === 'white noise, 20 dB' ? 'white' : 'babble';
  const noise = line === 'as in the evaluation' ? {} : { noise: { type, snrDb: 20 } as const };
  return { ...evaluation, conditions: { ...evaluation.conditions, ...noise, seed } };
}

/** The faults have different voices, and each seed another one. */
export function voiceOfCell({ fault, seed }: VoiceCell): string {
  const index = fault ? VOICE_FAULT_NAMES.indexOf(fault) : 0;
  return CALLER_VOICES[(index + seed - 1) % CALLER_VOICES.length]!;
}

export function judged(cell: VoiceCell, { outcome, end, checks, failure }: CallResult): VoiceCellResult {
  const expected = voiceExpectationOf(cell.fault, cell.key);
  const failed = checks.filter(({ met }) => met === false).map(({ name }) => name);
  return {
    ...cell,
    expected,
    outcome,
    isRight: isExpected(expected, { outcome, endCode: end.code, failed }),
    found: `${outcome} (${failure?.code ?? end.code}) ${failed.join('; ')}`.trim(),
  };
}

/** What a measurement needs to know of a call. */
interface Judged {
  readonly outcome: CallResult['outcome'];
  readonly expected: { readonly outcome: 'passed' | 'failed' };
  readonly isRight: boolean;
}

/** Of the outcome `failed`: how many of the failed calls should have failed, for that reason, and how many of those were found. */
export function voiceAccuracy(results: readonly Judged[]) {
  const failed = results.filter(({ outcome }) => outcome === 'failed');
  const faulty = results.filter(({ expected }) => expected.outcome === 'failed');
  const right = faulty.filter(({ isRight }) => isRight).length;
  const ratio = (of: number) => (of === 0 ? 1 : right / of);
  return { precision: ratio(failed.length), recall: ratio(faulty.length) };
}
