import type { Span, VoiceFacts } from '../facts/facts.js';
import { stallWithin } from './stall-within.js';

/** By how much a time may be off beside a bed: it hides the beginnings and ends of words (docs/decisions/0121). */
const BESIDE_BED_MS = 320;

/** What is uncertain about a time that was measured in a span. */
export interface Uncertainty {
  /** A stall of the tester, or what the bed hides. */
  readonly plusMinusMs: number;
  /** Present if a bed was heard: calling again would not help. */
  readonly isBesideBed?: true;
}

export function uncertaintyWithin(
  { timing, background }: Pick<VoiceFacts, 'timing' | 'background'>,
  span: Span,
): Uncertainty {
  const plusMinusMs = stallWithin(timing, span);
  if (background === null || span.endMs < background.fromMs) return { plusMinusMs };
  return { plusMinusMs: plusMinusMs + BESIDE_BED_MS, isBesideBed: true };
}

/** The facts with the uncertainty of stalls alone. */
export const withoutBed = <T extends Pick<VoiceFacts, 'background'>>(facts: T): T => ({ ...facts, background: null });
