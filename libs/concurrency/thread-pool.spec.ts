import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { ThreadPool, type ThreadPoolOptions } from './thread-pool.js';

describe('ThreadPool', () => {
  let pool: ThreadPool<string, unknown>;
  const open = (options: Partial<ThreadPoolOptions> = {}) =>
    new ThreadPool<string, unknown>({
      entry: new URL('./testing/tasks.js', import.meta.url),
      threads: 1,
      heapMiB: 64,
      timeoutMs: 20_000,
      idleMs: 60_000,
      ...options,
    });
  afterEach(() => pool.close());

  it('runs tasks in a thread and reuses it', async () => {
    pool = open();
    expect(await Promise.all([pool.run('a'), pool.run('b')])).toEqual(['A', 'B']);
    expect(pool.size).toBe(1);
  });

  it('ends a task that exceeds its memory limit, with its thread, and runs the next one', async () => {
    pool = open();
    await expect(pool.run('fill')).rejects.toMatchObject({ limit: 'memory' });
    expect(pool.size).toBe(0);
    expect(await pool.run('a')).toBe('A');
  });

  it('limits the heap of a thread also if the process has a limit of its own', async () => {
    setFlagsFromString('--max-old-space-size=1024');
    const ofProcess = getHeapStatistics().heap_size_limit;
    pool = open();
    const MEBIBYTE = 1024 * 1024;
    // The young generation and its copies add to the limit.
    expect(await pool.run('limit')).toBeLessThan(200 * MEBIBYTE);
    expect(getHeapStatistics().heap_size_limit).toBe(ofProcess);
  });

  it('ends a task that exceeds its time limit, with its thread, while this thread goes on', async () => {
    pool = open({ timeoutMs: 1_000 });
    const waiting = pool.run('loop');
    let ticks = 0;
    const timer = setInterval(() => ticks++, 10);
    await expect(waiting).rejects.toMatchObject({ limit: 'time' });
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(10);
    expect(pool.size).toBe(0);
    expect(await pool.run('a')).toBe('A');
  });

  it.each([
    ['throw', 'thrown in the thread'],
    ['exit', 'The thread ended'],
  ])('rejects if the task does %s, and runs the next one', async (task, message) => {
    pool = open();
    await expect(pool.run(task)).rejects.toThrow(message);
    expect(await pool.run('a')).toBe('A');
  });

  it('ends threads that are idle', async () => {
    pool = open({ idleMs: 50 });
    expect(await pool.run('a')).toBe('A');
    for (let i = 0; i < 200 && pool.size > 0; i++) await new Promise((resolve) => setTimeout(resolve, 25));
    expect(pool.size).toBe(0);
  });

  it('rejects the tasks in progress when it closes', async () => {
    pool = open();
    const running = pool.run('loop');
    running.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await pool.close();
    await expect(running).rejects.toThrow('The thread ended');
    expect(pool.size).toBe(0);
  });
});
