import { type DefinitionInput, normalise, withVariables } from '../../../libs/evaluation-definition/index.js';
import { type CallResult, executeCall, promote, VirtualClock } from '../../../libs/simulation/index.js';
import { referenceEvaluations } from './evaluations.js';
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
  return { name: `${fault}: ${key}`, notFailing, faulty: faulty!, healthy: healthy! };
}

/** Calls that ended before their callers had said what a better agent asks for: the lines of such a test must be completed. */
const NEED_MORE_LINES = [
  'loops: books-a-table',
  'loops: fully-booked',
  'skips-confirmation: books-a-table',
  'double-booking: fully-booked',
  'hangs-up-early: books-a-table',
  'hangs-up-early: fully-booked',
  'silence: books-a-table',
  'silence: house-facts',
  'silence: keeps-its-prompt',
  'silence: fully-booked',
];

describe('a call that failed, as a test', () => {
  it('is red against the agent with its fault, and green against the healthy one', async () => {
    const planted = trials(1).flatMap(({ fault, ...trial }) => (fault ? [{ ...trial, fault }] : []));
    const tests = await Promise.all(
      planted.map(async (trial) => {
        const { result, key } = await executeTrial(trial, transport(trial.fault), new VirtualClock());
        // The record of a real call shows no fault of the connection.
        return result.outcome === 'failed' && !result.failure ? asTest(result, key, trial.fault) : undefined;
      }),
    );
    const made = tests.flatMap((test) => test ?? []);
    const named = (is: (test: (typeof made)[number]) => boolean) => made.flatMap((test) => (is(test) ? test.name : []));
    expect(named(({ faulty }) => faulty.outcome !== 'failed')).toEqual([]);
    expect(named(({ notFailing }) => notFailing.length > 0)).toEqual([]);
    expect(named(({ healthy }) => healthy.outcome !== 'passed')).toEqual(NEED_MORE_LINES);
    expect(made.length - NEED_MORE_LINES.length).toBeGreaterThanOrEqual(20);
  });
});
