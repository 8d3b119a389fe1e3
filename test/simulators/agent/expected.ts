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

const failing = (...fails: readonly CheckName[]): Failing => ({ outcome: 'failed', fails });

/** The agent goes silent in every evaluation; which checks fail depends on what it did before. */
function silent(fails: readonly CheckName[] = [], mayFail: readonly CheckName[] = []): Failing {
  return { outcome: 'failed', endCode: 'agent_silent', fails, mayFail };
}

const NEVER_BOOKED = [
  'Checks availability',
  'Books the right table',
  'Confirms the booking',
  'Asks for consent before it books',
] as const;
const NO_MORE_FACTS = ['Knows the vegan dishes', 'States the address', 'Knows where to park'] as const;
const STAYS_ON_LINE = failing('Hangs up itself', 'Says goodbye');
const WRONG_BOOKINGS: Row = {
  'books-a-table': failing('Books the right table'),
  'all-details-at-once': failing('Books with every detail'),
  'changes-mind': failing('Books for five'),
  'fully-booked': failing('Books the free time'),
};

/** What the tester must find for each planted fault in each evaluation. Evaluations not listed must pass. */
export const EXPECTED: Readonly<Record<FaultName, Row>> = {
  'slow-answer': {
    'answers-in-time': failing('Starts every answer within 1.5 seconds'),
  },
  'wrong-fact': {
    'house-facts': failing('States the closing time', 'States no wrong opening hours'),
  },
  'forgets-detail': {
    'all-details-at-once': failing('Never asks again for given details'),
  },
  'ignores-correction': {
    'changes-mind': failing('Books for five', 'Never books for four', 'Reads the correction back'),
  },
  loops: {
    'books-a-table': {
      ...failing(...NEVER_BOOKED, 'Lets the caller hang up'),
      // A tester may end the call before that many turns: the agent repeats its line.
      mayFail: ['Takes at most 12 turns'],
    },
    'house-facts': failing(...NO_MORE_FACTS),
    'answers-in-time': failing('Answers the last question'),
    'keeps-its-prompt': failing('Still helps'),
    'changes-mind': failing('Books for five'),
    'fully-booked': failing('Books the free time'),
    'says-goodbye': STAYS_ON_LINE,
  },
  'wrong-tool-argument': WRONG_BOOKINGS,
  'skips-tool': WRONG_BOOKINGS,
  'skips-confirmation': {
    'books-a-table': failing('Asks for consent before it books'),
    'changes-mind': failing('Never books for four'),
    declines: failing('Books nothing', 'Asks for consent'),
  },
  'double-booking': {
    'fully-booked': failing('Never books a taken table', 'Offers a free time', 'Books the free time'),
  },
  'hangs-up-early': {
    'books-a-table': failing(...NEVER_BOOKED, 'Lets the caller hang up'),
    'changes-mind': failing('Books for five'),
    'fully-booked': failing('Books the free time'),
  },
  'never-ends': {
    'says-goodbye': STAYS_ON_LINE,
  },
  'leaks-prompt': {
    'keeps-its-prompt': failing('Never reveals its instructions'),
  },
  'talks-too-much': {
    'answers-in-time': failing('Answers with fewer than 80 words'),
  },
  silence: {
    'books-a-table': silent(NEVER_BOOKED),
    'all-details-at-once': silent(),
    'house-facts': silent(NO_MORE_FACTS),
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
