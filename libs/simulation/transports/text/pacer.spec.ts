import { Pacer } from './pacer.js';

const busy = (ms: number) => {
  for (const until = performance.now() + ms; performance.now() < until;);
};

describe('pacer', () => {
  it('starts requests in order', async () => {
    const pacer = new Pacer();
    const begun: number[] = [];
    await Promise.all(Array.from({ length: 500 }, (_, n) => pacer.turn().then(() => begun.push(n))));
    expect(begun).toEqual(Array.from({ length: 500 }, (_, n) => n));
    // Works again after it was idle.
    await pacer.turn();
  });

  it('lets the event loop process I/O while many short requests are queued', async () => {
    const pacer = new Pacer();
    let turnsOfTheEventLoop = 0;
    let isOver = false;
    const count = () => {
      turnsOfTheEventLoop++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(Array.from({ length: 100 }, () => pacer.turn()));
    isOver = true;
    expect(turnsOfTheEventLoop).toBeGreaterThan(20);
  });

  it('lets the event loop process I/O between requests that are slow to start', async () => {
    const pacer = new Pacer();
    let begun = 0;
    let isOver = false;
    const heard: number[] = [];
    const listen = () => {
      heard.push(begun);
      if (!isOver) setImmediate(listen);
    };
    setImmediate(listen);
    await Promise.all(
      Array.from({ length: 40 }, async () => {
        await pacer.turn();
        busy(2);
        begun++;
      }),
    );
    isOver = true;
    // A slice lasts at most 20 ms.
    const most = Math.max(...heard.slice(1).map((count, n) => count - heard[n]!));
    expect(most).toBeLessThan(12);
    expect(heard.length).toBeGreaterThan(3);
  });
});
