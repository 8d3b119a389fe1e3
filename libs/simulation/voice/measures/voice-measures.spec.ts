import { agentSound, bargeIn, factsOf, keys, line, sound } from '../testing/facts.js';
import { silencesOf, voiceMeasures } from './index.js';

const LINE = line(1_000, 2_000);

describe('response latency as heard', () => {
  it('is the time from the end of the line to the first onset after it, with first byte and leading silence', () => {
    const { latencies } = voiceMeasures(
      factsOf({ caller: [LINE], agent: [agentSound(2_812, 4_000, { firstByteMs: 2_640 })] }),
    );
    expect(latencies).toEqual([
      { turn: 1, heardMs: 812, firstByteMs: 640, leadingSilenceMs: 172, answered: true, plusMinusMs: 0 },
    ]);
  });

  it('is unknown if the agent is sounding when the line ends', () => {
    const { latencies } = voiceMeasures(factsOf({ caller: [LINE], agent: [agentSound(1_800, 4_000)] }));
    expect(latencies).toMatchObject([{ heardMs: null, note: 'already_speaking', answered: true }]);
  });

  it('is unknown if the agent answered before the line ended', () => {
    const agent = [agentSound(1_200, 1_950), agentSound(2_500, 4_000)];
    expect(voiceMeasures(factsOf({ caller: [LINE], agent })).latencies).toMatchObject([
      { heardMs: null, note: 'answered_early' },
    ]);
  });

  it('starts at the end of the line that interrupted the agent', () => {
    const agent = [agentSound(500, 1_240), agentSound(2_600, 4_000)];
    expect(voiceMeasures(factsOf({ caller: [bargeIn(1_000, 2_000)], agent })).latencies).toMatchObject([
      { heardMs: 600 },
    ]);
  });

  it('is unknown if the agent continues the speech that the caller interrupted', () => {
    const agent = [agentSound(500, 1_990), agentSound(2_207, 6_000)];
    expect(voiceMeasures(factsOf({ caller: [bargeIn(1_000, 2_000)], agent })).latencies).toMatchObject([
      { heardMs: null, note: 'already_speaking' },
    ]);
  });

  it('is unknown if the agent yielded and then answered before the line ended', () => {
    const agent = [agentSound(500, 1_240), agentSound(2_000, 2_800), agentSound(4_700, 6_000)];
    const clears = [{ atMs: 1_240, droppedMs: 3_000 }];
    expect(voiceMeasures(factsOf({ caller: [bargeIn(1_000, 4_000)], agent, clears })).latencies).toMatchObject([
      { heardMs: null, note: 'answered_early' },
    ]);
  });

  it('starts at the last key', () => {
    const caller = [LINE, keys(2_500, 2_900)];
    expect(voiceMeasures(factsOf({ caller, agent: [agentSound(3_500, 4_000)] })).latencies).toMatchObject([
      { turn: 1, heardMs: 600 },
    ]);
  });

  it('is the time that the caller waited if there is no answer', () => {
    const caller = [LINE, line(10_000, 11_000, { turn: 2, repeated: true })];
    const { latencies } = voiceMeasures(factsOf({ caller, agent: [agentSound(11_700, 12_000)] }));
    expect(latencies).toMatchObject([
      { turn: 1, heardMs: 8_000, firstByteMs: null, answered: false },
      { turn: 2, heardMs: 700, answered: true },
    ]);
  });

  it('has the largest stall within its span as uncertainty', () => {
    const timing = {
      frameLatenessMs: { p50: 0, p99: 0, worst: 300 },
      stalls: [
        { at: 500, ms: 400 },
        { at: 2_100, ms: 300 },
      ],
      sentAsPlanned: true,
    };
    const facts = factsOf({ caller: [LINE], agent: [agentSound(2_800, 4_000)], timing });
    expect(voiceMeasures(facts).latencies).toMatchObject([{ plusMinusMs: 300 }]);
  });

  it('ends at a short sound that opens the answer, and has the time from there to the speech', () => {
    const agent = [agentSound(2_300, 2_450), agentSound(3_500, 5_000)];
    expect(voiceMeasures(factsOf({ caller: [LINE], agent })).latencies).toMatchObject([
      { heardMs: 300, leadInMs: 1_200, answered: true },
    ]);
    const [plain] = voiceMeasures(factsOf({ caller: [LINE], agent: [agentSound(2_300, 2_550)] })).latencies;
    expect(plain).not.toHaveProperty('leadInMs');
  });

  it('does not end at a short sound that nothing follows for 1.5 s', () => {
    const agent = [agentSound(2_300, 2_450), agentSound(3_950, 5_000)];
    expect(voiceMeasures(factsOf({ caller: [LINE], agent })).latencies).toMatchObject([{ heardMs: 1_950 }]);
    const caller = [LINE, line(10_000, 11_000, { turn: 2, repeated: true })];
    expect(voiceMeasures(factsOf({ caller, agent: [agentSound(2_300, 2_450)] })).latencies).toMatchObject([
      { heardMs: 8_000, answered: false },
      {},
    ]);
  });

  it('ends at a short sound that the platform reports as a whole turn', () => {
    const agentTurns = [{ turn: 1, startMs: 2_300, endMs: 2_500, audibleMs: 200, endedBy: 'transport' }] as const;
    const facts = factsOf({ caller: [LINE], agent: [agentSound(2_300, 2_500)], agentTurns });
    expect(voiceMeasures(facts).latencies).toMatchObject([{ heardMs: 300, answered: true }]);
  });

  it('does not include the greeting, which has its own measure', () => {
    const facts = factsOf({ caller: [line(3_000, 4_000)], agent: [agentSound(900, 2_000), agentSound(4_500, 5_000)] });
    expect(voiceMeasures(facts)).toMatchObject({ greetingMs: 900, latencies: [{ heardMs: 500 }] });
    expect(voiceMeasures(factsOf({ caller: [LINE], agent: [agentSound(2_500, 3_000)] })).greetingMs).toBeNull();
  });
});

describe('barge-in', () => {
  const one = (given: Parameters<typeof factsOf>[0]) => voiceMeasures(factsOf(given)).bargeIns[0];

  it('is yielded to if the agent cleared its sound', () => {
    const facts = { agent: [agentSound(0, 1_240)], clears: [{ atMs: 1_240, droppedMs: 3_000 }] };
    expect(one({ ...facts, caller: [bargeIn(1_000, 2_500, { bufferedMs: 3_200 })] })).toEqual({
      atMs: 1_000,
      afterHeardMs: 1_000,
      possible: true,
      yielded: true,
      yieldMs: 240,
      plusMinusMs: 0,
      heardUntilMs: 1_000,
    });
  });

  it('is not yielded to if the buffered audio played to its end without a clear, no matter how soon', () => {
    const caller = [bargeIn(1_000, 3_000, { bufferedMs: 600 })];
    expect(one({ caller, agent: [agentSound(0, 1_600)] })).toMatchObject({ yielded: false, yieldMs: 600 });
  });

  it('needs no clear if little audio was buffered', () => {
    expect(one({ caller: [bargeIn(1_000, 3_000)], agent: [agentSound(0, 1_700)] })).toMatchObject({
      yielded: true,
      yieldMs: 700,
    });
  });

  it('is undecided if the speech soon ended by itself', () => {
    expect(one({ caller: [bargeIn(1_000, 3_000)], agent: [agentSound(0, 1_400)] })).toMatchObject({ yielded: null });
  });

  it('is yielded to if the speech soon broke off, even if little audio was buffered', () => {
    const agent = [agentSound(0, 1_250, { breaksOff: true })];
    expect(one({ caller: [bargeIn(1_000, 3_000)], agent })).toMatchObject({ yielded: true, yieldMs: 250 });
    // All that was sent was played: only a clear would have stopped it.
    const caller = [bargeIn(1_000, 3_000, { bufferedMs: 600 })];
    expect(one({ caller, agent })).toMatchObject({ yielded: false });
  });

  it('is undecided if all of the speech had been sent before the line began', () => {
    const agent = [agentSound(0, 1_250, { breaksOff: true }), agentSound(3_800, 5_000)];
    const caller = [bargeIn(1_000, 3_000, { bufferedMs: 250 })];
    expect(one({ caller, agent })).toMatchObject({ yielded: null });
  });

  it('is yielded to if the speech soon ended and the agent next spoke after the line', () => {
    const caller = [bargeIn(1_000, 3_000)];
    expect(one({ caller, agent: [agentSound(0, 1_300), agentSound(3_800, 5_000)] })).toMatchObject({
      yielded: true,
      yieldMs: 300,
    });
  });

  it('is undecided if the agent speaks again before the line is over, or only after the next one', () => {
    const goesOn = [agentSound(0, 1_300), agentSound(2_200, 2_800), agentSound(3_800, 5_000)];
    expect(one({ caller: [bargeIn(1_000, 3_000)], agent: goesOn })).toMatchObject({ yielded: null });
    const caller = [bargeIn(1_000, 3_000), line(11_000, 12_000, { repeated: true, turn: 2 })];
    expect(one({ caller, agent: [agentSound(0, 1_300), agentSound(12_800, 14_000)] })).toMatchObject({ yielded: null });
  });

  it('is not yielded to after two seconds', () => {
    const agent = [agentSound(0, 3_100)];
    const clears = [{ atMs: 3_100, droppedMs: 100 }];
    expect(one({ caller: [bargeIn(1_000, 3_500)], agent, clears })).toMatchObject({ yielded: false, yieldMs: 2_100 });
  });

  it('has the largest stall from the onset of the line to the end of the sound as uncertainty', () => {
    const timing = {
      stalls: [
        { at: 500, ms: 90 },
        { at: 1_100, ms: 60 },
      ],
      sentAsPlanned: true,
    };
    const facts = { agent: [agentSound(0, 1_240)], clears: [{ atMs: 1_240, droppedMs: 3_000 }], timing };
    expect(one({ ...facts, caller: [bargeIn(1_000, 2_500)] })).toMatchObject({ yieldMs: 240, plusMinusMs: 60 });
  });

  it('is not yielded to by a breath between two sentences', () => {
    const agent = [agentSound(0, 1_600), agentSound(1_900, 5_000)];
    const facts = { caller: [bargeIn(1_000, 3_000)], agent };
    expect(one(facts)).toMatchObject({ yielded: false, yieldMs: 4_000 });
    expect(voiceMeasures(factsOf(facts)).interruptions).toEqual([]);
  });

  it('is undecided if the caller had no chance to barge in', () => {
    const caller = [bargeIn(1_000, 2_000, { possible: false })];
    expect(one({ caller, agent: [agentSound(0, 900)] })).toMatchObject({ possible: false, yielded: null });
  });
});

describe('backchannels and noises', () => {
  const kept = (given: Parameters<typeof factsOf>[0]) => voiceMeasures(factsOf(given)).backchannels[0]?.kept;
  const cough = sound('noise', 2_000, 2_350);

  it('are spoken through by an agent that goes on for a second', () => {
    expect(kept({ caller: [cough], agent: [agentSound(0, 3_000)] })).toBe(true);
    expect(kept({ caller: [cough], agent: [agentSound(0, 2_300), agentSound(2_600, 3_200)] })).toBe(true);
  });

  it('are yielded to by an agent that clears its sound', () => {
    expect(kept({ caller: [cough], agent: [agentSound(0, 2_300)], clears: [{ atMs: 2_300, droppedMs: 900 }] })).toBe(
      false,
    );
  });

  it('are undecided if the speech ended by itself or there was no chance for the sound', () => {
    expect(kept({ caller: [cough], agent: [agentSound(0, 2_300)] })).toBeNull();
    expect(kept({ caller: [{ ...cough, possible: false }], agent: [agentSound(0, 5_000)] })).toBeNull();
  });

  it('in silence are left unanswered for two seconds', () => {
    const door = sound('noise', 2_000, 2_300, { afterMs: null });
    expect(kept({ caller: [door], agent: [agentSound(3_900, 5_000)] })).toBe(false);
    expect(kept({ caller: [door], agent: [agentSound(4_100, 5_000)] })).toBe(true);
    expect(kept({ caller: [door, line(2_500, 3_000)], agent: [agentSound(3_500, 5_000)] })).toBeNull();
  });
});

describe('interruptions', () => {
  const of = (given: Parameters<typeof factsOf>[0]) => voiceMeasures(factsOf(given));

  it('are sounds that begin while the caller speaks and overlap it by 300 ms', () => {
    const found = of({ caller: [LINE], agent: [agentSound(1_600, 2_200)] });
    expect(found).toMatchObject({
      interruptions: [{ atMs: 1_600, overlapMs: 400, inHesitation: false }],
      overlapMs: 400,
      collisions: 0,
    });
    expect(of({ caller: [LINE], agent: [agentSound(1_750, 2_200)] }).interruptions).toEqual([]);
  });

  it('also count during a hesitation', () => {
    const hesitating = line(1_000, 4_000, {
      parts: [
        { startMs: 1_000, endMs: 2_000 },
        { startMs: 3_200, endMs: 4_000 },
      ],
    });
    expect(of({ caller: [hesitating], agent: [agentSound(2_600, 3_000)] }).interruptions).toEqual([
      { atMs: 2_600, overlapMs: 400, inHesitation: true },
    ]);
  });

  it('during a hesitation need 300 ms of audio, no matter how soon the caller continues', () => {
    const parts = [
      { startMs: 1_000, endMs: 2_000 },
      { startMs: 3_200, endMs: 3_400 },
    ];
    const caller = [line(1_000, 3_400, { parts })];
    expect(of({ caller, agent: [agentSound(3_150, 5_000)] }).interruptions).toEqual([
      { atMs: 3_150, overlapMs: 250, inHesitation: true },
    ]);
    expect(of({ caller, agent: [agentSound(2_500, 2_790)] }).interruptions).toEqual([]);
  });

  it('are collisions if both began at about the same time after the agent had spoken', () => {
    const agent = [agentSound(0, 500), agentSound(1_400, 2_400)];
    expect(of({ caller: [LINE], agent })).toMatchObject({ interruptions: [], collisions: 1 });
    expect(of({ caller: [LINE], agent: [agentSound(1_600, 2_400)] })).toMatchObject({ collisions: 0 });
  });

  it('are collisions if the greeting begins within 500 ms of the caller’s first words', () => {
    const greeting = [agentSound(1_400, 2_400)];
    expect(of({ caller: [LINE], agent: greeting })).toMatchObject({ interruptions: [], collisions: 1 });
    const later = [LINE, line(11_000, 12_000, { repeated: true, turn: 2 })];
    expect(of({ caller: later, agent: [agentSound(11_400, 12_400)] })).toMatchObject({
      interruptions: [{ atMs: 11_400 }],
      collisions: 0,
    });
  });
});

describe('a backchannel of the agent', () => {
  const LONG = line(1_000, 6_000);
  const of = (more: Parameters<typeof factsOf>[0]) => voiceMeasures(factsOf({ caller: [LONG], ...more }));
  const answer = agentSound(6_500, 8_000);

  it('is shorter than 700 ms while the caller continues, and neither an interruption nor an early answer', () => {
    expect(of({ agent: [agentSound(2_000, 2_600), answer] })).toMatchObject({
      interruptions: [],
      overlapMs: 0,
      latencies: [{ heardMs: 500 }],
    });
  });

  it.each([
    ['it lasts 700 ms', { agent: [agentSound(2_000, 2_700), answer] }],
    ['the agent goes on after it', { agent: [agentSound(2_000, 2_600), agentSound(3_200, 3_900), answer] }],
    ['the caller does not go on', { agent: [agentSound(5_600, 6_200)] }],
    [
      'more of it was cleared',
      { agent: [agentSound(2_000, 2_600), answer], clears: [{ atMs: 2_600, droppedMs: 900 }] },
    ],
    ['the agent broke it off', { agent: [agentSound(2_000, 2_600, { breaksOff: true }), answer] }],
    [
      'it is said in a hesitation',
      {
        caller: [
          line(1_000, 6_000, {
            parts: [
              { startMs: 1_000, endMs: 1_900 },
              { startMs: 3_100, endMs: 6_000 },
            ],
          }),
        ],
        agent: [agentSound(2_000, 2_600), answer],
      },
    ],
  ])('is an interruption if %s', (_why, facts) => {
    expect(of(facts).interruptions).toHaveLength(1);
    expect(of(facts).latencies).toMatchObject([{ heardMs: null }]);
  });

  it('does not count as broken off if all of it was sent before it ended', () => {
    const agent = [agentSound(2_000, 2_600, { breaksOff: true }), answer];
    const arrivals = [{ arrivedMs: 2_000, playedFromMs: 2_000, playedToMs: 2_600 }];
    expect(of({ agent, arrivals }).interruptions).toEqual([]);
  });
});

describe('silence', () => {
  it('is the time to the onset and between two sounds, without greeting, ends of turns and waits of the caller', () => {
    const facts = factsOf({
      caller: [line(3_000, 4_000), line(12_700, 13_000, { turn: 2 })],
      agent: [agentSound(2_000, 2_300), agentSound(4_500, 6_000), agentSound(10_000, 12_000)],
      silences: [{ of: 'caller', turn: 2, startMs: 13_500, endMs: 20_000 }],
    });
    expect(silencesOf(facts).map(({ ms }) => ms)).toEqual([500, 4_000, 500]);
    expect(voiceMeasures(facts).deadAir).toEqual({ totalMs: 4_000, longestMs: 4_000, over3s: 1 });
  });

  it('is not the wait for the end of a turn after a backchannel that ended later than the agent', () => {
    const caller = [sound('backchannel', 5_800, 6_150), line(9_000, 10_000)];
    const agent = [agentSound(2_000, 6_000), agentSound(10_500, 12_000)];
    expect(silencesOf(factsOf({ caller, agent })).map(({ ms }) => ms)).toEqual([500]);
    // A pause inside the turn stays the agent's.
    const goesOn = [agentSound(2_000, 6_000), agentSound(8_150, 8_900), agentSound(10_500, 12_000)];
    expect(silencesOf(factsOf({ caller, agent: goesOn })).map(({ ms }) => ms)).toEqual([2_000, 500]);
  });

  it('lasts until the caller gives up', () => {
    const end = { by: 'caller', code: 'agent_silent', reason: '', atMs: 10_000 } as const;
    expect(voiceMeasures(factsOf({ caller: [LINE], end })).deadAir).toMatchObject({ longestMs: 8_000 });
  });
});

describe('speech', () => {
  it('has a share, a level and inner gaps', () => {
    const gap = (startMs: number, ms: number, isBetweenSpeech = true) => ({
      startMs,
      endMs: startMs + ms,
      isBetweenSpeech,
    });
    const underruns = [gap(3_000, 60), gap(3_500, 400), gap(4_000, 19), gap(5_000, 401), gap(6_000, 60, false)];
    const found = voiceMeasures(factsOf({ caller: [LINE], agent: [agentSound(2_500, 5_500)], underruns }));
    expect(found).toMatchObject({
      speech: { agentMs: 3_000, callerMs: 1_000 },
      speechShare: 0.75,
      choppiness: { gaps: 2, perMinute: 40 },
      level: { agentDbfs: -20, clippedPercent: 0 },
    });
  });

  it('has no share if nothing was heard', () => {
    const level = { dbfs: null, sentDbfs: -70, clippedPercent: 0, inaudible: true };
    expect(voiceMeasures(factsOf({ level }))).toMatchObject({
      speechShare: null,
      overlapMs: null,
      choppiness: { gaps: 0, perMinute: null },
      level: { agentDbfs: null, clippedPercent: 0, inaudible: true },
    });
  });

  it('has no share of clipped samples if the agent sent nothing', () => {
    const level = { dbfs: null, sentDbfs: null, clippedPercent: 0, inaudible: false };
    expect(voiceMeasures(factsOf({ level })).level).toEqual({ agentDbfs: null, clippedPercent: null });
  });

  it('has an overlap only if both sides were heard', () => {
    const agent = [agentSound(2_500, 5_500)];
    expect(voiceMeasures(factsOf({ caller: [LINE], agent })).overlapMs).toBe(0);
    expect(voiceMeasures(factsOf({ caller: [LINE] })).overlapMs).toBeNull();
    expect(voiceMeasures(factsOf({ agent })).overlapMs).toBeNull();
  });
});
