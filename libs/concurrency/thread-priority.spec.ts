import { constants, getPriority, setPriority } from 'node:os';
import { ThreadPool } from './thread-pool.js';

/** Whether this process may raise priorities, on a system where threads have their own. */
function mayRaise(): boolean {
  if (process.platform !== 'linux') return false;
  const before = getPriority();
  try {
    setPriority(before - 1);
    setPriority(before);
    return true;
  } catch {
    return false;
  }
}

describe('preferThread', () => {
  const isAllowed = mayRaise();

  it(`${isAllowed ? 'raises the priority of the thread alone' : 'changes nothing without the right to'}`, async () => {
    const before = getPriority();
    const limits = { threads: 1, heapMiB: 64, timeoutMs: 20_000, idleMs: 60_000 };
    const pool = new ThreadPool<string, [boolean, number]>({
      entry: new URL('./testing/tasks.js', import.meta.url),
      ...limits,
    });
    const expected = isAllowed ? constants.priority.PRIORITY_ABOVE_NORMAL : before;
    expect(await pool.run('prefer')).toEqual([isAllowed, expected]);
    expect(getPriority()).toBe(before);
    await pool.close();
  });
});
