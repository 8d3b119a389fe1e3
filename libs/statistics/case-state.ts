import type { Outcome } from './outcome.js';

/** State of a case in an ended run: `flaky` if some of its counted calls passed and others failed. */
export const CASE_STATES = ['passed', 'flaky', 'failed', 'not_judged'] as const;
export type CaseState = (typeof CASE_STATES)[number];

export function caseState({ passed, failed }: Readonly<Pick<Record<Outcome, number>, 'passed' | 'failed'>>): CaseState {
  if (failed === 0) return passed === 0 ? 'not_judged' : 'passed';
  return passed === 0 ? 'failed' : 'flaky';
}

/**
 * The result since which a case is red: the oldest of the newest results of which each has a failed call. Results that were not
 * judged neither begin nor end that.
 * @param results newest first
 * @returns undefined if its newest judged result is green
 */
export function redSince<T extends { readonly state: CaseState }>(results: readonly T[]): T | undefined {
  let since: T | undefined;
  for (const result of results) {
    if (result.state === 'passed') break;
    if (result.state !== 'not_judged') since = result;
  }
  return since;
}
