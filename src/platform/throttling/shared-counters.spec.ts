import { WINDOW_MS } from './counters.js';
import type { Beginning, SharedCount } from './counter-link.js';
import { RedisLink } from './redis-link.js';
import { SharedCounters } from './shared-counters.js';

/** The link as the counters see it, with a Redis behind it that forgets or fails when told to. */
class FakeRedis extends RedisLink {
  readonly windows = new Map<string, { hits: number; resetAt: number }>();
  connection: number | undefined = 1;
  /** Whether it fails, and whether it has counted before it does. */
  failure: 'none' | 'before' | 'after' = 'none';

  constructor() {
    super('redis://fake');
  }

  override get generation(): number | undefined {
    return this.connection;
  }

  override async count(key: string, points: number, beginning: Beginning): Promise<SharedCount> {
    // Answers come later than the next requests.
    await Promise.resolve();
    if (this.failure !== 'before') {
      const window = this.windows.get(key) ?? { hits: beginning.hits, resetAt: beginning.resetAt };
      window.hits = Math.max(window.hits, beginning.hits) + points;
      this.windows.set(key, window);
    }
    const window = this.windows.get(key);
    if (this.failure !== 'none' || !window) {
      this.connection = undefined;
      throw new Error('away');
    }
    return [window.hits, 1_000, window.resetAt];
  }
}

describe('SharedCounters', () => {
  const KEY = 'workspace:a';
  const LIMIT = 10;
  let redis: FakeRedis;
  let counters: SharedCounters;

  beforeEach(() => {
    redis = new FakeRedis();
    counters = new SharedCounters(redis);
  });

  const hits = async (count: number) => {
    const counts = await Promise.all(Array.from({ length: count }, () => counters.increment(KEY, WINDOW_MS, LIMIT)));
    return counts.map(({ totalHits }) => totalHits);
  };

  it('gives every parallel request a number of its own while Redis goes away under them', async () => {
    expect(await hits(3)).toEqual([1, 2, 3]);
    redis.failure = 'before';
    expect((await hits(4)).sort((a, b) => a - b)).toEqual([4, 5, 6, 7]);
    expect(await hits(2)).toEqual([8, 9]);
  });

  it('tells Redis once what it has counted meanwhile', async () => {
    await hits(3);
    redis.connection = undefined;
    await hits(4);
    redis.connection = 2;
    expect((await hits(3)).sort((a, b) => a - b)).toEqual([8, 9, 10]);
    expect(redis.windows.get(KEY)?.hits).toBe(10);
  });

  it('begins where it was, and with the same end, when Redis has forgotten everything', async () => {
    const { resetAt } = await counters.increment(KEY, WINDOW_MS, LIMIT);
    await hits(3);
    redis.connection = undefined;
    await hits(2);
    redis.windows.clear();
    redis.connection = 2;

    expect(await counters.increment(KEY, WINDOW_MS, LIMIT)).toMatchObject({ totalHits: 7, resetAt });
    expect(await hits(1)).toEqual([8]);
  });

  it('does not lose what it has to tell when Redis goes away again at that moment', async () => {
    await hits(1);
    redis.connection = undefined;
    await hits(3);
    redis.connection = 2;
    redis.failure = 'before';
    expect(await hits(1)).toEqual([5]);
    redis.failure = 'none';
    redis.connection = 3;
    expect(await hits(1)).toEqual([6]);
  });

  it('is too strict rather than too generous when it cannot know whether Redis has counted', async () => {
    await hits(2);
    redis.failure = 'after';
    expect(await hits(1)).toEqual([3]);
    redis.failure = 'none';
    redis.connection = 2;
    expect((await hits(1))[0]).toBeGreaterThanOrEqual(4);
  });

  it('shows where a key stands without counting, whether Redis is there or not', async () => {
    await hits(2);
    expect(await counters.peek(KEY, WINDOW_MS, LIMIT)).toMatchObject({ totalHits: 2 });
    redis.connection = undefined;
    await hits(2);
    expect(await counters.peek(KEY, WINDOW_MS, LIMIT)).toMatchObject({ totalHits: 4 });
    redis.connection = 2;
    expect(await counters.peek(KEY, WINDOW_MS, LIMIT)).toMatchObject({ totalHits: 4 });
    redis.failure = 'before';
    expect(await counters.peek('workspace:b', WINDOW_MS, LIMIT)).toMatchObject({ totalHits: 0 });
    redis.failure = 'none';
    redis.connection = 3;
    expect(await hits(1)).toEqual([5]);
  });
});
