import { type DefinitionInput, normalise, withVariables } from '../../../libs/evaluation-definition/index.js';
import { type CallResult, executeCall, promote, VirtualClock } from '../../../libs/simulation/index.js';
import { sample } from '../../../libs/statistics/testing/sample.js';
import { referenceEvaluations } from './evaluations.js';
import { EXPECTED } from './expected.js';
import type { FaultName } from './faults.js';
import { executeTrial, trials } from './testing/accuracy.js';
import { referenceTransport } from './testing/transport.js';

/** Friday, 4 December 2026. */
const NOW = Date.UTC(2026, 11, 4, 10);
const transport = (fault?: FaultName) => referenceTransport({ ...(fault && { fault }), now: () => NOW });

/** The outcomes of the call as a test of the agent with the fault of the call, and of the healthy one; undefined if it is none. */
async function asTest(call: CallResult, key: string, fault: FaultName) {
  const definition = normalise(referenceEvaluations('').find((one) => one.key === key)!);
  const promotion = await promote(call, definition, () => Promise.resolve());
  if (!promotion) return undefined;
  const { variables, notFailing, ...content } = promotion;
  const test = withVariables(normalise(content as DefinitionInput), variables[0] ?? null);
  const [faulty, healthy] = await Promise.all(
    [fault, undefined].map((planted) =>
      executeCall({
        definition: test,
        scenario: { scenarioText: 'A real caller.' },
        personality: { name: 'Real caller' },
        transport: transport(planted),
        clock: new VirtualClock(),
      }),
    ),
  );
  return { notFailing, faulty: faulty!, healthy: healthy! };
}

/** Calls that ended before their callers had said what the healthy agent asks for, and the words that have no answer. */
const NEED_MORE_LINES: Readonly<Record<string, RegExp>> = {
  'loops: books-a-table': /At what time/,
  'loops: fully-booked': /your phone number/,
  'skips-confirmation: books-a-table': /Shall I book it/,
  'double-booking: fully-booked': /At what time/,
  'hangs-up-early: books-a-table': /At what time/,
  'hangs-up-early: fully-booked': /your phone number/,
  'silence: books-a-table': /At what time/,
  'silence: house-facts': /anything else/,
  'silence: keeps-its-prompt': /can't share how I was set up/,
  'silence: fully-booked': /your phone number/,
};

/** All calls that failed because of a planted fault. The record of a real call shows no fault of the connection. */
const PLANTED = trials(1).flatMap(({ fault, ...trial }) => {
  const expected = fault && EXPECTED[fault][trial.key];
  return expected && !('failure' in expected) && expected.fails.length > 0 ? [{ ...trial, fault }] : [];
});

describe('a call that failed, as a test', () => {
  it('has 36 planted cases', () => expect(PLANTED).toHaveLength(36));

  it.each(sample(PLANTED).map((trial) => [trial.fault, trial.key, trial] as const))(
    'is red against the agent with the fault %s in %s, and never against the healthy one',
    async (fault, key, trial) => {
      const { result } = await executeTrial(trial, transport(fault), new VirtualClock());
      const test = await asTest(result, key, fault);
      expect(test).toMatchObject({ notFailing: [], faulty: { outcome: 'failed' } });
      const unanswered = NEED_MORE_LINES[`${fault}: ${key}`];
      expect(test?.healthy).toMatchObject(
        unanswered
          ? { outcome: 'invalid', invalidity: { code: 'no_answer', message: expect.stringMatching(unanswered) } }
          : { outcome: 'passed', invalidity: null },
      );
    },
  );
});
