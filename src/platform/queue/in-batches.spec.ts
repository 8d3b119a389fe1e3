import { inBatches } from './in-batches.js';

const NEVER = new AbortController().signal;

describe('inBatches', () => {
  it('repeats the batch until it finds nothing to do', async () => {
    const sizes = [3, 1, 0, 5];
    expect(await inBatches(async () => sizes.shift() ?? 0, NEVER)).toBe(true);
    expect(sizes).toEqual([5]);
  });

  it('pauses three times as long as the batch took', async () => {
    const times: number[] = [];
    await inBatches(async () => {
      times.push(performance.now());
      await new Promise((resolve) => setTimeout(resolve, 20));
      return times.length < 3 ? 1 : 0;
    }, NEVER);
    expect(times[1]! - times[0]!).toBeGreaterThan(75);
    expect(times[2]! - times[1]!).toBeGreaterThan(75);
  });

  it('ends after the given time with work left', async () => {
    let batches = 0;
    expect(await inBatches(async () => ++batches, NEVER, 40)).toBe(false);
    expect(batches).toBeGreaterThan(1);
  });

  it('ends during the pause when the signal fires', async () => {
    const abort = new AbortController();
    const work = inBatches(
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 200));
        return 1;
      },
      abort.signal,
      60_000,
    );
    setTimeout(() => abort.abort(), 220);
    const startedAt = performance.now();
    expect(await work).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it('throws the error of a batch', async () => {
    await expect(inBatches(() => Promise.reject(new Error('broken')), NEVER)).rejects.toThrow('broken');
  });
});
