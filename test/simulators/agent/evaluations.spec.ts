import { authored, inputViolations, createValidationContext } from '../../../libs/evaluation-definition/index.js';
import { type EvaluationKey, EVALUATION_KEYS, referenceEvaluations } from './evaluations.js';
import { EXPECTED, expectationOf } from './expected.js';
import { FAULT_NAMES, type FaultName } from './faults.js';
import { play } from './testing/play.js';

const evaluations = referenceEvaluations('c7e15a3b-2f68-4d90-a1b4-8e9d0c6f7251');
const byKey = new Map(evaluations.map((input) => [input.key, authored(input, '')]));
const evaluation = (key: EvaluationKey) => byKey.get(key)!;
const pairs = (faults: readonly (FaultName | undefined)[]) =>
  faults.flatMap((fault) => EVALUATION_KEYS.map((key) => [fault ?? 'healthy', key, fault] as const));

describe('referenceEvaluations', () => {
  it('are valid', () => {
    const context = createValidationContext();
    expect(evaluations.map((input) => [input.key, inputViolations('file', input, context)])).toEqual(
      EVALUATION_KEYS.map((key) => [key, []]),
    );
  });

  it('give every check a unique name', () => {
    for (const { checks } of byKey.values()) expect(new Set(checks.map(({ name }) => name)).size).toBe(checks.length);
  });
});

describe('EXPECTED', () => {
  it('has a row with at least one expected failure for every fault', () => {
    expect(Object.keys(EXPECTED)).toEqual(FAULT_NAMES);
    for (const row of Object.values(EXPECTED)) expect(Object.keys(row).length).toBeGreaterThan(0);
  });

  it.each(pairs([undefined, ...FAULT_NAMES]))('matches the behaviour with %s in %s', async (_name, key, fault) => {
    const expected = expectationOf(fault, key);
    const { failed, failure, hasGivenUp } = await play(evaluation(key), fault);
    if ('failure' in expected) {
      expect(failure).toBe(expected.failure);
      return;
    }
    expect(failure).toBeUndefined();
    expect(hasGivenUp).toBe(expected.outcome === 'failed' && expected.endCode === 'agent_silent');
    const must: readonly string[] = expected.outcome === 'failed' ? expected.fails : [];
    const may: readonly string[] = expected.outcome === 'failed' ? (expected.mayFail ?? []) : [];
    expect(failed.filter((name) => !may.includes(name)).sort()).toEqual([...must].sort());
  });

  it('shows the healthy agent as it is meant to be: it hangs up where it should and books each table once', async () => {
    const played = await play(evaluation('all-details-at-once'));
    expect(played.tools.map(({ name }) => name)).toEqual(['check_availability', 'book_table', 'end_call']);
    expect(played).toMatchObject({ turns: 3, endedBy: 'agent' });
  });
});
