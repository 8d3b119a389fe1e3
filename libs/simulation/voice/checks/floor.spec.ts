import type { SoundCheckSpec } from '../../../evaluation-definition/index.js';
import type { VoiceFacts } from '../facts/facts.js';
import { check, endedAt } from '../testing/check.js';
import { agentSound, bargeIn, keys, line, sound } from '../testing/facts.js';

const stalled = (at: number, ms: number): Pick<VoiceFacts, 'timing'> => ({
  timing: { frameLatenessMs: { p50: 0, p99: 0, worst: ms }, stalls: [{ at, ms }], sentAsPlanned: true },
});
const YIELDING = { agent: [agentSound(0, 1_240)], clears: [{ atMs: 1_240, droppedMs: 900 }] };

describe('yields_within_ms', () => {
  const spec: SoundCheckSpec = { type: 'yields_within_ms', ms: 500 };

  it('is met if the agent stops in time, and not if it stops later or goes on', async () => {
    expect(await check(spec, { ...YIELDING, caller: [bargeIn(1_000, 2_000)] })).toMatchObject({
      met: true,
      detail: 'The agent stopped after 240 ms; the limit is 500',
      evidence: [{ entry: 1 }],
    });
    expect(await check({ ...spec, ms: 200 }, { ...YIELDING, caller: [bargeIn(1_000, 2_000)] })).toMatchObject({
      met: false,
      decidedByEntry: 1,
    });
    expect(await check(spec, { agent: [agentSound(0, 9_000)], caller: [bargeIn(1_000, 2_000)] })).toMatchObject({
      met: false,
      detail: 'The agent did not yield: it stopped after 8000 ms; the limit is 500',
    });
    const late = { agent: [agentSound(0, 3_500)], caller: [bargeIn(1_000, 2_000)] };
    expect(await check({ ...spec, ms: 3_000 }, late)).toMatchObject({
      met: false,
      detail: 'The agent did not yield: it stopped after 2500 ms, and a higher limit than 2000 ms does not count',
    });
    const played = bargeIn(1_000, 2_000, { bufferedMs: 900 });
    expect(await check(spec, { agent: [agentSound(0, 1_900)], caller: [played] })).toMatchObject({
      met: false,
      detail: 'The agent did not yield: it was heard for 900 ms more, all the sound that it had sent, without a clear',
    });
  });

  it('is undecided if there was nothing to yield', async () => {
    const impossible = bargeIn(1_000, 2_000, { possible: false });
    expect(await check(spec, { agent: [agentSound(0, 900)], caller: [impossible] })).toMatchObject({
      met: null,
      undecided: 'not_exercised',
      detail: "The agent's turn ended before the caller could barge in: ask for a longer answer, or lower afterMs",
    });
    expect(await check(spec, { caller: [line(0, 1_000)] })).toMatchObject({ met: null, undecided: 'not_exercised' });
    const pausing = { agent: [agentSound(0, 990), agentSound(1_300, 9_000)], caller: [bargeIn(1_000, 2_000)] };
    expect(await check(spec, pausing)).toMatchObject({
      met: null,
      undecided: 'not_exercised',
      detail: 'The agent was silent when the caller barged in: ask for a longer answer, or lower afterMs',
    });
  });

  it('is met by an agent that breaks off at once, and undecided if its speech may have been over', async () => {
    const caller = [bargeIn(1_000, 2_000)];
    expect(await check(spec, { agent: [agentSound(0, 1_250, { breaksOff: true })], caller })).toMatchObject({
      met: true,
      detail: 'The agent stopped after 250 ms; the limit is 500',
    });
    expect(await check(spec, { agent: [agentSound(0, 1_250)], caller })).toMatchObject({
      met: null,
      undecided: 'not_exercised',
      detail:
        "The agent's speech ended 250 ms after the caller barged in, and nothing shows whether it stopped or was over: " +
        'ask for a longer answer, or lower afterMs',
    });
  });

  it.each([
    ['a short buffer', 100],
    ['a buffer that needs a clear', 900],
  ])('is undecided if the call ends while the agent still speaks: %s', async (_name, bufferedMs) => {
    const facts = { agent: [agentSound(0, 1_900)], caller: [bargeIn(1_000, 2_000, { bufferedMs })] };
    expect(await check(spec, { ...facts, ...endedAt(1_950) })).toMatchObject({
      met: null,
      undecided: 'not_exercised',
      detail: 'The call ended too soon after the barge-in to know whether the agent had stopped',
    });
    const clears = [{ atMs: 1_900, droppedMs: 900 }];
    expect(await check({ ...spec, ms: 1_000 }, { ...facts, ...endedAt(1_950), clears })).toMatchObject({ met: true });
    const long = { ...facts, agent: [agentSound(0, 3_200)] };
    expect(await check(spec, { ...long, ...endedAt(3_200) })).toMatchObject({ met: false });
  });

  it('is undecided only if the limit lies within the stall of the tester', async () => {
    const facts = { ...YIELDING, caller: [bargeIn(1_000, 2_000)], ...stalled(1_050, 150) };
    const near = await check({ ...spec, ms: 300 }, facts);
    expect(near).toMatchObject({ met: null });
    expect(near.undecided).toBeUndefined();
    expect(await check(spec, facts)).toMatchObject({ met: true });
  });

  it('is not met if one of several barge-ins is not yielded to', async () => {
    const caller = [bargeIn(1_000, 2_000), bargeIn(6_000, 7_000)];
    expect(
      await check(spec, { ...YIELDING, agent: [agentSound(0, 1_240), agentSound(5_000, 9_000)], caller }),
    ).toMatchObject({ met: false });
  });
});

describe('keeps_speaking', () => {
  const spec: SoundCheckSpec = { type: 'keeps_speaking' };
  const cough = sound('noise', 2_000, 2_350);

  it('is met by an agent that goes on and not by one that stops', async () => {
    expect(await check(spec, { caller: [cough], agent: [agentSound(0, 5_000)] })).toMatchObject({ met: true });
    const clears = [{ atMs: 2_300, droppedMs: 900 }];
    expect(await check(spec, { caller: [cough], agent: [agentSound(0, 2_300)], clears })).toMatchObject({
      met: false,
      detail: 'The agent took a noise for a turn',
      decidedByEntry: 1,
    });
  });

  it('is undecided without a sound during speech', async () => {
    expect(await check(spec, { agent: [agentSound(0, 5_000)] })).toMatchObject({ undecided: 'not_exercised' });
    expect(await check(spec, { caller: [cough], agent: [agentSound(0, 2_100)] })).toMatchObject({
      met: null,
      undecided: 'not_exercised',
    });
  });

  it('is undecided if the call ends before the agent could answer a noise in silence', async () => {
    const caller = [{ ...cough, afterMs: null }];
    expect(await check(spec, { caller, ...endedAt(2_650) })).toMatchObject({ met: null, undecided: 'not_exercised' });
    expect(await check(spec, { caller, ...endedAt(4_000) })).toMatchObject({ met: true });
  });
});

describe('max_interruptions and max_overlap_ms', () => {
  const facts = { caller: [line(1_000, 3_000)], agent: [agentSound(2_000, 4_000)] };

  it('count the interruptions and their overlap', async () => {
    expect(await check({ type: 'max_interruptions', count: 0 }, facts)).toMatchObject({
      met: false,
      decidedByEntry: 1,
    });
    const parts = [
      { startMs: 1_000, endMs: 1_500 },
      { startMs: 2_700, endMs: 3_000 },
    ];
    const hesitating = { ...facts, caller: [line(1_000, 3_000, { parts })] };
    expect(await check({ type: 'max_interruptions', count: 0 }, hesitating)).toMatchObject({
      detail: 'The agent interrupted the caller 1 time, in a hesitation; the limit is 0',
    });
    const twice = { caller: [line(1_000, 3_000, { parts }), line(9_000, 10_000)] };
    const agent = [agentSound(2_000, 4_000), agentSound(9_600, 11_000)];
    expect(await check({ type: 'max_interruptions', count: 0 }, { ...twice, agent })).toMatchObject({
      detail: 'The agent interrupted the caller 2 times, 1 of them in a hesitation; the limit is 0',
    });
    expect(await check({ type: 'max_interruptions', count: 1 }, facts)).toMatchObject({ met: true });
    expect(await check({ type: 'max_overlap_ms', ms: 900 }, facts)).toMatchObject({
      met: false,
      detail: 'The agent spoke over the caller for 1000 ms; the limit is 900',
    });
    expect(await check({ type: 'max_overlap_ms', ms: 1_000 }, facts)).toMatchObject({ met: true });
  });

  it('an interruption that background audio may have made is undecided, a long one is not', async () => {
    const background = { dbfs: -40, fromMs: 0, isUneven: false };
    const spec = { type: 'max_interruptions', count: 0 } as const;
    const short = { caller: [line(1_000, 3_000)], agent: [agentSound(2_690, 4_000)] };
    expect(await check(spec, short)).toMatchObject({ met: false });
    expect(await check(spec, { ...short, background })).toMatchObject({ met: null, undecided: 'evidence' });
    expect(await check(spec, { ...facts, background })).toMatchObject({ met: false });
  });

  it.each([
    ['the agent was never heard', { caller: [line(1_000, 3_000)] }, 'The agent was not heard'],
    [
      'the caller said nothing',
      { caller: [keys(1_000, 1_200)], agent: [agentSound(2_000, 4_000)] },
      'The caller said nothing',
    ],
  ])('are undecided if %s', async (_name, oneSided, detail) => {
    const undecided = { met: null, undecided: 'not_exercised', detail };
    expect(await check({ type: 'max_interruptions', count: 0 }, oneSided)).toMatchObject(undecided);
    expect(await check({ type: 'max_overlap_ms', ms: 900 }, oneSided)).toMatchObject(undecided);
  });
});
