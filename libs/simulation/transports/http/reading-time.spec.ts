import { ReadingTime } from './reading-time.js';

const LIMITS = { each: { sizeMs: 10, share: 0.01 }, all: { sizeMs: 20, share: 0.2 } };
const FLOOD_MS = 50;

describe('ReadingTime', () => {
  let now = 0;
  const time = () => new ReadingTime(LIMITS, () => now);
  beforeEach(() => {
    now = 0;
    jest.useFakeTimers();
  });
  afterEach(() => jest.useRealTimers());

  function pass(ms: number): void {
    now += ms;
    jest.advanceTimersByTime(ms);
  }

  it('makes a connection wait that has used more than its own time and the time of all', () => {
    const account = time().account();
    account.use(LIMITS.each.sizeMs + LIMITS.all.sizeMs - 1);
    expect(account.isOverdrawn).toBe(false);
    account.use(2);
    expect(account.isOverdrawn).toBe(true);
  });

  it('never makes a connection wait that keeps to its own time, whatever the others use', () => {
    const shared = time();
    shared.account().use(FLOOD_MS);
    const light = shared.account();
    for (let second = 0; second < 100; second++) {
      light.use(LIMITS.each.share * 1_000);
      expect(light.isOverdrawn).toBe(false);
      pass(1_000);
      shared.account().use(1_000);
    }
  });

  it('lets those that wait go on one after the other, in order, as the time of all is repaid', () => {
    const shared = time();
    const order: string[] = [];
    for (const name of ['a', 'b']) {
      const account = shared.account();
      account.use(FLOOD_MS);
      account.wait(() => {
        order.push(`${name} ${now}`);
        account.use(LIMITS.all.share * 1_000);
      });
    }
    for (let n = 0; n < 200; n++) pass(10);
    // Twice the 20 ms that are owed at most are repaid by a fifth of the time.
    expect(order).toEqual([expect.stringMatching(/^a 1[02]0$/), expect.stringMatching(/^b 2[0-4]0$/)]);
  });

  it('owes no more than what may be used at once, since the machine may have been stopped', () => {
    const account = time().account();
    account.use(60_000);
    expect(account.isOverdrawn).toBe(true);
    pass(LIMITS.all.sizeMs / LIMITS.all.share);
    expect(account.isOverdrawn).toBe(false);
  });
});
