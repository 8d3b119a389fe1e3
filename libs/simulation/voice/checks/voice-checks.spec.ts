import type { CheckSpec, SoundCheckSpec } from '../../../evaluation-definition/index.js';
import { CallView } from '../../timeline/call-view.js';
import { evaluateChecks } from '../../checks/evaluate-checks.js';
import type { TimelineEntry } from '../../timeline/timeline.js';
import type { VoiceFacts } from '../facts/facts.js';
import { heardTimes, voiceMeasures } from '../measures/index.js';
import { agentSound, bargeIn, factsOf, keys, line, sound } from '../testing/facts.js';
import { voiceChecks } from './voice-checks.js';

/** The entries that such facts have on a timeline, as far as checks look at them. */
function entriesOf({ caller, agent, wireFindings, end }: VoiceFacts): TimelineEntry[] {
  const entries: TimelineEntry[] = [
    ...caller.map((act): TimelineEntry => {
      const span = { start: act.startMs, end: act.endMs, turn: act.turn };
      if (act.type === 'say') return { type: 'speech', speaker: 'caller', text: act.text, ...span };
      const kind = act.type === 'press' ? 'keys' : act.type;
      const name = act.type === 'press' ? act.keys : act.name;
      return { type: 'sound', speaker: 'caller', kind, name, possible: true, ...span };
    }),
    ...agent.map(({ startMs, endMs, turn }): TimelineEntry => ({
      type: 'speech',
      speaker: 'agent',
      text: '',
      words: 'unknown',
      start: startMs,
      end: endMs,
      turn,
    })),
    ...wireFindings.map(({ code, severity, detail, atMs }): TimelineEntry => ({
      type: 'finding',
      code,
      severity,
      detail,
      start: atMs ?? 0,
      end: atMs ?? 0,
      turn: 0,
    })),
    { type: 'end', by: end.by, code: end.code, reason: end.reason, start: end.atMs, end: end.atMs, turn: 1 },
  ];
  return entries.sort((a, b) => a.start - b.start);
}

async function check(spec: CheckSpec, given: Partial<VoiceFacts>) {
  const facts = factsOf(given);
  const entries = entriesOf(facts);
  const view = CallView.of(entries, [], heardTimes(facts, entries));
  const checks = voiceChecks({ facts, voice: voiceMeasures(facts) });
  const [result] = await evaluateChecks([{ ...spec, weight: 1, required: true }], view, async () => {}, checks);
  return result!;
}

const stalled = (at: number, ms: number): Pick<VoiceFacts, 'timing'> => ({
  timing: { frameLatenessMs: { p50: 0, p99: 0, worst: ms }, stalls: [{ at, ms }], sentAsPlanned: true },
});
const endedAt = (atMs: number): Pick<VoiceFacts, 'end'> => ({
  end: { by: 'agent', code: 'agent_hung_up', reason: 'The agent hung up', atMs },
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

describe('max_silence_ms and max_pause_ms', () => {
  it('is undecided if nothing was said that the agent could answer, and the agent was not heard', async () => {
    const found = await check({ type: 'max_silence_ms', ms: 1_000 }, {});
    expect(found).toMatchObject({ met: null, undecided: 'not_exercised', detail: 'The agent was not heard' });
    expect(await check({ type: 'max_silence_ms', ms: 1_000 }, { agent: [agentSound(0, 1_000)] })).toMatchObject({
      met: true,
    });
  });

  it('are undecided if the agent was not heard, unless the silence is longer than its limit', async () => {
    const facts = { caller: [line(1_000, 3_000)], ...endedAt(5_000) };
    const undecided = { met: null, undecided: 'not_exercised', detail: 'The agent was not heard' };
    expect(await check({ type: 'max_silence_ms', ms: 8_000 }, facts)).toMatchObject(undecided);
    expect(await check({ type: 'max_pause_ms', ms: 8_000 }, facts)).toMatchObject(undecided);
    expect(await check({ type: 'max_silence_ms', ms: 1_000 }, facts)).toMatchObject({ met: false });
  });
});

describe('audio_level and max_choppiness', () => {
  const speech = { agent: [agentSound(0, 30_000)] };

  it('compare level and clipping with their limits', async () => {
    expect(await check({ type: 'audio_level', minDbfs: -30, maxDbfs: -10 }, speech)).toMatchObject({ met: true });
    expect(await check({ type: 'audio_level', minDbfs: -15 }, speech)).toMatchObject({ met: false });
    const two = [agentSound(0, 9_000, { dbfs: -16 }), agentSound(10_000, 30_000, { dbfs: -40 })];
    expect(await check({ type: 'audio_level', minDbfs: -15 }, { agent: two })).toMatchObject({
      detail: "The agent's speech has -20 dBFS, and 0 % of its sound is clipped, at 0.0 s, 10.0 s",
      evidence: [{ entry: 0 }, { entry: 1 }],
    });
    const level = { dbfs: -3, sentDbfs: -3, clippedPercent: 4, inaudible: false, clippedAtMs: [12_000, 14_000] };
    expect(await check({ type: 'audio_level', maxClippedPercent: 1 }, { ...speech, level })).toMatchObject({
      met: false,
      detail: "The agent's speech has -3 dBFS, and 4 % of its sound is clipped, at 12.0 s, 14.0 s",
      evidence: [{ entry: 0 }],
    });
  });

  it('fail an agent whose sound cannot be heard, and are undecided without any sound', async () => {
    const level = { dbfs: null, sentDbfs: -62, clippedPercent: 0, inaudible: true };
    expect(await check({ type: 'audio_level', minDbfs: -40 }, { level })).toMatchObject({
      met: false,
      detail: 'The agent sent sound at -62 dBFS, which is too quiet to be heard',
    });
    const arrivals = [{ arrivedMs: 1_000, playedFromMs: 1_200, playedToMs: 2_000 }];
    expect(await check({ type: 'audio_level', minDbfs: -40 }, { level, arrivals })).toMatchObject({
      detail: 'The agent sent sound at -62 dBFS, which is too quiet to be heard (from 1.2 s on)',
    });
    const none = { dbfs: null, sentDbfs: null, clippedPercent: 0, inaudible: false };
    expect(await check({ type: 'audio_level', minDbfs: -40 }, { level: none })).toMatchObject({ met: null });
    expect(await check({ type: 'max_choppiness', perMinute: 1 }, { level: none })).toMatchObject({ met: null });
  });

  it('never fail speech with fewer than three gaps', async () => {
    const gaps = (n: number) =>
      Array.from({ length: n }, (_, i) => ({ startMs: 1_000 * i, endMs: 1_000 * i + 60, isBetweenSpeech: true }));
    const spec: CheckSpec = { type: 'max_choppiness', perMinute: 2 };
    expect(await check(spec, { ...speech, underruns: gaps(2) })).toMatchObject({ met: true });
    expect(await check(spec, { ...speech, underruns: gaps(3) })).toMatchObject({
      met: false,
      detail: "The agent's speech had 3 gaps, 6 per minute; the limit is 2, at 0.0 s, 1.0 s, 2.0 s",
      evidence: [{ entry: 0 }],
    });
  });
});

describe('clean_protocol', () => {
  const finding = { atMs: 5_440, detail: 'no clear', source: '', code: 'no_clear_on_barge_in' };

  it('is not met by a finding of severity error alone', async () => {
    const spec: CheckSpec = { type: 'clean_protocol' };
    expect(await check(spec, { wireFindings: [{ ...finding, severity: 'warning' }] })).toMatchObject({ met: true });
    expect(await check(spec, { wireFindings: [{ ...finding, severity: 'error' }] })).toMatchObject({
      met: false,
      detail: 'The agent broke the protocol (no_clear_on_barge_in): no clear',
      decidedByEntry: 0,
    });
  });
});

describe('hears_keys', () => {
  const pressed = { caller: [keys(2_000, 2_500), line(9_000, 9_500)] };
  const transferAt = (atMs: number) => ({
    platformEvents: [{ type: 'transfer' as const, atMs, detail: '<Dial>+15550100</Dial>' }],
  });

  it('is met if the agent answers or transfers the call before the caller acts again', async () => {
    const spec: CheckSpec = { type: 'hears_keys', keys: '1' };
    expect(await check(spec, { ...pressed, agent: [agentSound(3_000, 4_000)] })).toMatchObject({ met: true });
    expect(await check(spec, { ...pressed, ...transferAt(3_000) })).toMatchObject({ met: true });
    expect(await check(spec, { ...pressed, agent: [agentSound(10_000, 11_000)] })).toMatchObject({ met: false });
    expect(await check(spec, { caller: [line(0, 1_000)] })).toMatchObject({ undecided: 'not_exercised' });
  });

  it('goes by the given reaction', async () => {
    const spec = (transfer: true | string): CheckSpec => ({ type: 'hears_keys', keys: '1', then: { transfer } });
    expect(await check(spec('+15550100'), { ...pressed, ...transferAt(3_000) })).toMatchObject({ met: true });
    expect(await check(spec('+15550199'), { ...pressed, ...transferAt(3_000) })).toMatchObject({ met: false });
    expect(await check(spec(true), { ...pressed, agent: [agentSound(3_000, 4_000)] })).toMatchObject({ met: false });
  });
});

describe('hears_keys around sounds and the end of the call', () => {
  it('counts a transfer after a backchannel that the agent spoke through', async () => {
    const mmHmm = sound('backchannel', 3_500, 3_900, { afterMs: 500 });
    const facts = {
      caller: [keys(2_000, 2_100), mmHmm],
      agent: [agentSound(3_000, 5_000)],
      platformEvents: [{ type: 'transfer' as const, atMs: 5_100, detail: '+15550100' }],
      ...endedAt(5_100),
    };
    const spec: CheckSpec = { type: 'hears_keys', keys: '1', then: { transfer: true } };
    expect(await check(spec, facts)).toMatchObject({ met: true });
    const door = sound('noise', 3_500, 3_900, { afterMs: null });
    expect(await check(spec, { ...facts, caller: [keys(2_000, 2_100), door] })).toMatchObject({ met: false });
  });

  it('is undecided if the time limit ended the call before all keys were pressed', async () => {
    const spec: CheckSpec = { type: 'hears_keys', keys: '1' };
    const end = { by: 'tester' as const, code: 'max_duration' as const, reason: '', atMs: 2_500 };
    expect(await check(spec, { caller: [keys(2_000, 2_500)], end })).toMatchObject({ undecided: 'not_exercised' });
  });
});

describe('checks that text calls share', () => {
  const facts = {
    caller: [line(3_000, 4_000), line(20_000, 21_000, { turn: 2 })],
    agent: [agentSound(2_000, 2_300, { turn: 0 }), agentSound(4_812, 6_000), agentSound(10_000, 12_000)],
    agentTurns: [{ turn: 1, startMs: 4_812, endMs: 12_000, audibleMs: 3_188, endedBy: 'silence' as const }],
    end: { by: 'agent' as const, code: 'agent_hung_up' as const, reason: '', atMs: 21_500 },
  };

  it('go by what was heard', async () => {
    const latency = (ms: number): CheckSpec => ({ type: 'max_latency_ms', ms, percentile: 100 });
    expect(await check(latency(812), facts)).toMatchObject({ met: true });
    expect(await check(latency(811), facts)).toMatchObject({ met: false, evidence: [{ entry: 2 }] });
    expect(await check({ type: 'max_pause_ms', ms: 3_999 }, facts)).toMatchObject({ met: false });
    expect(await check({ type: 'max_pause_ms', ms: 4_000 }, facts)).toMatchObject({ met: true });
  });

  it('measure the answer to keys of a caller that says nothing', async () => {
    const facts = {
      caller: [keys(2_000, 2_100)],
      agent: [agentSound(0, 1_000, { turn: 0 }), agentSound(2_700, 4_000, { turn: 0 })],
    };
    const latency = (ms: number): CheckSpec => ({ type: 'max_latency_ms', ms, percentile: 100 });
    expect(await check(latency(600), facts)).toMatchObject({ met: true });
    expect(await check(latency(599), facts)).toMatchObject({ met: false, evidence: [{ entry: 2 }] });
    expect(await check(latency(9_000), { ...facts, agent: facts.agent.slice(0, 1) })).toMatchObject({
      met: false,
      detail: expect.stringContaining('27900 ms') as string,
    });
  });

  it('count no silence but that of the agent', async () => {
    expect(await check({ type: 'max_silence_ms', ms: 4_000 }, facts)).toMatchObject({
      met: true,
      detail: 'The longest silence lasted 4000 ms; the limit is 4000',
    });
    expect(await check({ type: 'max_silence_ms', ms: 3_999 }, facts)).toMatchObject({ met: false });
  });
});
