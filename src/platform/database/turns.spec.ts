import { isDatabaseUnavailable } from './failures.js';
import { Turns } from './turns.js';

describe('turns', () => {
  const PATIENCE_MS = 60_000;
  /** Work that ends when it is told to. */
  const held = () => {
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    return { work: () => ended, end };
  };

  it('come one after the other for one subject, whether or not the one before failed', async () => {
    const [turns, order] = [new Turns(), [] as string[]];
    const first = held();
    const results = [
      turns.run('a', PATIENCE_MS, async () => {
        await first.work();
        order.push('first');
        throw new Error('no');
      }),
      turns.run('a', PATIENCE_MS, async () => order.push('second')),
      turns.run('b', PATIENCE_MS, async () => order.push('another subject')),
    ];
    await results[2];
    expect(order).toEqual(['another subject']);
    first.end();
    const settled = await Promise.allSettled(results);
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
    expect(order).toEqual(['another subject', 'first', 'second']);
  });

  it('that do not come in time are given up, and not taken later', async () => {
    const turns = new Turns();
    const first = held();
    let isTaken = false;
    const slow = turns.run('a', PATIENCE_MS, first.work);
    const late = turns.run('a', 1, async () => (isTaken = true)).catch((error: unknown) => error);
    expect(isDatabaseUnavailable(await late)).toBe(true);
    first.end();
    await slow;
    await turns.run('a', PATIENCE_MS, async () => undefined);
    expect(isTaken).toBe(false);
  });
});
