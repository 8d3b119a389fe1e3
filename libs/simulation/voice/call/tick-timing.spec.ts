import { TickTiming } from './tick-timing.js';

describe('TickTiming', () => {
  it('has no lateness before the first frame', () => {
    expect(new TickTiming().result()).toEqual({ stalls: [], sentAsPlanned: true });
  });

  it('counts every frame in the percentiles', () => {
    const timing = new TickTiming();
    for (let frame = 1; frame <= 100; frame++) timing.frame(frame * 20, frame === 100 ? 12.34 : frame / 50, false);
    expect(timing.result()).toMatchObject({ frameLatenessMs: { p50: 1, p99: 1.9, worst: 12.3 }, stalls: [] });
  });

  it('records one stall for all frames that it delayed', () => {
    const timing = new TickTiming();
    for (const [dueMs, lateMs] of [
      [20, 60],
      [40, 40],
      [60, 26],
      [80, 0],
      [100, 30],
    ] as const)
      timing.frame(dueMs, lateMs, true);
    expect(timing.result()).toMatchObject({
      stalls: [
        { at: 20, ms: 60 },
        { at: 100, ms: 30 },
      ],
      sentAsPlanned: true,
    });
  });

  it('reports audio of the caller that was sent too late', () => {
    const timing = new TickTiming();
    timing.frame(20, 201, false);
    expect(timing.result().sentAsPlanned).toBe(true);
    timing.frame(400, 201, true);
    expect(timing.result().sentAsPlanned).toBe(false);
  });
});
