import { setImmediate as turnOfTheEventLoop } from 'node:timers/promises';
import { Ramp } from './ramp.js';

describe('ramp', () => {
  it('lets a few begin at once, and the others one after the other', async () => {
    const ramp = new Ramp(3, 20);
    const since = performance.now();
    const begun: [number, number][] = [];
    const all = Array.from({ length: 6 }, async (_, n) => {
      await ramp.turn();
      begun.push([n, performance.now() - since]);
    });
    await turnOfTheEventLoop();
    expect(begun.map(([n]) => n)).toEqual([0, 1, 2]);
    await Promise.all(all);
    expect(begun.map(([n]) => n)).toEqual([0, 1, 2, 3, 4, 5]);
    // Timers may fire a little early.
    for (const [n, at] of begun.slice(3)) expect(at).toBeGreaterThan((n - 2) * 20 - 2);
  });

  it('lets a few begin at once again when nobody has begun for a while', async () => {
    const ramp = new Ramp(2, 20);
    await Promise.all([ramp.turn(), ramp.turn(), ramp.turn()]);
    await new Promise((resolve) => setTimeout(resolve, 45));
    let begun = 0;
    const all = [1, 2].map(() => ramp.turn().then(() => begun++));
    await turnOfTheEventLoop();
    expect(begun).toBe(2);
    await Promise.all(all);
  });
});
