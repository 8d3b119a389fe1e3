import { KeyedQueue, QueueFull } from './keyed-queue.js';

describe('KeyedQueue', () => {
  const tick = () => new Promise((resolve) => setImmediate(resolve));
  const open = new AbortController().signal;

  it('runs one task per key at a time, in order, and continues after a failure', async () => {
    const queue = new KeyedQueue({ maxWaiting: 2 });
    const order: string[] = [];
    const ends = new Map<string, () => void>();
    const run = (key: string, name: string) =>
      queue.run(
        key,
        async () => {
          order.push(name);
          await new Promise<void>((resolve) => ends.set(name, resolve));
          if (name === 'a1') throw new Error('failed');
        },
        open,
      );
    const all = [run('a', 'a1'), run('a', 'a2'), run('b', 'b1'), run('a', 'a3')];
    const settled = Promise.allSettled(all);
    await tick();
    expect(order).toEqual(['a1', 'b1']);
    await expect(run('a', 'a4')).rejects.toThrow(QueueFull);
    for (const name of ['a1', 'a2', 'a3', 'b1']) {
      ends.get(name)?.();
      await tick();
    }
    expect(order).toEqual(['a1', 'b1', 'a2', 'a3']);
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
  });

  it('removes a waiting task whose signal fires, and accepts another one in its place', async () => {
    const queue = new KeyedQueue({ maxWaiting: 1 });
    let end = () => {};
    const first = queue.run('a', () => new Promise<void>((resolve) => (end = resolve)), open);
    const abort = new AbortController();
    const task = jest.fn(() => Promise.resolve());
    const second = queue.run('a', task, abort.signal);
    abort.abort(new Error('gone'));
    await expect(second).rejects.toThrow('gone');
    const third = queue.run('a', () => Promise.resolve('third'), open);
    end();
    await first;
    expect(await third).toBe('third');
    expect(task).not.toHaveBeenCalled();
  });
});
