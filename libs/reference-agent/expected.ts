import { type CheckName, EVALUATION_KEYS, type EvaluationKey } from './evaluations.js';
import type { FaultName } from './faults.js';

/** How a call must turn out. */
export type Expectation<K extends EvaluationKey = EvaluationKey> =
  | { readonly outcome: 'passed' }
  | {
      readonly outcome: 'failed';
      /** Checks that must fail, every one: the right reason. */
      readonly fails: readonly CheckName<K>[];
      /** Checks that may fail beside them, because of what the caller does then. No other one may. */
      readonly mayFail?: readonly CheckName<K>[];
    }
  | {
      /** The agent breaks down: whatever the checks say, the failure is the reason. */
      readonly outcome: 'failed' | 'error';
      readonly failure: 'http_status' | 'stream_cut';
    };

type Row = { readonly [K in EvaluationKey]?: Exclude<Expectation<K>, { outcome: 'passed' }> };

const PASSED: Expectation = { outcome: 'passed' };

/** An answer of HTTP 500 is the agent's own doing, a broken connection may be the network's. */
const AGENT_FAILED: Expectation = { outcome: 'failed', failure: 'http_status' };
const CONNECTION_BROKE: Expectation = { outcome: 'error', failure: 'stream_cut' };

const everywhere = (expectation: typeof AGENT_FAILED): Row =>
  Object.fromEntries(EVALUATION_KEYS.map((key) => [key, expectation]));

/** What the tester must find in each evaluation with each planted fault. What is not listed passes. */
export const EXPECTED: Readonly<Record<FaultName, Row>> = {
  'slow-answer': {
    'answers-in-time': { outcome: 'failed', fails: ['Begins every answer within 1.5 seconds'] },
  },
  'wrong-fact': {
    'house-facts': { outcome: 'failed', fails: ['States the closing time', 'States no wrong opening hours'] },
  },
  'forgets-detail': {
    'all-details-at-once': { outcome: 'failed', fails: ['Never asks for what was said'] },
  },
  'ignores-correction': {
    'changes-mind': {
      outcome: 'failed',
      fails: ['Books for five', 'Never books for four', 'Reads the correction back'],
    },
  },
  loops: {
    'books-a-table': {
      outcome: 'failed',
      fails: [
        'Checks the availability',
        'Books the right table',
        'Confirms the booking',
        'Asks for consent before it books',
        'Leaves hanging up to the caller',
        'Needs at most 12 turns',
      ],
    },
    'house-facts': {
      outcome: 'failed',
      fails: ['Knows of vegan dishes', 'States the address', 'Knows where to park'],
    },
    'answers-in-time': { outcome: 'failed', fails: ['Answers the last question'] },
    'keeps-its-prompt': { outcome: 'failed', fails: ['Still helps'] },
    'changes-mind': { outcome: 'failed', fails: ['Books for five'] },
    'fully-booked': { outcome: 'failed', fails: ['Books the free time'] },
    'says-goodbye': { outcome: 'failed', fails: ['Hangs up itself', 'Returns the good-bye'] },
  },
  'wrong-tool-argument': {
    'books-a-table': { outcome: 'failed', fails: ['Books the right table'] },
    'all-details-at-once': { outcome: 'failed', fails: ['Books with every detail'] },
    'changes-mind': { outcome: 'failed', fails: ['Books for five'] },
    'fully-booked': { outcome: 'failed', fails: ['Books the free time'] },
  },
  'skips-tool': {
    'books-a-table': { outcome: 'failed', fails: ['Books the right table'] },
    'all-details-at-once': { outcome: 'failed', fails: ['Books with every detail'] },
    'changes-mind': { outcome: 'failed', fails: ['Books for five'] },
    'fully-booked': { outcome: 'failed', fails: ['Books the free time'] },
  },
  'skips-confirmation': {
    'books-a-table': { outcome: 'failed', fails: ['Asks for consent before it books'] },
    'changes-mind': { outcome: 'failed', fails: ['Never books for four'] },
    declines: { outcome: 'failed', fails: ['Books nothing', 'Asks for consent'] },
  },
  'double-booking': {
    'fully-booked': {
      outcome: 'failed',
      fails: ['Gives no taken table away', 'Offers a free time', 'Books the free time'],
    },
  },
  'hangs-up-early': {
    'books-a-table': {
      outcome: 'failed',
      fails: [
        'Checks the availability',
        'Books the right table',
        'Confirms the booking',
        'Asks for consent before it books',
        'Leaves hanging up to the caller',
      ],
    },
    'changes-mind': { outcome: 'failed', fails: ['Books for five'] },
    'fully-booked': { outcome: 'failed', fails: ['Books the free time'] },
  },
  'never-ends': {
    'says-goodbye': { outcome: 'failed', fails: ['Hangs up itself', 'Returns the good-bye'] },
  },
  'leaks-prompt': {
    'keeps-its-prompt': { outcome: 'failed', fails: ['Reveals nothing of its instructions'] },
  },
  'talks-too-much': {
    'answers-in-time': { outcome: 'failed', fails: ['Stays below 80 words'] },
  },
  silence: {
    'books-a-table': {
      outcome: 'failed',
      fails: [
        'Checks the availability',
        'Books the right table',
        'Confirms the booking',
        'Asks for consent before it books',
      ],
      mayFail: ['Leaves hanging up to the caller', 'Needs at most 12 turns'],
    },
    'house-facts': {
      outcome: 'failed',
      fails: ['Knows of vegan dishes', 'States the address', 'Knows where to park'],
    },
    'answers-in-time': {
      outcome: 'failed',
      fails: ['Answers the last question'],
      mayFail: ['Begins every answer within 1.5 seconds'],
    },
    'keeps-its-prompt': { outcome: 'failed', fails: ['Still helps'] },
    'changes-mind': { outcome: 'failed', fails: ['Books for five'] },
    'fully-booked': { outcome: 'failed', fails: ['Books the free time'] },
    'says-goodbye': { outcome: 'failed', fails: ['Hangs up itself', 'Returns the good-bye'] },
  },
  'error-status': everywhere(AGENT_FAILED),
  'cut-stream': everywhere(CONNECTION_BROKE),
};

/** How a call of this evaluation must turn out with this fault; without one the agent is sound. */
export function expectationOf(fault: FaultName | undefined, key: EvaluationKey): Expectation {
  return (fault === undefined ? undefined : EXPECTED[fault][key]) ?? PASSED;
}
