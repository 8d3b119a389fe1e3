import type { Evidence } from '../timeline/evidence.js';
import type { Failure } from '../timeline/failure.js';

/** One verdict of the judge. */
export interface Sample {
  /** Null when it gave no usable answer. */
  readonly met: boolean | null;
  readonly reasoning: string;
  readonly evidence: Evidence | null;
  /** Present if it depends on words of the agent that are not known, as the judge says. */
  readonly isUnclear?: true;
  /** Answers of the model that were unusable, truncated; absent without any. */
  readonly unusable?: readonly string[];
}

export interface CriterionResult {
  /** Position among the definition's criteria. */
  readonly index: number;
  readonly text: string;
  /** The only turn that it is about. */
  readonly turn?: number;
  readonly weight: number;
  readonly required: boolean;
  /**
   * `no_verdict`: no majority with a valid quote. `not_judged`: the judge was not or could not be asked. Neither counts, and
   * a required criterion with either makes the call an `error`.
   */
  readonly verdict: 'met' | 'not_met' | 'no_verdict' | 'not_judged';
  /** A sentence without full stop: the judge's reasoning, or why there is no verdict. */
  readonly reason: string;
  readonly evidence: Evidence | null;
  /** All samples: two, and a third unless the first two agree; one with `JUDGE_SAMPLES=1`. */
  readonly samples: readonly Sample[];
  /** Whether the samples contradict each other. */
  readonly disagreement: boolean;
  /** Why the judge could not be asked, or gave no verdict. */
  readonly failure?: Failure;
}

/** What the judge found about a statement. */
export type Judged = Omit<CriterionResult, 'index' | 'text' | 'turn' | 'weight' | 'required'>;
