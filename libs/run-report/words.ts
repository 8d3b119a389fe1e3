import type { CallState } from '../statistics/index.js';
import type { ReportedRun } from './reported.js';

/** How a state is shown: a word and a sign beside its colour, for those who do not see the colour. */
export const STATES: Readonly<Record<CallState, { readonly word: string; readonly sign: string }>> = {
  passed: { word: 'Passed', sign: '✓' },
  failed: { word: 'Failed', sign: '✗' },
  invalid: { word: 'Invalid', sign: '◇' },
  error: { word: 'Error', sign: '!' },
  cancelled: { word: 'Cancelled', sign: '–' },
  pending: { word: 'Pending', sign: '…' },
};

/** What a call of a state says about the agent, for the reader who meets the word for the first time. */
export const MEANINGS: Readonly<Partial<Record<CallState, string>>> = {
  invalid: 'the simulated caller broke its role; not counted',
  error: 'the network or the tester failed; not counted',
};

/** The run's state in one word, and in terms of its gate. */
export function verdictOf({ status }: ReportedRun): { readonly state: CallState; readonly word: string } {
  switch (status) {
    case 'COMPLETED':
      return { state: 'passed', word: 'Passed' };
    case 'FAILED':
      return { state: 'failed', word: 'Failed' };
    case 'CANCELLED':
      return { state: 'cancelled', word: 'Cancelled' };
    case 'RUNNING':
      return { state: 'pending', word: 'Running' };
    case 'QUEUED':
      return { state: 'pending', word: 'Queued' };
  }
}

/** Names of the fragments of a page; nothing that anybody else wrote is in them. */
export const anchors = {
  evaluation: (position: number) => `e${position + 1}`,
  call: (position: number, repetition: number) => `e${position + 1}-r${repetition}`,
  entry: (call: string, index: number) => `${call}-t${index}`,
  finding: (call: string, number: number) => `${call}-f${number}`,
};
