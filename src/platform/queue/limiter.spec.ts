import { Limiter } from './limiter.js';

describe('limiter', () => {
  it('runs no more than it may, urgent work first, and goes on after a failure', async () => {
    const limiter = new Limiter(2);
    const order: string[] = [];
    const ends = new Map<string, () => void>();
    const work = (name: string, isUrgent = false) =>
      limiter.run(
        async () => {
          order.push(name);
          await new Promise<void>((resolve) => ends.set(name, resolve));
          if (name === 'b') throw new Error('failed');
        },
        { isUrgent },
      );
    const all = [work('a'), work('b'), work('c'), work('d'), work('e', true)];
    const settled = Promise.allSettled(all);
    const tick = () => new Promise((resolve) => setImmediate(resolve));
    await tick();
    expect(order).toEqual(['a', 'b']);
    ends.get('b')?.();
    await tick();
    expect(order).toEqual(['a', 'b', 'e']);
    for (const name of ['a', 'e']) ends.get(name)?.();
    await tick();
    expect(order).toEqual(['a', 'b', 'e', 'c', 'd']);
    for (const name of ['c', 'd']) ends.get(name)?.();
    expect((await settled).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      ...Array(3).fill('fulfilled'),
    ]);
  });
});
