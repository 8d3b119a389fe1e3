import { type CheckInput, normalise } from '../../evaluation-definition/index.js';
import { CallView } from '../timeline/call-view.js';
import { CallTime } from './call-time.js';
import { evaluateChecks } from '../checks/evaluate-checks.js';
import { RealClock, type TimelineEntry, VirtualClock } from '../index.js';
import { joined, reliabilityOf, type Stall, stalledMs } from './stalls.js';
import { decide } from '../call/verdict.js';

/** Keeps the event loop busy. */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('stalls', () => {
  it('widen what was measured by their sum inside it', () => {
    const stalls = [
      { start: 100, end: 140 },
      { start: 500, end: 800 },
    ];
    expect(stalledMs(stalls, 0, 450)).toBe(40);
    expect(stalledMs(stalls, 0, 1_000)).toBe(340);
    expect(stalledMs(stalls, 600, 650)).toBe(50);
    expect(stalledMs(stalls, 200, 500)).toBe(0);
    expect(reliabilityOf(stalls)).toEqual({
      reliable: false,
      stalls: [
        { atMs: 100, ms: 40 },
        { atMs: 500, ms: 300 },
      ],
      worstStallMs: 300,
    });
    expect(reliabilityOf([])).toEqual({ reliable: true, stalls: [], worstStallMs: 0 });
  });

  it('are one where nothing may have been read between them, also if they overlap', () => {
    const stalls = [
      { start: 316, end: 400 },
      { start: 100, end: 300 },
      { start: 150, end: 200 },
      { start: 440, end: 500 },
    ];
    expect(joined(stalls)).toEqual([
      { start: 100, end: 400 },
      { start: 440, end: 500 },
    ]);
    expect(joined([])).toEqual([]);
  });

  it('are kept within a limit, the longest ones in order of time', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => ({ start: index * 1_000, end: index * 1_000 + index }));
    const { stalls, worstStallMs } = reliabilityOf(many);
    expect(stalls).toHaveLength(50);
    expect([stalls[0]!.ms, stalls.at(-1)!.ms, worstStallMs]).toEqual([950, 999, 999]);
  });

  it('are detected while they are watched, also one that has just ended', async () => {
    const clock = new RealClock();
    const stop = clock.watchStalls();
    const start = clock.now();
    block(80);
    const [stall] = clock.stallsSince(start);
    expect(stall!.end - stall!.start).toBeGreaterThanOrEqual(80);
    stop();
    const later = clock.now();
    block(80);
    expect(clock.stallsSince(later)).toEqual([]);
  });

  it('are converted to call time, without those in which the tester was not listening', async () => {
    const clock = new VirtualClock();
    const stalls: Stall[] = [
      { start: 40, end: 60 },
      { start: 110, end: 190 },
      { start: 195, end: 230 },
    ];
    clock.stallsSince = () => stalls as never;
    await clock.sleep(10);
    const time = new CallTime(clock);
    time.exclude(100, 200);
    expect(time.at(0)).toBe(0);
    expect(time.stalls()).toEqual([
      { start: 30, end: 50 },
      { start: 90, end: 120 },
    ]);
  });
});

describe('checks of times', () => {
  const speech = (speaker: 'agent' | 'caller', start: number, end: number, turn: number): TimelineEntry => ({
    type: 'speech',
    speaker,
    text: 'x',
    start,
    end,
    turn,
  });
  /** Latencies 100, 300 and 500; 500 ± 400. */
  const timeline = [
    speech('caller', 0, 0, 1),
    speech('agent', 100, 100, 1),
    speech('caller', 100, 100, 2),
    speech('agent', 400, 400, 2),
    speech('caller', 400, 400, 3),
    speech('agent', 900, 900, 3),
    { type: 'end', by: 'caller', code: 'script_over', reason: '', start: 900, end: 900, turn: 3 } as const,
  ];
  const stalls = [{ start: 450, end: 850 }];

  it.each<[CheckInput, boolean | null]>([
    [{ type: 'max_latency_ms', ms: 900 }, true],
    [{ type: 'max_latency_ms', ms: 899 }, null],
    [{ type: 'max_latency_ms', ms: 300 }, null],
    // The second answer alone is over the limit.
    [{ type: 'max_latency_ms', ms: 299 }, false],
    [{ type: 'max_latency_ms', ms: 300, percentile: 50 }, true],
    [{ type: 'max_silence_ms', ms: 900 }, true],
    [{ type: 'max_silence_ms', ms: 400 }, null],
    [{ type: 'max_silence_ms', ms: 299 }, false],
    [{ type: 'max_duration_ms', ms: 1_300 }, true],
    [{ type: 'max_duration_ms', ms: 800 }, null],
    [{ type: 'max_duration_ms', ms: 499 }, false],
  ])('decide %j as %j', async (check, met) => {
    const entries = [...timeline];
    const [result] = await evaluateChecks(normalise({ checks: [check] }).checks, CallView.of(entries, stalls), () =>
      Promise.resolve(),
    );
    expect(result!.met).toBe(met);
    if (met === null) expect(result!.detail).toMatch(/ ± 400 ms; the limit is \d+, which cannot be decided because/);
  });

  it('decide everything when the tester did not stall', async () => {
    for (const [ms, met] of [
      [500, true],
      [499, false],
    ] as const) {
      const { checks } = normalise({ checks: [{ type: 'max_latency_ms', ms }] });
      const [result] = await evaluateChecks(checks, CallView.of([...timeline]), () => Promise.resolve());
      expect(result!.met).toBe(met);
    }
  });

  it('make the call an error if a required one is undecided, unless another required one failed', () => {
    const undecided = { index: 0, type: 'max_latency_ms', name: 'Fast', weight: 1, detail: 'x', evidence: [] } as const;
    const with_ = (...checks: { met: boolean | null; required: boolean }[]) =>
      decide({
        checks: checks.map((check) => ({ ...undecided, ...check })),
        criteria: [],
        end: { code: 'script_over', reason: 'Over' },
        failure: undefined,
        invalidity: undefined,
      });
    const overloaded = { outcome: 'error', score: null, failure: { code: 'tester_overloaded', retryable: true } };
    expect(with_({ met: null, required: true })).toMatchObject(overloaded);
    expect(with_({ met: null, required: true }, { met: true, required: true })).toMatchObject(overloaded);
    expect(with_({ met: null, required: true }, { met: false, required: false })).toMatchObject(overloaded);
    expect(with_({ met: null, required: false })).toMatchObject(overloaded);
    expect(with_({ met: null, required: true }, { met: false, required: true })).toMatchObject({ outcome: 'failed' });
    expect(with_({ met: null, required: false }, { met: true, required: true })).toMatchObject({
      outcome: 'passed',
      score: 100,
    });
  });

  it('do not blame the agent for a silence in which the tester stalled', () => {
    const silent = (gaveUpWhileStalled: boolean) =>
      decide({
        checks: [],
        criteria: [],
        end: { code: 'agent_silent', reason: 'Silent' },
        failure: undefined,
        invalidity: undefined,
        gaveUpWhileStalled,
      });
    expect(silent(true)).toMatchObject({ outcome: 'error', failure: { code: 'tester_overloaded' } });
    expect(silent(false)).toMatchObject({ outcome: 'failed' });
  });
});
