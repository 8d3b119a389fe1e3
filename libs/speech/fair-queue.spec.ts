import { FairQueue } from './fair-queue.js';

describe('FairQueue', () => {
  it('lets owners take turns, and keeps the order of each', async () => {
    const queue = new FairQueue();
    const done: string[] = [];
    const add = (owner: string, name: string) =>
      queue.run(owner, async () => {
        await Promise.resolve();
        done.push(name);
      });
    await Promise.all([add('a', 'a1'), add('a', 'a2'), add('a', 'a3'), add('b', 'b1'), add('b', 'b2'), add('c', 'c1')]);
    expect(done).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  it('runs one task at a time, and goes on after a failure', async () => {
    const queue = new FairQueue();
    let running = 0;
    let most = 0;
    const task = (fails: boolean) => async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      if (fails) throw new Error('no sound');
      return 'sound';
    };
    const failing = queue.run('a', task(true));
    const following = queue.run('a', task(false));
    await expect(failing).rejects.toThrow('no sound');
    expect(await following).toBe('sound');
    expect(await queue.run('b', task(false))).toBe('sound');
    expect(most).toBe(1);
  });
});
