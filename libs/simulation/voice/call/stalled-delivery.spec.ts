import { type CheckSpec, normalise } from '../../../evaluation-definition/index.js';
import { sample } from '../../../statistics/testing/sample.js';
import { type CallResult, executeCall } from '../../index.js';
import { delivering } from '../testing/delivering.js';
import { DELIVERY_STYLES, type DeliveryStyle } from '../testing/delivery.js';
import { rawWire } from '../testing/raw-wire.js';
import { SOUNDS } from '../testing/virtual-calls.js';
import { virtualCalls } from './virtual-call.js';

const LINES = ['A table.', 'For four.', 'Thanks.'];
const DELAY_MS = 1_000;
const MOMENTS = Array.from({ length: 20 }, (_, index) => 100 + index * 470);

type Stall = { readonly atMs: number; readonly ms: number };

function call(style: DeliveryStyle, stalls: readonly Stall[], limitMs: number): Promise<CallResult> {
  const checks: CheckSpec[] = [
    { type: 'max_latency_ms', ms: limitMs, percentile: 100 },
    { type: 'max_interruptions', count: 0 },
    { type: 'max_pause_ms', ms: 500 },
  ];
  return executeCall({
    definition: normalise({
      script: LINES.map((say) => ({ say })),
      checks: checks.map((check) => ({ ...check, required: true })),
    }),
    scenario: { scenarioText: 'You want a table.' },
    personality: { name: 'Caller' },
    transport: virtualCalls({
      wire: rawWire,
      agent: delivering({ style, delayMs: DELAY_MS, answerMs: 800 }),
      stalls,
    }),
    voice: { sounds: SOUNDS, voice: 'any', firstSpeaker: 'caller' },
  });
}

const latenciesOf = ({ voice }: CallResult) => voice!.voice.latencies;

/** Both sides act every 10 ms, so an agent may answer a line that began later up to so much sooner or later. */
const STEP_MS = 10;

/** The values that differ from those of the call without a stall by more than their uncertainty. */
function latenciesOutOfRange(clean: CallResult, stalled: CallResult): string[] {
  return latenciesOf(stalled).flatMap(({ turn, heardMs, plusMinusMs }) => {
    const trueMs = latenciesOf(clean).find((one) => one.turn === turn)!.heardMs!;
    return heardMs !== null && Math.abs(heardMs - trueMs) <= plusMinusMs + STEP_MS
      ? []
      : [`turn ${turn}: ${heardMs} ± ${plusMinusMs}, truly ${trueMs}`];
  });
}

describe.each(sample(DELIVERY_STYLES, 4))('an agent whose audio is delivered as %s', (style) => {
  it.each([
    ['passes', 2 * DELAY_MS, 'passed'],
    ['fails', DELAY_MS / 2, 'failed'],
  ] as const)(
    '%s whenever the tester stalls for 80 to 200 ms, and every latency is right',
    async (_, limitMs, outcome) => {
      const clean = await call(style, [], limitMs);
      expect(clean.outcome).toBe(outcome);
      expect(latenciesOf(clean)).toMatchObject(Array(3).fill({ answered: true, plusMinusMs: 0 }));
      const wrong: string[] = [];
      for (const [index, atMs] of MOMENTS.entries()) {
        const ms = [80, 130, 180][index % 3]!;
        const stalled = await call(style, [{ atMs, ms }], limitMs);
        if (stalled.outcome !== outcome) wrong.push(`${ms} ms at ${atMs}: ${stalled.outcome}`);
        wrong.push(...latenciesOutOfRange(clean, stalled).map((one) => `${ms} ms at ${atMs}, ${one}`));
      }
      expect(wrong).toEqual([]);
    },
  );

  it('never fails because a stall delays it beyond the limit', async () => {
    const wrong: string[] = [];
    for (const atMs of MOMENTS) {
      const stalled = await call(style, [{ atMs, ms: 150 }], DELAY_MS + 100);
      const isRetried = stalled.outcome === 'error' && stalled.failure?.code === 'tester_overloaded';
      if (!isRetried && stalled.outcome !== 'passed') wrong.push(`at ${atMs}: ${stalled.outcome}`);
    }
    expect(wrong).toEqual([]);
  });

  it('never gets another verdict because of a stall of 250 ms', async () => {
    const clean = await call(style, [], 2 * DELAY_MS);
    const wrong: string[] = [];
    for (const atMs of MOMENTS) {
      const stalled = await call(style, [{ atMs, ms: 250 }], 2 * DELAY_MS);
      const isRetried = stalled.outcome === 'error' && stalled.failure?.code === 'tester_overloaded';
      if (!isRetried && stalled.outcome !== 'passed') wrong.push(`at ${atMs}: ${stalled.outcome}`);
      wrong.push(...latenciesOutOfRange(clean, stalled).map((one) => `at ${atMs}, ${one}`));
    }
    expect(wrong).toEqual([]);
  });
});
