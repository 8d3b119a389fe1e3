import type { Personality, Scenario } from '../callers/persona.js';
import type { CallView, Utterance } from '../timeline/call-view.js';
import type { Evidence } from '../timeline/evidence.js';
import { truncate } from '../timeline/text.js';

/** How the simulated caller broke its role. */
export type InvalidityCode =
  | 'caller_unusable'
  | 'no_answer'
  | 'ended_early'
  | 'never_ended'
  | 'invented_fact'
  | 'spoke_as_agent'
  | 'repeated_itself'
  | 'left_role'
  // Not of the caller: the evaluation is not about this production call.
  | 'not_applicable';

export interface Invalidity {
  readonly code: InvalidityCode;
  /** A sentence without full stop. */
  readonly message: string;
  /** The first entry is where the caller broke its role; none if that was at the end of the call. */
  readonly evidence: readonly Evidence[];
}

export interface CallerConduct {
  readonly view: CallView;
  readonly personality: Personality;
  readonly scenario: Scenario;
}

export const evidenceOf = ({ parts, text }: Utterance): Evidence => ({
  entry: parts[0]?.index ?? 0,
  quote: truncate(text, 240),
});
