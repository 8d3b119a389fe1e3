import type {
  CheckType,
  CriterionSpec,
  ListSpec,
  NestedCheck,
  NotSpec,
  OfType,
  SoundCheckSpec,
  WhenSpec,
} from '../../evaluation-definition/index.js';
import type { Finding } from './check-result.js';
import type { EventFinder } from './occurrences.js';

/** How a check without others inside it is evaluated. */
export interface Leaf<S> {
  evaluate(check: S, finder: EventFinder): Finding | Promise<Finding>;
  /**
   * Whether words of the agent that are not known, whatever they are, could change a finding that was not certain before them.
   * Asked only of checks that need words.
   */
  couldChange(check: S, finding: Finding, finder: EventFinder): boolean | Promise<boolean>;
}

export type Evaluate = (check: NestedCheck) => Promise<Finding>;

/** How a check is evaluated that consists of others. */
export interface Composed<S> {
  evaluate(check: S, inner: Evaluate): Promise<Finding>;
}

type ComposedType = (ListSpec | NotSpec | WhenSpec)['type'];

export type Leaves = {
  readonly [T in Exclude<CheckType, ComposedType | CriterionSpec['type'] | SoundCheckSpec['type']>]: Leaf<OfType<T>>;
};
export type ComposedChecks = { readonly [T in ComposedType]: Composed<OfType<T>> };

/** For a check that needs no words. */
export const WITHOUT_WORDS = { couldChange: () => false };
