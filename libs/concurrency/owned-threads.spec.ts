import fc from 'fast-check';
import { OwnedThreads } from './owned-threads.js';

const [MOST, EACH, IDLE_MS] = [4, 3, 60_000];
const SIGNAL = new AbortController().signal;

describe('OwnedThreads', () => {
  let started: number;
  let closed: number[];
  let ends: (() => void)[];
  let pool: OwnedThreads<{ readonly id: number; memoryBytes(): Promise<number>; close(): Promise<void> }>;

  const open = (most = MOST) => {
    jest.clearAllTimers();
    started = 0;
    closed = [];
    ends = [];
    const start = () => {
      const id = started++;
      return { id, memoryBytes: async () => 10, close: async () => void closed.push(id) };
    };
    pool = new OwnedThreads({ start, most, callsEach: EACH, idleMs: IDLE_MS });
  };

  /** Begins a call. @returns its thread */
  function call(owner: string): number {
    let id = -1;
    void pool.use(owner, SIGNAL, (thread) => {
      id = thread.id;
      return new Promise<void>((resolve) => ends.push(resolve));
    });
    return id;
  }

  const end = async (index = 0): Promise<void> => {
    ends.splice(index, 1)[0]?.();
    await jest.advanceTimersByTimeAsync(0);
  };

  beforeEach(() => {
    jest.useFakeTimers();
    open();
  });
  afterEach(() => jest.useRealTimers());

  it.each<[rule: string, owners: string, threads: string]>([
    ['fills the threads of the owner one after the other', 'AAAA', '0001'],
    ['gives a second owner a thread of its own', 'AB', '01'],
    ['gives an owner half of the threads, and then the least loaded of its own', 'AAAAAAAAA', '000111010'],
    ['leaves the other half to a second owner', 'AAAAAAABBBB', '00011102223'],
    ['gives a third owner the least loaded thread of all if the others have half each', 'AAAABBBBC', '000122231'],
    ['counts a call of another owner in a shared thread', 'AAAABBBBCCC', '00012223131'],
  ])('%s', (_rule, owners, threads) => {
    expect([...owners].map(call).join('')).toBe(threads);
  });

  it('gives a single thread to all owners if there may be no more', () => {
    open(1);
    expect([...'ABAB'].map(call)).toEqual([0, 0, 0, 0]);
  });

  it('keeps the owner of a thread for a minute after its last call, and then gives it to the next one', async () => {
    call('A');
    await end();
    await jest.advanceTimersByTimeAsync(IDLE_MS - 1);
    expect([call('B'), call('A')]).toEqual([1, 0]);
    await end(1);
    await jest.advanceTimersByTimeAsync(IDLE_MS);
    expect(call('C')).toBe(0);
  });

  it('keeps one thread without an owner, and ends the others', async () => {
    for (const owner of 'ABC') call(owner);
    while (ends.length > 0) await end();
    await jest.advanceTimersByTimeAsync(IDLE_MS);
    expect(closed).toEqual([1, 2]);
    expect([await pool.memoryBytes(), pool.calls]).toEqual([10, 0]);
  });

  it('ends all threads when it is closed, once, and starts others for later calls', async () => {
    call('A');
    call('B');
    await end();
    await pool.close();
    await end();
    await jest.advanceTimersByTimeAsync(IDLE_MS);
    expect(closed).toEqual([0, 1]);
    expect(call('A')).toBe(2);
  });

  it('runs nothing for a call that is aborted before', async () => {
    const reason = new Error('cancelled');
    await expect(pool.use('A', AbortSignal.abort(reason), async () => 1)).rejects.toBe(reason);
    expect(started).toBe(0);
  });

  it('keeps to the rule in any sequence of calls, ends and times', async () => {
    const step = fc.oneof(
      fc.record({ owner: fc.constantFrom(...'ABCDE') }),
      fc.record({ ended: fc.nat(50) }),
      fc.record({ passedMs: fc.constantFrom(1, IDLE_MS / 2, IDLE_MS) }),
    );
    const sequence = fc.array(step, { minLength: 20, maxLength: 120 });
    await fc.assert(
      fc.asyncProperty(sequence, fc.integer({ min: 1, max: 6 }), async (steps, most) => {
        open(most);
        /** What is known of each thread by the rule alone. */
        const known = new Map<number, { owner: string | undefined; calls: number; quietMs: number }>();
        const running: number[] = [];
        const least = (ids: readonly number[]) => Math.min(...ids.map((id) => known.get(id)!.calls));
        for (const { owner, ended, passedMs } of steps as { owner?: string; ended?: number; passedMs?: number }[]) {
          if (owner !== undefined) {
            const ids = [...known.keys()];
            const own = ids.filter((id) => known.get(id)!.owner === owner);
            const free = ids.filter((id) => known.get(id)!.owner === undefined);
            const id = call(owner);
            const before = known.get(id)?.calls ?? 0;
            const mayGrow = own.length < most / 2;
            if (own.length > 0 && least(own) < EACH) expect([own.includes(id), before]).toEqual([true, least(own)]);
            else if (mayGrow && free.length > 0) expect(free).toContain(id);
            else if (mayGrow && ids.length < most) expect(ids).not.toContain(id);
            else if (own.length > 0) expect([own.includes(id), before]).toEqual([true, least(own)]);
            else expect(before).toBe(least(ids));
            known.set(id, { owner: known.get(id)?.owner ?? owner, calls: before + 1, quietMs: 0 });
            running.push(id);
          } else if (ended !== undefined && running.length > 0) {
            const index = ended % running.length;
            const [id] = running.splice(index, 1);
            await end(index);
            known.get(id!)!.calls--;
          } else if (passedMs !== undefined) {
            await jest.advanceTimersByTimeAsync(passedMs);
            for (const thread of known.values()) {
              thread.quietMs = thread.calls > 0 ? 0 : thread.quietMs + passedMs;
              if (thread.quietMs >= IDLE_MS) thread.owner = undefined;
            }
            for (const id of closed) known.delete(id);
          }
          expect(pool.threads.map(({ id }) => id).sort()).toEqual([...known.keys()].sort());
          expect(pool.threads.length).toBeLessThanOrEqual(most);
        }
      }),
      { numRuns: 200 },
    );
  });
});
