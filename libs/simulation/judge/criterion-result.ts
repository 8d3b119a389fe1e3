import type { Evidence } from '../checks.js';
import type { Failure } from '../failure.js';

/** One answer of the judge. */
export interface Sample {
  /** Null when it gave no usable answer. */
  readonly met: boolean | null;
  readonly reasoning: string;
  readonly evidence: Evidence | null;
}

export interface CriterionResult {
  /** Position among the definition's criteria. */
  readonly index: number;
  readonly text: string;
  readonly weight: number;
  readonly required: boolean;
  /** `no_verdict`: the judge proved nothing. `not_judged`: it was not asked, or could not be. Both are not counted. */
  readonly verdict: 'met' | 'not_met' | 'no_verdict' | 'not_judged';
  /** A sentence without a full stop: the judge's reasoning, or why there is no verdict. */
  readonly reason: string;
  readonly evidence: Evidence | null;
  /** Every time the judge was asked; a failing verdict is asked for three times. */
  readonly samples: readonly Sample[];
  /** Whether the samples contradict each other. */
  readonly disagreement: boolean;
  /** Why the judge could not be asked, when that is a matter of the moment. */
  readonly failure?: Failure;
}
