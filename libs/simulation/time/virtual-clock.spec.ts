import { VirtualClock } from '../index.js';

describe('virtual clock', () => {
  it('jumps to the earliest timer when everything waits, and fires simultaneous timers in the order of their creation', async () => {
    const clock = new VirtualClock();
    const log: string[] = [];
    const task = async (name: string, ...waits: number[]) => {
      for (const ms of waits) {
        await clock.sleep(ms);
        log.push(`${name} ${clock.now()}`);
      }
    };
    await Promise.all([task('a', 300, 200), task('b', 100, 400), task('c', 500)]);
    expect(log).toEqual(['b 100', 'a 300', 'c 500', 'b 500', 'a 500']);
  });

  it('pauses during external operations', async () => {
    const clock = new VirtualClock();
    let fired = false;
    clock.schedule(10, () => (fired = true));
    const answer = await clock.awaitExternal(
      new Promise<string>((resolve) => {
        setTimeout(() => resolve(`${fired} ${clock.now()}`), 30);
      }),
    );
    expect(answer).toBe('false 0');
    await clock.sleep(20);
    expect([fired, clock.now()]).toEqual([true, 20]);
  });

  it('skips cancelled timers and rejects an aborted sleep with its reason', async () => {
    const clock = new VirtualClock();
    const cancel = clock.schedule(1_000_000, () => undefined);
    cancel();
    const controller = new AbortController();
    const sleep = clock.sleep(5_000, controller.signal);
    controller.abort(new Error('enough'));
    await expect(sleep).rejects.toThrow('enough');
    await expect(clock.sleep(1, controller.signal)).rejects.toThrow('enough');
    await clock.sleep(3);
    expect(clock.now()).toBe(3);
  });

  it('keeps thousands of timers in order', async () => {
    const clock = new VirtualClock();
    const times: number[] = [];
    const waits = Array.from({ length: 2_000 }, (_, index) => (index * 7_919) % 1_009);
    await Promise.all(waits.map(async (ms) => void (await clock.sleep(ms), times.push(clock.now()))));
    expect(times).toEqual([...waits].sort((a, b) => a - b));
  });
});
