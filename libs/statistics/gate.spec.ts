import { gate, gateConditions, type GateSettings } from './gate.js';
import type { Outcome } from './outcome.js';

const OUTCOMES: Readonly<Record<string, Outcome>> = { p: 'passed', f: 'failed', e: 'error', i: 'invalid' };
const STRICT: GateSettings = { minimumScore: null, minimumPassRate: null, allowedUncounted: 0 };

const calls = (evaluationId: string, letters: string) =>
  [...letters].map((letter) => {
    const outcome = OUTCOMES[letter]!;
    return { evaluationId, outcome, score: outcome === 'passed' ? 100 : outcome === 'failed' ? 40 : null };
  });

/** Decides on calls of the evaluations "a" (not critical) and "c" (critical, if it has any). */
function decide(others: string, own: string, settings: Partial<GateSettings> = {}) {
  const critical = own === '' ? [] : [{ evaluationId: 'c', name: 'Books' }];
  return gate({ ...STRICT, ...settings, calls: [...calls('a', others), ...calls('c', own)], critical });
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
    expect(decide(others, own, settings)).toEqual({ met: true, exitCode: 0, reasons: [] });
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
    expect(decide(others, own, settings)).toEqual({ met: false, exitCode, reasons });
  });

  it('does not round a pass rate up to its minimum', () => {
    const { met, reasons } = decide('p'.repeat(9_995) + 'f'.repeat(5), '', { minimumPassRate: 0.9996 });
    expect(met).toBe(false);
    expect(reasons[0]).toContain('pass rate of 0.999 (');
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
    expect(gateConditions({ minimumScore: 80, minimumPassRate: 0.9, allowedUncounted: 3 }, 0)).toEqual([
      'at most 3 planned calls not tested',
      'a score of at least 80',
      'a pass rate of at least 0.9',
    ]);
  });
});
