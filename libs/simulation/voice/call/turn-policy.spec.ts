import { voiceMeasures } from '../measures/index.js';
import { backchannel, callOf, cued, lines, planOf, say, talker } from '../testing/virtual-calls.js';

const near = (ms: number) => expect.closeTo(ms, -0.5);
const FIRST = { firstSpeaker: 'caller' } as const;

/** Times within a millisecond. */
const starts = (acts: readonly { startMs: number }[]) => acts.map(({ startMs }) => Math.round(startMs));

describe('greeting', () => {
  it('is awaited for three seconds, which count as a silence of neither side', async () => {
    const facts = await callOf(planOf([say(500)]), talker());
    expect(starts(lines(facts))).toEqual([3_000]);
    expect(facts.silences).toEqual([]);
    expect(facts.answeredTurns).toBe(1);
  });

  it('is a turn of the agent, after whose end the caller speaks', async () => {
    const facts = await callOf(planOf([say(500)]), talker({ greetingMs: 4_000 }));
    expect(starts(lines(facts))).toEqual([4_900]);
    expect(facts.agentTurns[0]).toMatchObject({ turn: 0, endedBy: 'silence' });
    expect(facts.answeredTurns).toBe(2);
  });

  it('does not exist if the agent spoke only after keys', async () => {
    const facts = await callOf(planOf([{ type: 'press', keys: '1' }]), cued({ atMs: 4_000, playMs: 500 }));
    expect(facts.agent).toHaveLength(1);
    expect(voiceMeasures(facts)).toMatchObject({
      greetingMs: null,
      latencies: [{ heardMs: near(900), answered: true }],
    });
  });

  it('is not awaited if the caller speaks first', async () => {
    const facts = await callOf(planOf([say(500)], FIRST), talker());
    expect(starts(lines(facts))).toEqual([0]);
  });

  it('that begins at the last moment still counts', async () => {
    const frames = Array.from({ length: 50 }, (_, n) => ({ atMs: 2_960 + n * 20, playMs: 20 }));
    const facts = await callOf(planOf([say(500)]), cued(...frames, { atMs: 6_000, playMs: 500 }));
    expect(starts(lines(facts))).toEqual([4_660]);
  });
});

describe("the agent's turn", () => {
  it('ends after 700 ms of heard silence', async () => {
    const facts = await callOf(planOf([say(500)]), cued({ atMs: 100, playMs: 1_000 }, { atMs: 5_000, playMs: 500 }));
    expect(starts(lines(facts))).toEqual([1_800]);
  });

  it('continues over a shorter pause', async () => {
    const agent = cued({ atMs: 100, playMs: 1_000 }, { atMs: 1_700, playMs: 1_000 }, { atMs: 6_000, playMs: 500 });
    const facts = await callOf(planOf([say(500)]), agent);
    expect(starts(lines(facts))).toEqual([3_400]);
    expect(facts.agentTurns[0]).toMatchObject({ startMs: near(100), endMs: near(2_700), audibleMs: near(2_000) });
  });

  it('ends after the silence set by the evaluation', async () => {
    const agent = cued({ atMs: 100, playMs: 1_000 }, { atMs: 6_000, playMs: 500 });
    const facts = await callOf(planOf([say(500)], { turnEndMs: 1_500 }), agent);
    expect(starts(lines(facts))).toEqual([2_600]);
  });

  it('does not end while the buffer contains audible sound', async () => {
    const agent = cued(
      { atMs: 100, playMs: 500 },
      { atMs: 110, leadMs: 1_500, playMs: 500 },
      { atMs: 6_000, playMs: 500 },
    );
    const facts = await callOf(planOf([say(500)]), agent);
    expect(starts(lines(facts))).toEqual([3_300]);
  });

  it('does not wait for silence in the buffer', async () => {
    const agent = cued({ atMs: 100, playMs: 500 }, { atMs: 110, leadMs: 4_000 }, { atMs: 6_000, playMs: 500 });
    const facts = await callOf(planOf([say(500)]), agent);
    expect(starts(lines(facts))).toEqual([1_300]);
  });

  it('ends 200 ms after its sound if the transport reports its end', async () => {
    const agent = cued({ atMs: 100, playMs: 1_000 }, { atMs: 120, control: 'turn_end' }, { atMs: 4_000, playMs: 500 });
    const facts = await callOf(planOf([say(500)]), agent);
    expect(starts(lines(facts))).toEqual([1_300]);
    expect(facts.agentTurns[0]!.endedBy).toBe('transport');
  });

  it('does not end while a sound may just have begun', async () => {
    // In real time, so that nothing lies in the buffer.
    const frames = Array.from({ length: 50 }, (_, n) => ({ atMs: 1_780 + n * 20, playMs: 20 }));
    const agent = cued({ atMs: 100, playMs: 1_000 }, ...frames, { atMs: 6_000, playMs: 500 });
    const facts = await callOf(planOf([say(500)]), agent);
    expect(starts(lines(facts))).toEqual([3_480]);
  });

  it('does not begin with steady background noise', async () => {
    const agent = cued({ atMs: 0, playMs: 20_000, dbfs: -45 });
    const facts = await callOf(planOf([say(500)], { maxDurationSeconds: 10 }), agent);
    expect(facts.agent).toEqual([]);
    expect(starts(lines(facts))).toEqual([3_000]);
  });
});

describe('patience', () => {
  it('starts over when the agent has spoken, also while the caller waited on purpose', async () => {
    const press = { type: 'press' as const, keys: '1' };
    const wait = { type: 'wait' as const, ms: 5_000 };
    const script = [say(500), press, backchannel(500), wait, say(500)];
    const agent = cued({ atMs: 1_000, playMs: 500 }, { atMs: 11_000, playMs: 1_000 }, { atMs: 26_000, playMs: 500 });
    const facts = await callOf(planOf(script, FIRST), agent);
    expect(lines(facts).map(({ repeated }) => repeated ?? false)).toEqual([false, false, true]);
    expect(facts.end.code).toBe('script_over');
  });

  it('lasts eight seconds, after which the caller repeats its line', async () => {
    const agent = cued({ atMs: 100, playMs: 500 }, { atMs: 12_000, playMs: 500 });
    const facts = await callOf(planOf([say(500)]), agent);
    expect(starts(lines(facts))).toEqual([1_300, 9_800]);
    expect(lines(facts)[1]).toMatchObject({ repeated: true, step: 0, turn: 2 });
    expect(facts.silences).toEqual([{ of: 'agent', turn: 1, startMs: near(1_800), endMs: near(9_800) }]);
    expect(facts.end.code).toBe('script_over');
  });

  it('runs out after the second silence, which ends the call', async () => {
    const facts = await callOf(planOf([say(500), say(500)], FIRST), cued());
    expect(starts(lines(facts))).toEqual([0, 8_500]);
    expect(facts.silences).toHaveLength(2);
    expect(facts.end).toMatchObject({ by: 'caller', code: 'agent_silent', atMs: 17_000 });
    expect(facts.answeredTurns).toBe(0);
  });

  it('starts over after an answer', async () => {
    const agent = cued({ atMs: 12_000, playMs: 500 }, { atMs: 25_000, playMs: 500 });
    const facts = await callOf(planOf([say(500), say(500)], FIRST), agent);
    // Said at 0, again at 8,500; answered at 12,000; the next line at 13,200 and again at 21,700.
    expect(starts(lines(facts))).toEqual([0, 8_500, 13_200, 21_700]);
    expect(facts.end.code).toBe('script_over');
  });
});

describe('waitSeconds', () => {
  it('keeps the turn and counts as the caller’s silence', async () => {
    const script = [say(500), { type: 'wait', ms: 3_000 } as const, say(500)];
    const facts = await callOf(planOf(script, FIRST), cued({ atMs: 1_000, playMs: 500 }, { atMs: 8_000, playMs: 500 }));
    expect(starts(lines(facts))).toEqual([0, 5_200]);
    expect(facts.silences).toEqual([{ of: 'caller', turn: 1, startMs: near(2_200), endMs: near(5_200) }]);
  });

  it('ends early if the agent hangs up', async () => {
    const script = [say(500), { type: 'wait', ms: 30_000 } as const, say(500)];
    const facts = await callOf(planOf(script, FIRST), cued({ atMs: 1_000, playMs: 500 }, { atMs: 4_003, close: 1000 }));
    expect(facts.silences).toEqual([{ of: 'caller', turn: 1, startMs: near(2_200), endMs: near(4_010) }]);
  });

  it('does not interrupt an agent that begins to speak during it', async () => {
    const script = [say(500), { type: 'wait', ms: 3_000 } as const, say(500)];
    const agent = cued({ atMs: 1_000, playMs: 500 }, { atMs: 5_000, playMs: 1_000 }, { atMs: 9_000, playMs: 500 });
    const facts = await callOf(planOf(script, FIRST), agent);
    expect(starts(lines(facts))).toEqual([0, 6_700]);
  });

  it('does not join separate sounds of the agent during it into one turn', async () => {
    const script = [say(500), { type: 'wait', ms: 9_000 } as const];
    const agent = cued({ atMs: 1_000, playMs: 500 }, { atMs: 4_000, playMs: 500 }, { atMs: 8_000, playMs: 500 });
    const facts = await callOf(planOf(script, FIRST), agent);
    expect(starts(facts.agentTurns)).toEqual([1_000, 4_000, 8_000]);
  });
});

describe('background audio', () => {
  it('that nobody has spoken above for eight seconds is a missing greeting', async () => {
    const facts = await callOf(planOf([say(500)]), cued({ atMs: 0, playMs: 12_000, dbfs: -36 }));
    expect(lines(facts)[0]!.startMs).toBeGreaterThan(7_900);
    expect(facts.agent).toEqual([]);
    expect(facts.background).toMatchObject({ dbfs: expect.closeTo(-36, -0.5) });
  });

  it('that hides the end of a turn for half a minute ends the call, and is not blamed on the agent', async () => {
    const cues = Array.from({ length: 200 }, (_, n) => ({ atMs: n * 200, playMs: 200, dbfs: n % 2 ? -22 : -38 }));
    const facts = await callOf(planOf([say(500)]), cued(...cues));
    expect(facts.failure).toMatchObject({ code: 'never_silent', fault: 'infrastructure', retryable: false });
    expect(facts.failure!.message).toContain('-38 and -22 dBFS');
  });
});

describe('the end', () => {
  it('comes after the agent’s last turn when the script is over', async () => {
    const facts = await callOf(planOf([say(500)], FIRST), cued({ atMs: 1_000, playMs: 2_000 }));
    expect(facts.end).toEqual({ by: 'caller', code: 'script_over', reason: 'The script ended', atMs: 3_700 });
  });

  it('comes with the words of an end step', async () => {
    const script = [say(500), { type: 'end', reason: 'The table is booked' } as const];
    const facts = await callOf(planOf(script, FIRST), cued({ atMs: 1_000, playMs: 1_000 }));
    expect(facts.end).toMatchObject({ by: 'caller', code: 'caller_done', reason: 'The table is booked' });
  });

  it('comes at the maximum number of turns', async () => {
    const facts = await callOf(planOf([say(500), say(500), say(500)], { ...FIRST, maxTurns: 2 }), talker());
    expect(facts.end).toMatchObject({ by: 'tester', code: 'max_turns' });
    expect(lines(facts)).toHaveLength(2);
  });

  it('comes at the maximum duration, no matter how long the agent talks', async () => {
    const agent = cued({ atMs: 1_000, playMs: 60_000 });
    const facts = await callOf(planOf([say(500), say(500)], { ...FIRST, maxDurationSeconds: 20 }), agent);
    expect(facts.end).toMatchObject({ by: 'tester', code: 'max_duration', atMs: 20_000 });
    expect(facts.agentTurns).toEqual([expect.objectContaining({ endedBy: 'call_end', endMs: near(20_000) })]);
    expect(facts.agent[0]!.endMs).toBe(20_000);
  });

  it('comes when the agent hangs up, even during the caller’s line', async () => {
    const facts = await callOf(planOf([say(3_000)], FIRST), cued({ atMs: 1_500, close: 1000 }));
    expect(facts.end).toEqual({ by: 'agent', code: 'agent_hung_up', reason: 'The agent hung up', atMs: 1_500 });
    expect(lines(facts)[0]).toMatchObject({ startMs: 0, endMs: 1_500 });
    expect(facts.failure).toBeUndefined();
  });

  it('is a failure if the connection breaks off', async () => {
    const facts = await callOf(planOf([say(3_000)], FIRST), cued({ atMs: 1_500, close: 1006 }));
    expect(facts.end).toMatchObject({ by: 'tester', code: 'failure' });
    expect(facts.failure?.code).toBe('connection_lost');
  });
});
