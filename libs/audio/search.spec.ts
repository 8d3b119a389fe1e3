import fc from 'fast-check';
import { partitionPoint } from './index.js';

describe('partitionPoint', () => {
  it('counts the elements at the front that meet the condition, for any sorted list', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.integer({ min: -1, max: 21 }), (numbers, limit) => {
        const sorted = numbers.toSorted((a, b) => a - b);
        expect(partitionPoint(sorted, (one) => one <= limit)).toBe(numbers.filter((one) => one <= limit).length);
      }),
    );
  });

  it('calls the condition only a few times', () => {
    const isBefore = jest.fn((one: number) => one < 700_000);
    expect(
      partitionPoint(
        Array.from({ length: 1_000_000 }, (_, n) => n),
        isBefore,
      ),
    ).toBe(700_000);
    expect(isBefore.mock.calls.length).toBeLessThan(22);
  });
});
