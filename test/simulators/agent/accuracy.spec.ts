import { type EvaluationInput, exampleOf, FIELD_NAMES, normalise } from '../../../libs/evaluation-definition/index.js';
import { executeCall, VirtualClock } from '../../../libs/simulation/index.js';
import { AGENTS, accuracyOf, executeTrial, isPerfect, tally, type Tried, trials } from './testing/accuracy.js';
import { referenceTransport } from './testing/transport.js';

/** Friday, 4 December 2026. */
const NOW = Date.UTC(2026, 11, 4, 10);

describe('accuracy of the evaluations', () => {
  let tried: Tried[];

  beforeAll(async () => {
    const clock = new VirtualClock();
    tried = await Promise.all(
      trials(1).map((trial) => executeTrial(trial, referenceTransport({ fault: trial.fault, now: () => NOW }), clock)),
    );
  });

  it.each(AGENTS.map((fault) => [fault ?? 'healthy', fault] as const))(
    'detects %s in exactly the expected evaluations, for the expected reason',
    (_name, fault) => {
      const own = tried.filter((one) => one.fault === fault);
      const shown = own.map(({ key, expected, result, isRightReason }) => {
        const isRight = result.outcome === expected.outcome && isRightReason === (expected.outcome === 'failed');
        return isRight ? `${key}: right` : `${key}: ${result.outcome}, ${result.reason}`;
      });
      expect(shown).toEqual(own.map(({ key }) => `${key}: right`));
      expect(own).toHaveLength(10);
    },
  );

  it('is 100 % for correct results, and less with one wrong call', () => {
    expect(accuracyOf(tally(tried))).toEqual({ precision: 1, recall: 1, reasonPrecision: 1, reasonRecall: 1 });
    expect(isPerfect(tally(tried))).toBe(true);
    const failed = tried.find(({ result }) => result.outcome === 'failed')!;
    const passed = tried.find(({ result }) => result.outcome === 'passed')!;
    const instead = (one: Tried, changed: Partial<Tried>) =>
      tally(tried.map((other) => (other === one ? { ...one, ...changed } : other)));
    const outcome = (one: Tried, other: Tried['result']['outcome']) =>
      instead(one, { result: { ...one.result, outcome: other }, isRightReason: false });
    const wrong = [
      outcome(failed, 'passed'),
      outcome(failed, 'error'),
      outcome(passed, 'failed'),
      outcome(passed, 'invalid'),
      instead(failed, { isRightReason: false }),
    ];
    expect(wrong.map(isPerfect)).toEqual(wrong.map(() => false));
    expect(accuracyOf(wrong[0]!)).toMatchObject({ precision: 1 });
    expect(accuracyOf(wrong[0]!).recall).toBeLessThan(1);
    expect(accuracyOf(wrong[2]!).precision).toBeLessThan(1);
    expect(accuracyOf(wrong[4]!)).toMatchObject({ precision: 1, recall: 1 });
    expect(accuracyOf(wrong[4]!).reasonRecall).toBeLessThan(1);
  });
});

describe('the example evaluation of the API documentation', () => {
  it('is passed by the healthy agent', async () => {
    const example = exampleOf(FIELD_NAMES) as unknown as EvaluationInput;
    const result = await executeCall({
      definition: { ...normalise(example), criteria: [] },
      scenario: { scenarioText: example.scenarioText },
      personality: { name: 'Impatient regular' },
      transport: referenceTransport({ now: () => NOW }),
      clock: new VirtualClock(),
    });
    expect(result).toMatchObject({ outcome: 'passed', score: 100 });
  });
});
