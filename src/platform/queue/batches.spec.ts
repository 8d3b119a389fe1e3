import { Batches } from './batches.js';

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** Batches whose ends a test decides upon. */
function held<Result>(answer: (item: string) => Result, options: { size?: number; atOnce?: number } = {}) {
  const carried: (readonly string[])[] = [];
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  let idle = 0;
  const batches = new Batches<string, Result>({
    size: options.size ?? 3,
    ...(options.atOnce !== undefined && { atOnce: options.atOnce }),
    carryOut: async (items) => {
      carried.push(items);
      await new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
      return items.map(answer);
    },
    mayDivide: (error) => (error as Error).message === 'one of them',
    onIdle: () => idle++,
  });
  return { batches, carried, ends, idle: () => idle };
}

describe('batches', () => {
  it('carries out at once what comes at once, and then together what came meanwhile, each with its own result', async () => {
    const { batches, carried, ends, idle } = held((item) => item.toUpperCase());
    const first = batches.add('a');
    const second = batches.add('b');
    await tick();
    const later = ['c', 'd', 'e', 'f'].map((item) => batches.add(item));
    await tick();
    expect(carried).toEqual([['a', 'b']]);
    ends[0]!.resolve();
    expect(await Promise.all([first, second])).toEqual(['A', 'B']);
    await tick();
    expect(carried.slice(1)).toEqual([['c', 'd', 'e']]);
    ends[1]!.resolve();
    await tick();
    expect(carried.slice(2)).toEqual([['f']]);
    expect(idle()).toBe(0);
    ends[2]!.resolve();
    expect(await Promise.all(later)).toEqual(['C', 'D', 'E', 'F']);
    await tick();
    expect(idle()).toBe(1);
  });

  it('puts no more into one than it may weigh, unless one alone is heavier', async () => {
    const carried: (readonly string[])[] = [];
    const batches = new Batches<string, number>({
      size: 10,
      weight: { of: (item) => item.length, most: 4 },
      carryOut: async (items) => {
        carried.push(items);
        return items.map((item) => item.length);
      },
    });
    const items = ['aa', 'b', 'cc', 'dddddd', 'e', 'ff'];
    expect(await Promise.all(items.map((item) => batches.add(item)))).toEqual([2, 1, 2, 6, 1, 2]);
    expect(carried).toEqual([['aa', 'b'], ['cc'], ['dddddd'], ['e', 'ff']]);
  });

  it('has as many batches under way as it may', async () => {
    const { batches, carried, ends } = held((item) => item, { size: 1, atOnce: 2 });
    const all = ['a', 'b', 'c'].map((item) => batches.add(item));
    await tick();
    expect(carried).toEqual([['a'], ['b']]);
    ends[1]!.resolve();
    expect(await all[1]).toBe('b');
    await tick();
    expect(carried).toEqual([['a'], ['b'], ['c']]);
    for (const end of ends) end.resolve();
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c']);
  });

  it('gives a failure to all of its batch, and goes on', async () => {
    const { batches, ends } = held((item) => item);
    const failed = Promise.allSettled([batches.add('a'), batches.add('b')]);
    await tick();
    const next = batches.add('c');
    ends[0]!.reject(new Error('away'));
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await tick();
    ends[1]!.resolve();
    expect(await next).toBe('c');
  });

  it("carries out one by one what may have failed for one item's sake, so that only that one fails", async () => {
    const carried: (readonly string[])[] = [];
    const batches = new Batches<string, string>({
      size: 10,
      carryOut: (items) => {
        carried.push(items);
        return items.includes('bad') ? Promise.reject(new Error('refused')) : Promise.resolve(items);
      },
      mayDivide: (error) => (error as Error).message === 'refused',
    });
    const settled = await Promise.allSettled(['good', 'bad', 'fine'].map((item) => batches.add(item)));
    expect(carried).toEqual([['good', 'bad', 'fine'], ['good'], ['bad'], ['fine']]);
    expect(settled).toMatchObject([
      { value: 'good' },
      { status: 'rejected', reason: { message: 'refused' } },
      { value: 'fine' },
    ]);
  });
});
