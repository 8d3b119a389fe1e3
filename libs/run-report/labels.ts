import type { CallState } from '../statistics/index.js';
import type { ReportedRun } from './reported.js';

/** Label and sign of each state: colour alone is not accessible. */
export const STATE_LABELS: Readonly<Record<CallState, { readonly label: string; readonly sign: string }>> = {
  passed: { label: 'Passed', sign: '✓' },
  failed: { label: 'Failed', sign: '✗' },
  invalid: { label: 'Invalid', sign: '◇' },
  error: { label: 'Error', sign: '!' },
  provisional: { label: 'Provisional', sign: '?' },
  cancelled: { label: 'Cancelled', sign: '–' },
  pending: { label: 'Pending', sign: '…' },
};

/** Explains the states that say nothing about the agent. */
export const STATE_NOTES: Readonly<Partial<Record<CallState, string>>> = {
  invalid: 'the simulated caller broke its role; not counted',
  error: 'the agent could not be tested; not counted',
  provisional: 'of evaluations that have not failed before; not counted',
};

/** Label of the run, and the state of a call that it is coloured like. */
export function verdictOf({ status, exitCode, isProduction }: ReportedRun): {
  readonly state: CallState;
  readonly label: string;
} {
  switch (status) {
    case 'COMPLETED':
      return isProduction ? { state: 'pending', label: 'Judged' } : { state: 'passed', label: 'Passed' };
    case 'FAILED':
      return exitCode === 2 ? { state: 'error', label: 'Not fully tested' } : { state: 'failed', label: 'Failed' };
    case 'CANCELLED':
      return { state: 'cancelled', label: 'Cancelled' };
    case 'RUNNING':
      return { state: 'pending', label: 'Running' };
    case 'QUEUED':
      return { state: 'pending', label: 'Queued' };
  }
}

/** Fragment identifiers of the page; they contain no untrusted text. */
export const anchors = {
  evaluation: (position: number) => `e${position + 1}`,
  call: (position: number, repetition: number) => `e${position + 1}-r${repetition}`,
  entry: (call: string, index: number) => `${call}-t${index}`,
  finding: (call: string, number: number) => `${call}-f${number}`,
};
