import { PrioritySemaphore } from './priority-semaphore.js';

describe('PrioritySemaphore', () => {
  it('limits concurrent tasks, runs urgent ones first, and continues after a failure', async () => {
    const semaphore = new PrioritySemaphore(2);
    const order: string[] = [];
    const ends = new Map<string, () => void>();
    const work = (name: string, isUrgent = false) =>
      semaphore.run(
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

  it('gives up a task whose signal is aborted while it waits, and keeps its permit for the next one', async () => {
    const semaphore = new PrioritySemaphore(1);
    let end = () => {};
    const first = semaphore.run(() => new Promise<void>((resolve) => (end = resolve)));
    const controller = new AbortController();
    const skipped = jest.fn();
    const second = semaphore.run(async () => skipped(), { signal: controller.signal });
    const third = semaphore.run(async () => 'third');
    controller.abort(new Error('cancelled'));
    await expect(second).rejects.toThrow('cancelled');
    await expect(semaphore.run(async () => skipped(), { signal: controller.signal })).rejects.toThrow('cancelled');
    end();
    await first;
    expect(await third).toBe('third');
    expect(await semaphore.run(async () => 'fourth')).toBe('fourth');
    expect(skipped).not.toHaveBeenCalled();
  });
});
