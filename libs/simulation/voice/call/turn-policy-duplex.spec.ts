import type { PressAct } from '../facts/facts.js';
import { voiceMeasures } from '../measures/index.js';
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
} from '../testing/virtual-calls.js';

const near = (ms: number) => expect.closeTo(ms, -0.5);
const FIRST = { firstSpeaker: 'caller' } as const;

/** Times within a millisecond. */
const starts = (acts: readonly { startMs: number }[]) => acts.map(({ startMs }) => Math.round(startMs));

describe('both at once', () => {
  it('leaves the turn to the caller, who does not yield to the agent', async () => {
    const agent = cued({ atMs: 500, playMs: 1_000 }, { atMs: 4_000, playMs: 500 });
    const facts = await callOf(planOf([say(3_000)], FIRST), agent);
    expect(lines(facts)[0]).toMatchObject({ startMs: 0, endMs: 3_000 });
    expect(facts.agent).toHaveLength(2);
    expect(facts.end).toMatchObject({ code: 'script_over' });
    expect(Math.round(facts.end.atMs)).toBe(5_200);
  });

  it('counts speech that begins during the line and continues after it as an answer', async () => {
    const facts = await callOf(planOf([say(3_000), say(500)], FIRST), cued({ atMs: 2_000, playMs: 2_000 }));
    expect(starts(lines(facts))[1]).toBe(4_700);
  });

  it('does not count a sound that ended before the line as an answer', async () => {
    const facts = await callOf(planOf([say(3_000), say(500)], FIRST), cued({ atMs: 2_000, playMs: 800 }));
    expect(lines(facts)[1]).toMatchObject({ startMs: near(11_000), repeated: true });
  });

  it('does not count a collision as an answer', async () => {
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
  it('does not split the line into two turns of the caller', async () => {
    const facts = await callOf(planOf([hesitating(600, 1_200, 700)], FIRST), cued({ atMs: 3_000, playMs: 500 }));
    expect(lines(facts)).toHaveLength(1);
    expect(lines(facts)[0]!.parts).toEqual([
      { startMs: 0, endMs: 600 },
      { startMs: 1_800, endMs: 2_500 },
    ]);
  });

  it('is not ended by an agent that mistakes it for the end of the line', async () => {
    const agent = cued({ atMs: 1_000, playMs: 600 }, { atMs: 3_000, playMs: 500 });
    const facts = await callOf(planOf([hesitating(600, 1_200, 700)], FIRST), agent);
    expect(lines(facts)[0]).toMatchObject({ endMs: 2_500 });
    expect(Math.round(facts.end.atMs)).toBe(4_200);
  });
});

describe('a barge-in', () => {
  const script = [say(500), say(1_000, 1_200), say(500)];

  it('begins when the agent has been heard for the given time in its turn', async () => {
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

  it('counts only audible milliseconds', async () => {
    const agent = cued({ atMs: 1_000, playMs: 600 }, { atMs: 2_100, playMs: 5_000 }, { atMs: 9_000, playMs: 500 });
    const facts = await callOf(planOf(script, FIRST), agent);
    expect(starts(lines(facts))[1]).toBe(2_700);
  });

  it('reports the played part of the present item, including leading silence', async () => {
    const agent = cued({ atMs: 1_000, leadMs: 300, playMs: 5_000 }, { atMs: 9_000, playMs: 500 });
    const facts = await callOf(planOf(script, FIRST), agent);
    expect(lines(facts)[1]!.bargeIn).toMatchObject({ afterHeardMs: near(1_200), heardUntilMs: near(1_500) });
  });

  it('is impossible if the turn ends first, and the caller then says its line at once', async () => {
    const agent = cued({ atMs: 1_000, playMs: 800 }, { atMs: 5_000, playMs: 500 });
    const facts = await callOf(planOf(script, FIRST), agent);
    const [, line] = lines(facts);
    expect(line).toMatchObject({ startMs: near(2_500) });
    expect(line!.bargeIn).toMatchObject({ possible: false, afterHeardMs: near(800), bufferedMs: 0 });
  });

  it('does not count the rest of the interrupted speech as an answer', async () => {
    // The agent ignores the caller until 6,000 and never answers.
    const facts = await callOf(planOf(script, FIRST), cued({ atMs: 1_000, playMs: 5_000 }));
    expect(lines(facts)[2]).toMatchObject({ startMs: near(14_000), repeated: true, step: 1 });
  });

  it('is followed by the script after the answer of an agent that yields', async () => {
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

  it('treats speech that continues after a short pause as the interrupted speech', async () => {
    // The agent ignores the caller, pauses at 3,000, speaks on until 5,000 and answers at 6,500.
    const agent = cued(
      { atMs: 1_000, playMs: 2_000 },
      { atMs: 3_000, leadMs: 400, playMs: 1_600 },
      { atMs: 6_500, playMs: 500 },
      { atMs: 9_000, playMs: 500 },
    );
    const facts = await callOf(planOf([say(500), say(1_500, 1_200), say(500)], FIRST), agent);
    expect(starts(lines(facts))).toEqual([0, 2_200, 7_700]);
  });

  it.each([200, 220, 240, 260, 280, 300, 320, 350])(
    'counts as yielded to if the agent stops sending %i ms after its onset',
    async (afterMs) => {
      // The barge-in begins at 2,200.
      const frames = Math.floor((1_200 + afterMs) / 20);
      const agent = cued(...Array.from({ length: frames }, (_, n) => ({ atMs: 1_000 + n * 20, playMs: 20 })));
      const facts = await callOf(planOf(script.slice(0, 2), FIRST), agent);
      const [attempt] = voiceMeasures(facts).bargeIns;
      expect(attempt).toMatchObject({ possible: true, yielded: true });
      expect(Math.abs(attempt!.yieldMs! - afterMs)).toBeLessThanOrEqual(20);
    },
  );

  it('counts the interrupted speech as an answer, so the patience of the caller starts over', async () => {
    // No answer to the first line, then one that is interrupted; then no answer until the barge-in is repeated.
    const agent = cued({ atMs: 10_000, playMs: 3_000 }, { atMs: 24_000, playMs: 500 });
    const facts = await callOf(planOf([say(500), say(500, 1_000)], FIRST), agent);
    expect(facts.silences).toHaveLength(2);
    expect(facts.end.code).toBe('script_over');
  });
});

describe('backchannels and noises', () => {
  it('are heard during the agent’s speech and do not take the turn', async () => {
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

  it('are left out when a barge-in takes the turn first', async () => {
    const agent = cued({ atMs: 1_000, playMs: 5_000 }, { atMs: 9_000, playMs: 500 });
    const facts = await callOf(planOf([say(500), backchannel(2_000), say(500, 1_000)], FIRST), agent);
    expect(sounds(facts)).toEqual([expect.objectContaining({ possible: false })]);
    expect(starts(lines(facts))[1]).toBe(2_000);
  });

  it('do not restart the patience of the caller', async () => {
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

  it('in silence let the agent finish if it answers them', async () => {
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

  it('keep the turn, so a line follows at once', async () => {
    const facts = await callOf(planOf([press('12'), say(500)], FIRST), cued({ atMs: 2_000, playMs: 500 }));
    expect(keysOf(facts)[0]).toMatchObject({ endMs: 300 });
    expect(starts(lines(facts))).toEqual([300]);
  });

  it('at the end of the script leave the agent time to answer', async () => {
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

  it('leave time to answer by a wait after them', async () => {
    const script = [say(500), press('1'), { type: 'wait', ms: 3_000 } as const];
    const facts = await callOf(planOf(script, FIRST), cued({ atMs: 1_000, playMs: 500 }));
    expect(facts.silences).toEqual([{ of: 'caller', turn: 1, startMs: near(2_300), endMs: near(5_300) }]);
    expect(facts.end).toMatchObject({ code: 'script_over', atMs: 5_300 });
  });
});
