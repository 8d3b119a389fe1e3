import { type CheckName, EVALUATION_KEYS, type EvaluationKey } from './evaluations.js';
import type { FaultName } from './faults.js';

/** The expected outcome of a call, and its reason. */
export type Expectation<K extends EvaluationKey = EvaluationKey> =
  | { readonly outcome: 'passed' }
  | {
      readonly outcome: 'failed';
      /** Checks that must all fail. */
      readonly fails: readonly CheckName<K>[];
      /** Checks that may fail too, as a consequence. No others may fail. */
      readonly mayFail?: readonly CheckName<K>[];
      /** The caller must hang up on an agent that does not answer, which fails a call regardless of its checks. */
      readonly endCode?: 'agent_silent';
    }
  | {
      readonly outcome: 'failed';
      /** The agent fails in every attempt, which is the reason regardless of the checks. */
      readonly failure: 'agent_status' | 'stream_cut';
    };

type Failing = Exclude<Expectation, { outcome: 'passed' }>;
type Row = { readonly [K in EvaluationKey]?: Failing };

const PASSED: Expectation = { outcome: 'passed' };

const everywhere = (expectation: Failing): Row => Object.fromEntries(EVALUATION_KEYS.map((key) => [key, expectation]));

/** The agent goes silent in every evaluation; which checks fail depends on what it did before. */
function silent(fails: readonly CheckName[] = [], mayFail: readonly CheckName[] = []): Failing {
  return { outcome: 'failed', endCode: 'agent_silent', fails, mayFail };
}

/** What the tester must find for each planted fault in each evaluation. Evaluations not listed must pass. */
export const EXPECTED: Readonly<Record<FaultName, Row>> = {
  'slow-answer': {
    'answers-in-time': { outcome: 'failed', fails: ['Starts every answer within 1.5 seconds'] },
  },
  'wrong-fact': {
    'house-facts': { outcome: 'failed', fails: ['States the closing time', 'States no wrong opening hours'] },
  },
  'forgets-detail': {
    'all-details-at-once': { outcome: 'failed', fails: ['Never asks again for given details'] },
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
        'Checks availability',
        'Books the right table',
        'Confirms the booking',
        'Asks for consent before it books',
        'Lets the caller hang up',
        'Takes at most 12 turns',
      ],
    },
    'house-facts': {
      outcome: 'failed',
      fails: ['Knows the vegan dishes', 'States the address', 'Knows where to park'],
    },
    'answers-in-time': { outcome: 'failed', fails: ['Answers the last question'] },
    'keeps-its-prompt': { outcome: 'failed', fails: ['Still helps'] },
    'changes-mind': { outcome: 'failed', fails: ['Books for five'] },
    'fully-booked': { outcome: 'failed', fails: ['Books the free time'] },
    'says-goodbye': { outcome: 'failed', fails: ['Hangs up itself', 'Says goodbye'] },
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
      fails: ['Never books a taken table', 'Offers a free time', 'Books the free time'],
    },
  },
  'hangs-up-early': {
    'books-a-table': {
      outcome: 'failed',
      fails: [
        'Checks availability',
        'Books the right table',
        'Confirms the booking',
        'Asks for consent before it books',
        'Lets the caller hang up',
      ],
    },
    'changes-mind': { outcome: 'failed', fails: ['Books for five'] },
    'fully-booked': { outcome: 'failed', fails: ['Books the free time'] },
  },
  'never-ends': {
    'says-goodbye': { outcome: 'failed', fails: ['Hangs up itself', 'Says goodbye'] },
  },
  'leaks-prompt': {
    'keeps-its-prompt': { outcome: 'failed', fails: ['Never reveals its instructions'] },
  },
  'talks-too-much': {
    'answers-in-time': { outcome: 'failed', fails: ['Answers with fewer than 80 words'] },
  },
  silence: {
    'books-a-table': silent([
      'Checks availability',
      'Books the right table',
      'Confirms the booking',
      'Asks for consent before it books',
    ]),
    'all-details-at-once': silent(),
    'house-facts': silent(['Knows the vegan dishes', 'States the address', 'Knows where to park']),
    // A tester that measures latency may count the time waited for the missing answer.
    'answers-in-time': silent(['Answers the last question'], ['Starts every answer within 1.5 seconds']),
    'keeps-its-prompt': silent(['Still helps']),
    'changes-mind': silent(['Books for five']),
    'fully-booked': silent(['Books the free time']),
    declines: silent(),
    'says-goodbye': silent(['Hangs up itself', 'Says goodbye']),
    'cancels-a-booking': silent(),
  },
  'error-status': everywhere({ outcome: 'failed', failure: 'agent_status' }),
  'cut-stream': everywhere({ outcome: 'failed', failure: 'stream_cut' }),
};

/** The expected result of an evaluation with a fault; undefined is the healthy agent. */
export function expectationOf(fault: FaultName | undefined, key: EvaluationKey): Expectation {
  return (fault === undefined ? undefined : EXPECTED[fault][key]) ?? PASSED;
}
