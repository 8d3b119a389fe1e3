import type { PressAct } from './facts.js';
import {
  backchannel,
  callOf,
  cued,
  hesitating,
  lines,
  noise,
  planOf,
  say,
  sounds,
  talker,
} from './testing/virtual-calls.js';

const near = (ms: number) => expect.closeTo(ms, -0.5);
const FIRST = { firstSpeaker: 'caller' } as const;

/** Times within a millisecond. */
const starts = (acts: readonly { startMs: number }[]) => acts.map(({ startMs }) => Math.round(startMs));

describe('greeting', () => {
  it('is waited for three seconds, which is nobody’s silence', async () => {
    const facts = await callOf(planOf([say(500)]), talker());
    expect(starts(lines(facts))).toEqual([3_000]);
    expect(facts.silences).toEqual([]);
    expect(facts.answeredTurns).toBe(1);
  });

  it('is a turn of the agent: the caller speaks when it has ended', async () => {
    const facts = await callOf(planOf([say(500)]), talker({ greetingMs: 4_000 }));
    expect(starts(lines(facts))).toEqual([4_900]);
    expect(facts.agentTurns[0]).toMatchObject({ turn: 0, endedBy: 'silence' });
    expect(facts.answeredTurns).toBe(2);
  });

  it('is not waited for when the caller speaks first', async () => {
    const facts = await callOf(planOf([say(500)], FIRST), talker());
    expect(starts(lines(facts))).toEqual([0]);
  });

  it('that begins at the last moment is still heard', async () => {
    const facts = await callOf(planOf([say(500)]), cued({ atMs: 2_960, playMs: 1_000 }, { atMs: 6_000, playMs: 500 }));
    expect(starts(lines(facts))).toEqual([4_660]);
  });
});

describe("the agent's turn", () => {
  it('ends after 700 ms of heard silence', async () => {
    const facts = await callOf(planOf([say(500)]), cued({ atMs: 100, playMs: 1_000 }, { atMs: 5_000, playMs: 500 }));
    expect(starts(lines(facts))).toEqual([1_800]);
  });

  it('goes on over a shorter pause', async () => {
    const agent = cued({ atMs: 100, playMs: 1_000 }, { atMs: 1_700, playMs: 1_000 }, { atMs: 6_000, playMs: 500 });
    const facts = await callOf(planOf([say(500)]), agent);
    expect(starts(lines(facts))).toEqual([3_400]);
    expect(facts.agentTurns[0]).toMatchObject({ startMs: near(100), endMs: near(2_700), audibleMs: near(2_000) });
  });

  it('ends after the silence that the evaluation sets', async () => {
    const agent = cued({ atMs: 100, playMs: 1_000 }, { atMs: 6_000, playMs: 500 });
    const facts = await callOf(planOf([say(500)], { turnEndMs: 1_500 }), agent);
    expect(starts(lines(facts))).toEqual([2_600]);
  });

  it('does not end while audible sound is left in the buffer', async () => {
    const agent = cued(
      { atMs: 100, playMs: 500 },
      { atMs: 110, leadMs: 1_500, playMs: 500 },
      { atMs: 6_000, playMs: 500 },
    );
    const facts = await callOf(planOf([say(500)]), agent);
    expect(starts(lines(facts))).toEqual([3_300]);
  });

  it('does not wait for silence that is left in the buffer', async () => {
    const agent = cued({ atMs: 100, playMs: 500 }, { atMs: 110, leadMs: 4_000 }, { atMs: 6_000, playMs: 500 });
    const facts = await callOf(planOf([say(500)]), agent);
    expect(starts(lines(facts))).toEqual([1_300]);
  });

  it('ends 200 ms after its sound when the transport says that it has ended', async () => {
    const agent = cued({ atMs: 100, playMs: 1_000 }, { atMs: 120, control: 'turn_end' }, { atMs: 4_000, playMs: 500 });
    const facts = await callOf(planOf([say(500)]), agent);
    expect(starts(lines(facts))).toEqual([1_300]);
    expect(facts.agentTurns[0]!.endedBy).toBe('transport');
  });

  it('does not end before a sound that has just begun is known to be none', async () => {
    const agent = cued({ atMs: 100, playMs: 1_000 }, { atMs: 1_780, playMs: 1_000 }, { atMs: 6_000, playMs: 500 });
    const facts = await callOf(planOf([say(500)]), agent);
    expect(starts(lines(facts))).toEqual([3_480]);
  });

  it('is not made by steady background noise', async () => {
    const agent = cued({ atMs: 0, playMs: 20_000, dbfs: -45 });
    const facts = await callOf(planOf([say(500)], { maxDurationSeconds: 10 }), agent);
    expect(facts.agent).toEqual([]);
    expect(starts(lines(facts))).toEqual([3_000]);
  });
});

describe('patience', () => {
  it('lasts eight seconds; then the line is said once more', async () => {
    const agent = cued({ atMs: 100, playMs: 500 }, { atMs: 12_000, playMs: 500 });
    const facts = await callOf(planOf([say(500)]), agent);
    expect(starts(lines(facts))).toEqual([1_300, 9_800]);
    expect(lines(facts)[1]).toMatchObject({ repeated: true, step: 0, turn: 2 });
    expect(facts.silences).toEqual([{ of: 'agent', turn: 1, startMs: near(1_800), endMs: near(9_800) }]);
    expect(facts.end.code).toBe('script_over');
  });

  it('is lost after the second silence: the call ends', async () => {
    const facts = await callOf(planOf([say(500), say(500)], FIRST), cued());
    expect(starts(lines(facts))).toEqual([0, 8_500]);
    expect(facts.silences).toHaveLength(2);
    expect(facts.end).toMatchObject({ by: 'caller', code: 'agent_silent', atMs: 17_000 });
    expect(facts.answeredTurns).toBe(0);
  });

  it('is whole again after an answer', async () => {
    const agent = cued({ atMs: 12_000, playMs: 500 }, { atMs: 25_000, playMs: 500 });
    const facts = await callOf(planOf([say(500), say(500)], FIRST), agent);
    // Said at 0, again at 8,500; answered at 12,000; the next line at 13,200 and again at 21,700.
    expect(starts(lines(facts))).toEqual([0, 8_500, 13_200, 21_700]);
    expect(facts.end.code).toBe('script_over');
  });
});

describe('both at once', () => {
  it('leaves the floor to the caller: it does not yield to the agent', async () => {
    const agent = cued({ atMs: 500, playMs: 1_000 }, { atMs: 4_000, playMs: 500 });
    const facts = await callOf(planOf([say(3_000)], FIRST), agent);
    expect(lines(facts)[0]).toMatchObject({ startMs: 0, endMs: 3_000 });
    expect(facts.agent).toHaveLength(2);
    expect(facts.end).toMatchObject({ code: 'script_over' });
    expect(Math.round(facts.end.atMs)).toBe(5_200);
  });

  it('makes an answer of what the agent began during the line and goes on saying after it', async () => {
    const facts = await callOf(planOf([say(3_000), say(500)], FIRST), cued({ atMs: 2_000, playMs: 2_000 }));
    expect(starts(lines(facts))[1]).toBe(4_700);
  });

  it('makes no answer of a sound that ended before the line did', async () => {
    const facts = await callOf(planOf([say(3_000), say(500)], FIRST), cued({ atMs: 2_000, playMs: 800 }));
    expect(lines(facts)[1]).toMatchObject({ startMs: near(11_000), repeated: true });
  });

  it('makes no answer of a collision', async () => {
    // The agent goes on 900 ms after its first sentence, when the caller has just begun.
    const agent = cued(
      { atMs: 100, playMs: 1_000 },
      { atMs: 2_000, playMs: 3_000 },
      { atMs: 7_000, playMs: 500 },
      { atMs: 10_000, playMs: 500 },
    );
    const facts = await callOf(planOf([say(1_500), say(500)]), agent);
    expect(starts(lines(facts))).toEqual([1_800, 8_200]);
  });
});

describe('a hesitation', () => {
  it('keeps the line one turn of the caller', async () => {
    const facts = await callOf(planOf([hesitating(600, 1_200, 700)], FIRST), cued({ atMs: 3_000, playMs: 500 }));
    expect(lines(facts)).toHaveLength(1);
    expect(lines(facts)[0]!.parts).toEqual([
      { startMs: 0, endMs: 600 },
      { startMs: 1_800, endMs: 2_500 },
    ]);
  });

  it('is not ended by an agent that takes it for the end', async () => {
    const agent = cued({ atMs: 1_000, playMs: 600 }, { atMs: 3_000, playMs: 500 });
    const facts = await callOf(planOf([hesitating(600, 1_200, 700)], FIRST), agent);
    expect(lines(facts)[0]).toMatchObject({ endMs: 2_500 });
    expect(Math.round(facts.end.atMs)).toBe(4_200);
  });
});

describe('a barge-in', () => {
  const script = [say(500), say(1_000, 1_200), say(500)];

  it('begins when the agent has been heard for so long in its turn', async () => {
    const facts = await callOf(
      planOf(script, FIRST),
      cued({ atMs: 1_000, playMs: 5_000 }, { atMs: 8_000, playMs: 500 }),
    );
    const [, barge] = lines(facts);
    expect(barge).toMatchObject({ startMs: near(2_200), turn: 2 });
    expect(barge!.bargeIn).toEqual({
      afterMs: 1_200,
      possible: true,
      afterHeardMs: near(1_200),
      bufferedMs: near(3_800),
      heardUntilMs: near(1_200),
    });
    expect(facts.agentTurns[0]).toMatchObject({ endedBy: 'caller', endMs: near(2_200) });
  });

  it('counts audible milliseconds only', async () => {
    const agent = cued({ atMs: 1_000, playMs: 600 }, { atMs: 2_100, playMs: 5_000 }, { atMs: 9_000, playMs: 500 });
    const facts = await callOf(planOf(script, FIRST), agent);
    expect(starts(lines(facts))[1]).toBe(2_700);
  });

  it('says what was played of the present item, leading silence included', async () => {
    const agent = cued({ atMs: 1_000, leadMs: 300, playMs: 5_000 }, { atMs: 9_000, playMs: 500 });
    const facts = await callOf(planOf(script, FIRST), agent);
    expect(lines(facts)[1]!.bargeIn).toMatchObject({ afterHeardMs: near(1_200), heardUntilMs: near(1_500) });
  });

  it('is not possible when the turn ends first: its line is then said at once', async () => {
    const agent = cued({ atMs: 1_000, playMs: 800 }, { atMs: 5_000, playMs: 500 });
    const facts = await callOf(planOf(script, FIRST), agent);
    const [, line] = lines(facts);
    expect(line).toMatchObject({ startMs: near(2_500) });
    expect(line!.bargeIn).toMatchObject({ possible: false, afterHeardMs: near(800), bufferedMs: 0 });
  });

  it('takes the rest of the interrupted speech for no answer', async () => {
    // The agent ignores the caller until 6,000 and never answers.
    const facts = await callOf(planOf(script, FIRST), cued({ atMs: 1_000, playMs: 5_000 }));
    expect(lines(facts)[2]).toMatchObject({ startMs: near(14_000), repeated: true, step: 1 });
  });

  it('goes on after the answer of an agent that yields', async () => {
    const facts = await callOf(planOf(script, FIRST), talker({ answerMs: 3_000 }));
    expect(lines(facts)).toHaveLength(3);
    expect(lines(facts).some(({ repeated }) => repeated)).toBe(false);
    expect(facts.clears).toHaveLength(1);
    expect(facts.end.code).toBe('script_over');
  });

  it('as the first step interrupts the greeting', async () => {
    const agent = cued({ atMs: 500, playMs: 4_000 }, { atMs: 6_000, playMs: 500 });
    const facts = await callOf(planOf([say(500, 1_000)]), agent);
    expect(lines(facts)[0]).toMatchObject({ startMs: near(1_500), bargeIn: { possible: true } });
  });
});

describe('backchannels and noises', () => {
  it('are heard during the agent’s speech and do not take the floor', async () => {
    const script = [say(500), backchannel(1_000), noise(2_000), say(500)];
    const agent = cued({ atMs: 1_000, playMs: 5_000 }, { atMs: 9_000, playMs: 500 });
    const facts = await callOf(planOf(script, FIRST), agent);
    expect(sounds(facts)).toEqual([
      expect.objectContaining({
        type: 'backchannel',
        startMs: near(2_000),
        endMs: near(2_400),
        turn: 1,
        possible: true,
      }),
      expect.objectContaining({ type: 'noise', startMs: near(3_000), endMs: near(3_350), turn: 1, possible: true }),
    ]);
    expect(starts(lines(facts))).toEqual([0, 6_700]);
    expect(lines(facts)[1]!.turn).toBe(2);
  });

  it('are left out when the turn ends first', async () => {
    const agent = cued({ atMs: 1_000, playMs: 800 }, { atMs: 5_000, playMs: 500 });
    const facts = await callOf(planOf([say(500), backchannel(1_000), say(500)], FIRST), agent);
    expect(sounds(facts)).toEqual([
      expect.objectContaining({ possible: false, startMs: near(2_500), endMs: near(2_500), step: 1 }),
    ]);
    expect(starts(lines(facts))[1]).toBe(2_500);
  });

  it('are left out when a barge-in takes the floor before', async () => {
    const agent = cued({ atMs: 1_000, playMs: 5_000 }, { atMs: 9_000, playMs: 500 });
    const facts = await callOf(planOf([say(500), backchannel(2_000), say(500, 1_000)], FIRST), agent);
    expect(sounds(facts)).toEqual([expect.objectContaining({ possible: false })]);
    expect(starts(lines(facts))[1]).toBe(2_000);
  });

  it('restart no patience', async () => {
    const facts = await callOf(planOf([say(500), noise()], FIRST), cued({ atMs: 1_000, playMs: 500 }));
    expect(facts.end).toMatchObject({ by: 'caller', code: 'script_over' });
    expect(lines(facts)).toHaveLength(1);
  });

  it('in silence are followed by two seconds in which an agent could answer them', async () => {
    const agent = cued({ atMs: 1_000, playMs: 500 }, { atMs: 8_000, playMs: 500 });
    const facts = await callOf(planOf([say(500), noise(), say(500)], FIRST), agent);
    expect(sounds(facts)[0]).toMatchObject({ startMs: near(2_200), afterMs: null });
    expect(starts(lines(facts))[1]).toBe(2_200 + 350 + 2_000);
    expect(facts.silences).toEqual([{ of: 'caller', turn: 1, startMs: near(2_550), endMs: near(4_550) }]);
  });

  it('in silence that the agent answers let it finish', async () => {
    const agent = cued({ atMs: 1_000, playMs: 500 }, { atMs: 3_000, playMs: 3_000 }, { atMs: 9_000, playMs: 500 });
    const facts = await callOf(planOf([say(500), noise(), say(500)], FIRST), agent);
    expect(starts(lines(facts))[1]).toBe(6_700);
  });
});

describe('keys', () => {
  const press = (keys: string) => ({ type: 'press', keys }) as const;
  const keysOf = (facts: { caller: readonly { type: string }[] }) =>
    facts.caller.filter((act): act is PressAct => act.type === 'press');

  it('are sent through the protocol, one tone of 100 ms after the other', async () => {
    const sent: [number, string][] = [];
    const facts = await callOf(planOf([press('1w#')], FIRST), () => ({
      onMessage: (now, data) => {
        if (typeof data === 'string' && data.startsWith('key:')) sent.push([now, data]);
      },
      tick: () => undefined,
    }));
    expect(sent).toEqual([
      [100, 'key:1'],
      [800, 'key:#'],
    ]);
    expect(keysOf(facts)).toEqual([{ type: 'press', step: 0, turn: 0, keys: '1w#', startMs: 0, endMs: 800 }]);
  });

  it('keep the floor: a line follows at once', async () => {
    const facts = await callOf(planOf([press('12'), say(500)], FIRST), cued({ atMs: 2_000, playMs: 500 }));
    expect(keysOf(facts)[0]).toMatchObject({ endMs: 300 });
    expect(starts(lines(facts))).toEqual([300]);
  });

  it('at the end of the script are given time to be answered', async () => {
    const facts = await callOf(
      planOf([say(500), press('1')], FIRST),
      cued({ atMs: 1_000, playMs: 500 }, { atMs: 5_000, playMs: 500 }),
    );
    expect(Math.round(facts.end.atMs)).toBe(6_200);
    expect(facts.end.code).toBe('script_over');
  });

  it('make the agent speak before a barge-in that follows', async () => {
    const agent = cued({ atMs: 1_000, playMs: 500 }, { atMs: 4_000, playMs: 5_000 }, { atMs: 10_000, playMs: 500 });
    const facts = await callOf(planOf([say(500), press('1'), say(500, 1_000)], FIRST), agent);
    expect(lines(facts)[1]).toMatchObject({ startMs: near(5_000), bargeIn: { possible: true } });
  });
});

describe('waitSeconds', () => {
  it('keeps the floor and is the caller’s silence', async () => {
    const script = [say(500), { type: 'wait', ms: 3_000 } as const, say(500)];
    const facts = await callOf(planOf(script, FIRST), cued({ atMs: 1_000, playMs: 500 }, { atMs: 8_000, playMs: 500 }));
    expect(starts(lines(facts))).toEqual([0, 5_200]);
    expect(facts.silences).toEqual([{ of: 'caller', turn: 1, startMs: near(2_200), endMs: near(5_200) }]);
  });

  it('is cut off by an agent that hangs up', async () => {
    const script = [say(500), { type: 'wait', ms: 30_000 } as const, say(500)];
    const facts = await callOf(planOf(script, FIRST), cued({ atMs: 1_000, playMs: 500 }, { atMs: 4_003, close: 1000 }));
    expect(facts.silences).toEqual([{ of: 'caller', turn: 1, startMs: near(2_200), endMs: near(4_010) }]);
  });

  it('does not interrupt an agent that began to speak in it', async () => {
    const script = [say(500), { type: 'wait', ms: 3_000 } as const, say(500)];
    const agent = cued({ atMs: 1_000, playMs: 500 }, { atMs: 5_000, playMs: 1_000 }, { atMs: 9_000, playMs: 500 });
    const facts = await callOf(planOf(script, FIRST), agent);
    expect(starts(lines(facts))).toEqual([0, 6_700]);
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

  it('comes at the maximum duration, however long the agent talks', async () => {
    const agent = cued({ atMs: 1_000, playMs: 60_000 });
    const facts = await callOf(planOf([say(500), say(500)], { ...FIRST, maxDurationSeconds: 20 }), agent);
    expect(facts.end).toMatchObject({ by: 'tester', code: 'max_duration', atMs: 20_000 });
    expect(facts.agentTurns).toEqual([expect.objectContaining({ endedBy: 'call_end', endMs: near(20_000) })]);
    expect(facts.agent[0]!.endMs).toBe(20_000);
  });

  it('comes when the agent hangs up, also in the caller’s line', async () => {
    const facts = await callOf(planOf([say(3_000)], FIRST), cued({ atMs: 1_500, close: 1000 }));
    expect(facts.end).toEqual({ by: 'agent', code: 'agent_hung_up', reason: 'The agent hung up', atMs: 1_500 });
    expect(lines(facts)[0]).toMatchObject({ startMs: 0, endMs: 1_500 });
    expect(facts.failure).toBeUndefined();
  });

  it('is a failure when the connection breaks off', async () => {
    const facts = await callOf(planOf([say(3_000)], FIRST), cued({ atMs: 1_500, close: 1006 }));
    expect(facts.end).toMatchObject({ by: 'tester', code: 'failure' });
    expect(facts.failure?.code).toBe('connection_lost');
  });
});
