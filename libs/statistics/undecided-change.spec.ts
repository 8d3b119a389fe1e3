import { compareCases } from './comparison.js';
import { undecidedChange } from './undecided-change.js';

const of = (passed: number, counted: number) => ({ passed, counted });
const changeOf = (before: [number, number], now: [number, number], cases = 1) => {
  const one = { baseline: of(...before), current: of(...now) };
  const { change, callsNeeded } = compareCases(Array.from({ length: cases }, () => one)).cases[0]!;
  expect(change).toBe('undecided');
  return undecidedChange(one, callsNeeded!);
};

describe('undecidedChange', () => {
  it('says what changed and how many calls would exclude chance with this number of tests', () => {
    expect(changeOf([0, 1], [1, 1])).toBe('0/1 → 1/1, now passes (one call each: 3 would exclude chance)');
    expect(changeOf([2, 2], [0, 2], 5)).toBe('2/2 → 0/2, now fails (2 calls each: 5 would exclude chance)');
  });

  it('names a number of calls with which the comparison does exclude chance, and the one below it does not', () => {
    for (const cases of [1, 2, 5, 40]) {
      const needed = Number(/: (\d+) would/.exec(changeOf([0, 1], [1, 1], cases)!)![1]);
      const changeWith = (calls: number) =>
        compareCases(Array.from({ length: cases }, () => ({ baseline: of(0, calls), current: of(calls, calls) })))
          .cases[0]!.change;
      expect([changeWith(needed), changeWith(needed - 1)]).toEqual(['better', 'undecided']);
    }
  });

  it('promises nothing of a change that is not one from all to none', () => {
    expect(changeOf([1, 2], [2, 2])).toBe('1/2 → 2/2, now passes (2 calls each: to exclude chance takes at least 3)');
    expect(changeOf([1, 1], [1, 2])).toBe(
      '1/1 → 1/2, passes less often (1 and 2 calls: to exclude chance takes at least 3)',
    );
    expect(changeOf([0, 2], [1, 2])).toMatch(/^0\/2 → 1\/2, passes more often /);
    expect(changeOf([1, 2], [0, 1])).toMatch(/^1\/2 → 0\/1, now fails /);
  });

  it('is silent if nothing changed or nothing was counted', () => {
    expect(changeOf([1, 1], [1, 1])).toBeUndefined();
    expect(changeOf([1, 2], [1, 2])).toBeUndefined();
    expect(changeOf([0, 0], [1, 1])).toBeUndefined();
  });
});
