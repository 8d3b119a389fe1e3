/**
 * Outcome of a call. `passed` and `failed` are about the agent and counted. `invalid`: the simulated caller broke its
 * role. `error`: the network or the tester failed. Neither of these two is counted.
 */
export type Outcome = 'passed' | 'failed' | 'invalid' | 'error';

/** Outcome of a call, or why it has none. */
export type CallState = Outcome | 'provisional' | 'cancelled' | 'pending';

/** Whether the outcome says something about the agent. */
export const isCounted = (outcome: Outcome): boolean => outcome === 'passed' || outcome === 'failed';

/**
 * State of an evaluation in a run: failed as soon as one counted call failed; uncounted calls decide only when no call
 * is counted. Without an ended call it is pending while the run is, and cancelled afterwards.
 */
export function evaluationState(
  { failed, passed, error, invalid, provisional }: Readonly<Record<Outcome | 'provisional', number>>,
  { status }: { readonly status: 'QUEUED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED' },
): CallState {
  if (failed > 0) return 'failed';
  if (passed > 0) return 'passed';
  if (error > 0) return 'error';
  if (invalid > 0) return 'invalid';
  if (provisional > 0) return 'provisional';
  return status === 'QUEUED' || status === 'RUNNING' ? 'pending' : 'cancelled';
}
