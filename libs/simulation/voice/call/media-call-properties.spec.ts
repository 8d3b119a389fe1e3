import fc from 'fast-check';
import { encodeMulaw, FRAME_MS } from '../../../audio/index.js';
import type { VoiceFacts } from '../facts/facts.js';
import { MediaCall } from './media-call.js';
import type { VoiceCallPlan } from '../facts/plan.js';
import { rawWire } from '../testing/raw-wire.js';
import { backchannel, collected, hesitating, noise, planOf, say, speech } from '../testing/virtual-calls.js';

const TONE = encodeMulaw(speech(4_000));
const QUIET = new Uint8Array(16_000).fill(0xff);

const steps = fc.array(
  fc.oneof(
    fc.integer({ min: 100, max: 2_000 }).map((ms) => say(ms)),
    fc
      .tuple(fc.integer({ min: 100, max: 1_000 }), fc.integer({ min: 0, max: 3_000 }))
      .map(([ms, after]) => say(ms, after)),
    fc.integer({ min: 300, max: 2_000 }).map((ms) => hesitating(400, ms, 300)),
    fc.integer({ min: 0, max: 3_000 }).map(backchannel),
    fc.option(fc.integer({ min: 0, max: 3_000 }), { nil: undefined }).map(noise),
    fc.constantFrom('1', '12w#', '*').map((keys) => ({ type: 'press' as const, keys })),
    fc.integer({ min: 0, max: 3_000 }).map((ms) => ({ type: 'wait' as const, ms })),
  ),
  { minLength: 1, maxLength: 6 },
);

const plans = fc
  .record({
    script: steps,
    firstSpeaker: fc.constantFrom('agent', 'caller', null),
    maxTurns: fc.integer({ min: 1, max: 5 }),
    turnEndMs: fc.constantFrom(200, 700, 3_000),
    conditions: fc.constantFrom({}, { packetLossPercent: 10, jitterMs: 50 }, {
      noise: { type: 'pink', snrDb: 15 },
    } as const),
  })
  .map(({ script, ...more }): VoiceCallPlan => planOf(script, { ...more, maxDurationSeconds: 40 }));

/** What the agent sends, and how long after what it sent before. */
const behaviours = fc.array(
  fc.record({
    afterMs: fc.double({ min: 0, max: 4_000, noNaN: true }),
    data: fc.oneof(
      fc.integer({ min: 0, max: 32_000 }).map((length) => TONE.subarray(0, length)),
      fc.integer({ min: 0, max: 16_000 }).map((length) => QUIET.subarray(0, length)),
      fc.constantFrom('clear', 'turn_end', 'mark:a', 'mark:b'),
    ),
  }),
  { maxLength: 30 },
);

interface Run {
  readonly plan: VoiceCallPlan;
  readonly behaviour: readonly { readonly afterMs: number; readonly data: string | Uint8Array }[];
  /** How late each tick is, over and over. */
  readonly lateness: readonly number[];
  readonly closeAfterMs?: number;
}

/** Runs a call with ticks that are late; messages arrive at their own times. */
function run({ plan, behaviour, lateness, closeAfterMs = Infinity }: Run) {
  const origin = 123_456.789;
  const sent: string[] = [];
  const { sink, bytes, wire } = collected();
  const call = new MediaCall(plan, rawWire, {
    send: (data) => {
      if (typeof data === 'string') sent.push(data);
    },
    recording: sink,
  });
  call.start(origin);
  let at = origin;
  const messages = behaviour.map(({ afterMs, data }) => ({ at: (at += afterMs), data }));
  let now = origin;
  for (let tick = 0; !call.isOver; tick++) {
    now = Math.max(now, origin + (tick + 1) * FRAME_MS + (lateness[tick % lateness.length] ?? 0));
    while (messages[0] && messages[0].at <= now) call.onMessage(messages[0].at, messages.shift()!.data);
    if (now >= origin + closeAfterMs) call.onClose(origin + closeAfterMs, { code: 1000, reason: '' });
    call.tick(now);
  }
  return { facts: call.facts(), sound: bytes(), wire, sent };
}

function expectOrder(facts: VoiceFacts) {
  const spans = [...facts.agent, ...facts.caller, ...facts.agentTurns, ...facts.silences, ...facts.underruns];
  for (const { startMs, endMs } of spans) {
    expect(startMs).toBeGreaterThanOrEqual(0);
    expect(endMs).toBeGreaterThanOrEqual(startMs);
    expect(endMs).toBeLessThanOrEqual(facts.end.atMs + 20);
  }
  for (const lane of [facts.agent, facts.agentTurns]) {
    for (const [index, { startMs }] of lane.slice(1).entries()) {
      expect(startMs).toBeGreaterThanOrEqual(lane[index]!.endMs);
    }
  }
  const turns = facts.caller.filter(({ type }) => type === 'say').map(({ turn }) => turn);
  expect(turns).toEqual(turns.map((_, index) => index + 1));
}

describe('MediaCall with any behaviour of the agent', () => {
  it('ends, with facts in order and a recording of the same length', () => {
    fc.assert(
      fc.property(
        plans,
        behaviours,
        fc.option(fc.double({ min: 0, max: 30_000, noNaN: true }), { nil: undefined }),
        (plan, behaviour, closeAfterMs) => {
          const { facts, sound, sent } = run({
            plan,
            behaviour,
            lateness: [0],
            ...(closeAfterMs !== undefined && { closeAfterMs }),
          });
          expectOrder(facts);
          expect(facts.end.atMs).toBeLessThanOrEqual(40_000);
          expect(Math.abs(sound.length - facts.end.atMs * 16)).toBeLessThanOrEqual(1);
          expect(sent.filter((message) => message === 'stop')).toHaveLength(1);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('plans and hears the same when its ticks are a little late', () => {
    fc.assert(
      fc.property(
        plans,
        behaviours,
        fc.array(fc.double({ min: 0, max: 19, noNaN: true }), { minLength: 1, maxLength: 50 }),
        (plan, behaviour, lateness) => {
          const exact = run({ plan, behaviour, lateness: [0] });
          const late = run({ plan, behaviour, lateness });
          expect({ ...late.facts, timing: null }).toEqual({ ...exact.facts, timing: null });
          expect(late.sound.equals(exact.sound)).toBe(true);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('says each step of its script at most once, except for repeated lines', () => {
    fc.assert(
      fc.property(plans, behaviours, (plan, behaviour) => {
        const { facts } = run({ plan, behaviour, lateness: [0] });
        const done = facts.caller.filter((act) => !('repeated' in act)).map(({ step }) => step!);
        expect(new Set(done).size).toBe(done.length);
        if (facts.end.code !== 'script_over') return;
        expect(done.toSorted((a, b) => a - b)).toEqual(
          plan.script.flatMap(({ type, step }) => (type === 'wait' || type === 'end' ? [] : [step])),
        );
      }),
      { numRuns: 60 },
    );
  });
});
