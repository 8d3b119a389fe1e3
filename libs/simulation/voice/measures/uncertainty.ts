import type { Span, VoiceFacts } from '../facts/facts.js';
import { stallAndLagWithin } from './lag.js';
import { tenth } from '../facts/spans.js';

/** By how much a time may be off beside a bed: it hides the beginnings and ends of words (docs/decisions/0121). */
const BESIDE_BED_MS = { even: 320, uneven: 600 } as const;

/** What is uncertain about a time that was measured in a span. */
export interface Uncertainty {
  /** Stalls of the tester and the lag that they left in the audio, and what the bed hides. */
  readonly plusMinusMs: number;
  /** Present if a bed was heard: calling again would not help. */
  readonly isBesideBed?: true;
}

/** @param testerMs what the tester's stalls make uncertain; by default that of a time that ends at a sound of the agent */
export function uncertaintyWithin(
  facts: VoiceFacts,
  span: Span,
  testerMs: number = stallAndLagWithin(facts, span),
): Uncertainty {
  const { background } = facts;
  if (!background || !isBesideBed(facts, span)) return { plusMinusMs: testerMs };
  const hiddenMs = BESIDE_BED_MS[background.isUneven ? 'uneven' : 'even'];
  return { plusMinusMs: tenth(testerMs + hiddenMs), isBesideBed: true };
}

export const isBesideBed = ({ background }: Pick<VoiceFacts, 'background'>, { endMs }: Span): boolean =>
  background !== null && endMs >= background.fromMs;
