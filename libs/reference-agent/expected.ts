import { type CheckName, EVALUATION_KEYS, type EvaluationKey } from './evaluations.js';
import type { FaultName } from './faults.js';

/** How a call must turn out, and for which reason. */
export type Expectation<K extends EvaluationKey = EvaluationKey> =
  | { readonly outcome: 'passed' }
  | {
      readonly outcome: 'failed';
      /** Checks that must fail, every one. */
      readonly fails: readonly CheckName<K>[];
      /** Checks that may fail beside them, because of what the caller does then. No other one may. */
      readonly mayFail?: readonly CheckName<K>[];
      /** The caller must give up on an agent that answers nothing, which fails a call whatever was asked. */
      readonly endCode?: 'agent_silent';
    }
  | {
      readonly outcome: 'failed';
      /** The agent breaks down, in every attempt: that is the reason, whatever the checks say. */
      readonly failure: 'agent_status' | 'stream_cut';
    };

type Failing = Exclude<Expectation, { outcome: 'passed' }>;
type Row = { readonly [K in EvaluationKey]?: Failing };

const PASSED: Expectation = { outcome: 'passed' };

const everywhere = (expectation: Failing): Row => Object.fromEntries(EVALUATION_KEYS.map((key) => [key, expectation]));

/** The agent falls silent in every evaluation; which checks it misses by that depends on what it has done before. */
function silent(fails: readonly CheckName[] = [], mayFail: readonly CheckName[] = []): Failing {
  return { outcome: 'failed', endCode: 'agent_silent', fails, mayFail };
}

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
    'books-a-table': silent([
      'Checks the availability',
      'Books the right table',
      'Confirms the booking',
      'Asks for consent before it books',
    ]),
    'all-details-at-once': silent(),
    'house-facts': silent(['Knows of vegan dishes', 'States the address', 'Knows where to park']),
    // How long it was waited for counts as latency for a tester that measures it.
    'answers-in-time': silent(['Answers the last question'], ['Begins every answer within 1.5 seconds']),
    'keeps-its-prompt': silent(['Still helps']),
    'changes-mind': silent(['Books for five']),
    'fully-booked': silent(['Books the free time']),
    declines: silent(),
    'says-goodbye': silent(['Hangs up itself', 'Returns the good-bye']),
    'cancels-a-booking': silent(),
  },
  'error-status': everywhere({ outcome: 'failed', failure: 'agent_status' }),
  'cut-stream': everywhere({ outcome: 'failed', failure: 'stream_cut' }),
};

/** How a call of this evaluation must turn out with this fault; without one the agent is sound. */
export function expectationOf(fault: FaultName | undefined, key: EvaluationKey): Expectation {
  return (fault === undefined ? undefined : EXPECTED[fault][key]) ?? PASSED;
}
