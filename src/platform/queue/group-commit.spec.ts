import { GroupCommit } from './group-commit.js';

const tick = () => new Promise((resolve) => setImmediate(resolve));
const unavailable = Object.assign(new Error('unavailable'), { code: 'ECONNREFUSED' });

/** A group commit whose batches end when the test says so. */
function controlled<Result>(
  execute: (item: string) => Result,
  options: { maxItems?: number; concurrency?: number } = {},
) {
  const batches: (readonly string[])[] = [];
  const ends: { resolve: () => void; reject: (error: Error) => void }[] = [];
  const commit = new GroupCommit<string, Result>({
    maxItems: options.maxItems ?? 3,
    ...(options.concurrency !== undefined && { concurrency: options.concurrency }),
    execute: async (items) => {
      batches.push(items);
      await new Promise<void>((resolve, reject) => ends.push({ resolve, reject }));
      return items.map(execute);
    },
  });
  return { commit, batches, ends };
}

describe('GroupCommit', () => {
  it('executes the first items at once and batches those that arrive in the meantime, each with its own result', async () => {
    const { commit, batches, ends } = controlled((item) => item.toUpperCase());
    const first = commit.add('a');
    const second = commit.add('b');
    await tick();
    const later = ['c', 'd', 'e', 'f'].map((item) => commit.add(item));
    await tick();
    expect(batches).toEqual([['a', 'b']]);
    ends[0]!.resolve();
    expect(await Promise.all([first, second])).toEqual(['A', 'B']);
    await tick();
    expect(batches.slice(1)).toEqual([['c', 'd', 'e']]);
    ends[1]!.resolve();
    await tick();
    expect(batches.slice(2)).toEqual([['f']]);
    ends[2]!.resolve();
    expect(await Promise.all(later)).toEqual(['C', 'D', 'E', 'F']);
  });

  it('keeps batches within the maximum size, except for a single item that is larger', async () => {
    const batches: (readonly string[])[] = [];
    const commit = new GroupCommit<string, number>({
      maxItems: 10,
      size: { of: (item) => item.length, max: 4 },
      execute: async (items) => {
        batches.push(items);
        return items.map((item) => item.length);
      },
    });
    const items = ['aa', 'b', 'cc', 'dddddd', 'e', 'ff'];
    expect(await Promise.all(items.map((item) => commit.add(item)))).toEqual([2, 1, 2, 6, 1, 2]);
    expect(batches).toEqual([['aa', 'b'], ['cc'], ['dddddd'], ['e', 'ff']]);
  });

  it('runs as many batches at the same time as configured', async () => {
    const { commit, batches, ends } = controlled((item) => item, { maxItems: 1, concurrency: 2 });
    const all = ['a', 'b', 'c'].map((item) => commit.add(item));
    await tick();
    expect(batches).toEqual([['a'], ['b']]);
    ends[1]!.resolve();
    expect(await all[1]).toBe('b');
    await tick();
    expect(batches).toEqual([['a'], ['b'], ['c']]);
    for (const end of ends) end.resolve();
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c']);
  });

  it('rejects all items of a batch while the database is unavailable, and executes the next batch', async () => {
    const { commit, batches, ends } = controlled((item) => item);
    const failed = Promise.allSettled([commit.add('a'), commit.add('b')]);
    await tick();
    const next = commit.add('c');
    ends[0]!.reject(unavailable);
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await tick();
    ends[1]!.resolve();
    expect(await next).toBe('c');
    expect(batches).toEqual([['a', 'b'], ['c']]);
  });

  it('executes the items of a rejected batch one by one, so that only the invalid one fails', async () => {
    const batches: (readonly string[])[] = [];
    const commit = new GroupCommit<string, string>({
      maxItems: 10,
      execute: (items) => {
        batches.push(items);
        return items.includes('bad') ? Promise.reject(new Error('refused')) : Promise.resolve(items);
      },
    });
    const settled = await Promise.allSettled(['good', 'bad', 'fine'].map((item) => commit.add(item)));
    expect(batches).toEqual([['good', 'bad', 'fine'], ['good'], ['bad'], ['fine']]);
    expect(settled).toMatchObject([
      { value: 'good' },
      { status: 'rejected', reason: { message: 'refused' } },
      { value: 'fine' },
    ]);
  });
});
