import { gate, gateConditions, type GateInput, type GateSettings } from './gate.js';
import type { Outcome } from './outcome.js';

const OUTCOMES: Readonly<Record<string, Outcome>> = { p: 'passed', f: 'failed', e: 'error', i: 'invalid' };
const STRICT: GateSettings = { minimumScore: null, minimumPassRate: null, allowedUncounted: 0, notWorseThan: null };

const calls = (caseKey: string, letters: string) =>
  [...letters].map((letter) => {
    const outcome = OUTCOMES[letter]!;
    return { caseKey, outcome, score: outcome === 'passed' ? 100 : outcome === 'failed' ? 40 : null };
  });

/** Decides on calls of the evaluations "a" (not critical) and "c" (critical, if it has any). */
function decide(others: string, own: string, settings: Partial<GateSettings> = {}) {
  const critical = own === '' ? [] : [{ caseKey: 'c', name: 'Books' }];
  return gate({
    ...STRICT,
    ...settings,
    calls: [...calls('a', others), ...calls('c', own)],
    critical,
    cases: [],
    baseline: null,
  });
}

describe('gate', () => {
  it.each<[string, string, Partial<GateSettings>]>([
    ['ppp', '', {}],
    ['pp', 'p', {}],
    ['pf', '', { minimumScore: 70 }],
    ['pf', '', { minimumPassRate: 0.5 }],
    ['pf', 'pp', { minimumScore: 85, minimumPassRate: 0.75 }],
    ['pe', '', { allowedUncounted: 1 }],
    ['pei', 'p', { allowedUncounted: 2 }],
  ])('is met for calls %s and critical calls %s with %j', (others, own, settings) => {
    expect(decide(others, own, settings)).toEqual({ met: true, exitCode: 0, reasons: [], warnings: [] });
  });

  const EVERY = 'without a minimum score or pass rate, every one must pass.';
  it.each<[string, string, Partial<GateSettings>, 1 | 2, string[]]>([
    ['f', '', {}, 1, [`1 of 1 counted call failed; ${EVERY}`]],
    ['pf', '', { allowedUncounted: 1 }, 1, [`1 of 2 counted calls failed; ${EVERY}`]],
    ['pe', '', {}, 2, ['1 of 2 planned calls could not be tested (1 ended as error); allowed: 0.']],
    ['pe', '', { minimumScore: 90 }, 2, ['1 of 2 planned calls could not be tested (1 ended as error); allowed: 0.']],
    [
      'ppeii',
      '',
      { allowedUncounted: 2 },
      2,
      ['3 of 5 planned calls could not be tested (1 ended as error, 2 ended as invalid); allowed: 2.'],
    ],
    ['pf', 'p', { minimumScore: 90 }, 1, ['The score of 80 is below the minimum of 90.']],
    [
      'pff',
      '',
      { minimumPassRate: 0.5 },
      1,
      ['The pass rate of 0.333 (1 of 3 counted calls) is below the minimum of 0.5.'],
    ],
    ['p', 'pf', { minimumScore: 0 }, 1, ['The critical evaluation "Books" failed in 1 of 2 counted calls.']],
    ['p', 'e', { allowedUncounted: 1 }, 1, ['The critical evaluation "Books" has no counted calls.']],
    ['eei', '', { allowedUncounted: 5 }, 2, ['No call could be counted: 2 ended as error, 1 ended as invalid.']],
    ['', '', {}, 2, ['No call could be counted.']],
    [
      'fe',
      '',
      {},
      1,
      [
        `1 of 1 counted call failed; ${EVERY}`,
        '1 of 2 planned calls could not be tested (1 ended as error); allowed: 0.',
      ],
    ],
  ])('is not met for calls %s and critical calls %s with %j', (others, own, settings, exitCode, reasons) => {
    expect(decide(others, own, settings)).toEqual({ met: false, exitCode, reasons, warnings: [] });
  });

  it('says that only provisional calls were made', () => {
    const nothing = { ...STRICT, calls: [], critical: [], cases: [], baseline: null, provisional: 2 };
    expect(gate(nothing)).toMatchObject({ exitCode: 2, reasons: ['No call could be counted: 2 provisional.'] });
    expect(gate({ ...nothing, calls: calls('a', 'p') })).toMatchObject({ exitCode: 0, reasons: [] });
  });

  it('does not round a pass rate up to its minimum', () => {
    const { met, reasons } = decide('p'.repeat(9_995) + 'f'.repeat(5), '', { minimumPassRate: 0.9996 });
    expect(met).toBe(false);
    expect(reasons[0]).toContain('pass rate of 0.999 (');
  });
});

describe('gate of a derived run', () => {
  const derived = (letters: string, leftOut: NonNullable<GateInput['leftOut']>, allowedUncounted = 0) =>
    gate({ ...STRICT, allowedUncounted, calls: calls('a', letters), critical: [], cases: [], baseline: null, leftOut });

  it('counts the calls that are left out as not tested', () => {
    const reasons = ['3 of 5 planned calls could not be tested (1 ended as error, 2 left out); allowed: 0.'];
    expect(derived('ppe', { calls: 2, critical: [] })).toMatchObject({ met: false, exitCode: 2, reasons });
    expect(derived('ppe', { calls: 2, critical: [] }, 3)).toMatchObject({ met: true, exitCode: 0 });
  });

  it('is not met without a call of a critical evaluation', () => {
    const reasons = ['The critical evaluation "Books" has no counted calls.'];
    expect(derived('pp', { calls: 1, critical: ['Books'] }, 1)).toMatchObject({ met: false, exitCode: 1, reasons });
  });
});

describe('gate with a baseline', () => {
  const BEFORE = { name: 'Nightly', cases: [{ caseKey: 'a', counted: 20, passed: 19 }] };
  const CASES = [{ caseKey: 'a', name: 'Books' }];
  const against = (letters: string, input: Partial<GateInput> = {}) =>
    gate({
      ...STRICT,
      minimumPassRate: 0,
      notWorseThan: 'previous',
      calls: calls('a', letters),
      critical: [],
      cases: CASES,
      baseline: BEFORE,
      ...input,
    });

  it('is met if the difference is not larger than chance', () => {
    expect(against('p'.repeat(15) + 'f'.repeat(5))).toEqual({ met: true, exitCode: 0, reasons: [], warnings: [] });
  });

  it('is not met if a case became worse, with its numbers', () => {
    expect(against('p'.repeat(12) + 'f'.repeat(8))).toEqual({
      met: false,
      exitCode: 1,
      reasons: [
        '"Books" became worse than in run "Nightly": 12 of 20 counted calls passed, instead of 19 of 20 (p = 0.010).',
      ],
      warnings: [],
    });
  });

  it('is not met if only all shared cases together became worse', () => {
    const keys = [...'abcdefgh'];
    const result = against('', {
      calls: keys.flatMap((key) => calls(key, 'pf')),
      cases: keys.map((caseKey) => ({ caseKey, name: caseKey.toUpperCase() })),
      baseline: { name: 'Nightly', cases: keys.map((caseKey) => ({ caseKey, counted: 2, passed: 2 })) },
    });
    expect(result).toMatchObject({ met: false, exitCode: 1 });
    expect(result.reasons).toEqual([
      'The 8 shared cases together became worse than in run "Nightly": 8 of 16 counted calls passed, instead of 16 of 16 (p = 0.035).',
    ]);
  });

  it('does not loosen the strict gate, and goes before untested calls', () => {
    const { exitCode, reasons } = against('p'.repeat(12) + 'f'.repeat(8) + 'e', { minimumPassRate: null });
    expect([exitCode, reasons.length]).toEqual([1, 3]);
  });

  it('is met with a warning if there was no previous run', () => {
    expect(against('ppp', { baseline: null })).toMatchObject({
      met: true,
      warnings: ['There is no previous completed run to compare with.'],
    });
  });

  it('warns about cases with too few counted calls, and about cases that the baseline does not have', () => {
    const baseline = { name: 'Nightly', cases: [{ caseKey: CASES[0]!.caseKey, counted: 2, passed: 2 }] };
    const cases = [...CASES, { caseKey: 'new', name: 'New' }];
    expect(against('ff', { cases, baseline })).toMatchObject({
      met: true,
      warnings: [
        '"Books": too few counted calls in one of the runs to find a difference; each run needs 3 of a case.',
        '1 of the cases is not in the other run.',
      ],
    });
  });

  it('names at most ten cases', () => {
    const keys = Array.from({ length: 15 }, (_, index) => `case-${index}`);
    const { reasons } = against('', {
      calls: keys.flatMap((key) => calls(key, 'f'.repeat(20))),
      cases: keys.map((caseKey) => ({ caseKey, name: caseKey })),
      baseline: { name: 'Nightly', cases: keys.map((caseKey) => ({ caseKey, counted: 20, passed: 20 })) },
    });
    expect(reasons).toHaveLength(12);
    expect(reasons[10]).toBe('5 more cases became worse than in run "Nightly".');
  });
});

describe('gateConditions', () => {
  it('describes the strict gate', () => {
    expect(gateConditions(STRICT, 2)).toEqual([
      'every planned call tested',
      'every counted call of the critical evaluations (2) passed',
      'every counted call passed',
    ]);
  });

  it('describes a loosened gate', () => {
    expect(
      gateConditions({ minimumScore: 80, minimumPassRate: 0.9, allowedUncounted: 3, notWorseThan: null }, 0),
    ).toEqual(['at most 3 planned calls not tested', 'a score of at least 80', 'a pass rate of at least 0.9']);
  });

  it('names the baseline', () => {
    expect(gateConditions({ ...STRICT, notWorseThan: 'previous' }, 0)).toContain(
      'no case worse than in the previous run',
    );
    expect(gateConditions({ ...STRICT, notWorseThan: '1d8c' }, 0)).toContain('no case worse than in run 1d8c');
  });
});
