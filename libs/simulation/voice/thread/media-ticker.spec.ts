import { MediaTicker } from './media-ticker.js';

describe('MediaTicker', () => {
  let now = 0;
  let ticker: MediaTicker;
  beforeEach(() => {
    jest.useFakeTimers();
    now = 0;
    ticker = new MediaTicker(() => now);
  });
  afterEach(() => jest.useRealTimers());

  const pass = (ms: number) => {
    for (let n = 0; n < ms; n++) {
      now++;
      jest.advanceTimersByTime(1);
    }
  };

  it('calls everything every 5 ms with one timer', () => {
    const times: number[] = [];
    const [first, second] = [jest.fn((at: number) => times.push(at)), jest.fn()];
    ticker.add(first);
    ticker.add(second);
    expect(jest.getTimerCount()).toBe(1);
    pass(20);
    expect(times).toEqual([5, 10, 15, 20]);
    expect(second).toHaveBeenCalledTimes(4);
    expect(jest.getTimerCount()).toBe(1);
  });

  it('keeps its grid after a stall, without calls for each deadline that was missed', () => {
    const times: number[] = [];
    ticker.add((at) => times.push(at));
    pass(5);
    now += 103;
    jest.advanceTimersByTime(5);
    expect(times).toEqual([5, 108]);
    pass(10);
    expect(times).toEqual([5, 108, 110, 115]);
  });

  it('passes the deadline, and fires neither before it nor a whole millisecond after', () => {
    now = 0.4;
    const deadlines: number[] = [];
    const late: number[] = [];
    ticker.add((at, deadline) => {
      deadlines.push(deadline);
      late.push(at - deadline);
    });
    pass(20);
    expect(deadlines).toEqual([5.4, 10.4, 15.4, 20.4]);
    expect(late.every((ms) => ms >= 0 && ms < 1)).toBe(true);
  });

  it('has no timer without calls, and starts again', () => {
    const tick = jest.fn();
    ticker.add(tick);
    pass(5);
    ticker.delete(tick);
    expect(jest.getTimerCount()).toBe(0);
    pass(20);
    expect(tick).toHaveBeenCalledTimes(1);
    ticker.add(tick);
    pass(5);
    expect(tick).toHaveBeenCalledTimes(2);
  });

  it('goes on if a call ends itself', () => {
    const other = jest.fn();
    const once: jest.Mock<void, []> = jest.fn(() => ticker.delete(once));
    ticker.add(once);
    ticker.add(other);
    pass(15);
    expect(once).toHaveBeenCalledTimes(1);
    expect(other).toHaveBeenCalledTimes(3);
    expect(ticker.size).toBe(1);
  });
});
