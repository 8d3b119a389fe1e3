import { FailureRate } from './failure-rate.js';

const added = (rate: FailureRate, ...failures: (0 | 1)[]) => failures.map((one) => rate.add(one === 1)).at(-1);
const times = (count: number, one: 0 | 1) => Array<0 | 1>(count).fill(one);

describe('FailureRate', () => {
  it('is high when more than half of at least ten requests failed, and says so once', () => {
    const rate = new FailureRate();
    expect(added(rate, ...times(9, 1))).toBeUndefined();
    expect(added(rate, 1)).toEqual({ failed: 10, requests: 10 });
    expect(added(rate, 1)).toBeUndefined();
  });

  it('is not high when half of them failed', () => {
    const rate = new FailureRate();
    expect(added(rate, ...times(10, 0), ...times(10, 1))).toBeUndefined();
    expect(added(rate, 1)).toEqual({ failed: 11, requests: 20 });
  });

  it('forgets what was before the last twenty, and can be high again', () => {
    const rate = new FailureRate();
    expect(added(rate, ...times(10, 1))).toEqual({ failed: 10, requests: 10 });
    added(rate, ...times(20, 0));
    expect(added(rate, ...times(10, 1))).toBeUndefined();
    expect(added(rate, 1)).toEqual({ failed: 11, requests: 20 });
  });
});
