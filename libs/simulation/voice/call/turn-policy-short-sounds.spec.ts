import { voiceMeasures } from '../measures/index.js';
import { callOf, type Cue, cued, lines, planOf, say } from '../testing/virtual-calls.js';

const FIRST = { firstSpeaker: 'caller' } as const;
const starts = (facts: Parameters<typeof lines>[0]) => lines(facts).map(({ startMs }) => Math.round(startMs));

describe('a sound of the agent under 250 ms', () => {
  const script = [say(500), say(500)];
  const earcon = { atMs: 1_000, playMs: 200 };

  it('opens the answer that follows within 1.5 s', async () => {
    const facts = await callOf(planOf(script, FIRST), cued(earcon, { atMs: 2_600, playMs: 1_000 }));
    expect(starts(facts)[1]).toBe(4_300);
    expect(facts.answeredTurns).toBe(1);
    expect(facts.agentTurns[0]).toMatchObject({ startMs: expect.closeTo(1_000, -1), endMs: expect.closeTo(3_600, -1) });
    const [latency] = voiceMeasures(facts).latencies;
    expect(latency).toMatchObject({ heardMs: expect.closeTo(500, -1), leadInMs: expect.closeTo(1_600, -1) });
  });

  it('is not an answer by itself: the caller loses its patience', async () => {
    const facts = await callOf(planOf(script, FIRST), cued(earcon));
    expect(lines(facts)[1]).toMatchObject({ repeated: true, startMs: expect.closeTo(8_500, -1) });
    expect(facts).toMatchObject({ answeredTurns: 0, agentTurns: [], end: { code: 'agent_silent' } });
  });

  it('makes the caller wait 1.5 s for more once its patience has run out', async () => {
    const facts = await callOf(planOf(script, FIRST), cued({ atMs: 8_200, playMs: 200 }, { atMs: 9_500, playMs: 600 }));
    expect(starts(facts)[1]).toBe(10_800);
    expect(lines(facts)[1]!.repeated).toBeUndefined();
  });

  it('is not a greeting by itself', async () => {
    const late = await callOf(planOf([say(500)]), cued({ atMs: 2_600, playMs: 200 }));
    // To the frame.
    expect(starts(late)[0]).toBe(4_280);
    const early = await callOf(planOf([say(500)]), cued({ atMs: 500, playMs: 200 }));
    expect(starts(early)[0]).toBe(3_000);
  });

  it('is a turn if the platform reports one', async () => {
    const agent = cued({ ...earcon, control: 'turn_end' });
    const facts = await callOf(planOf(script, FIRST), agent);
    expect(facts.agentTurns[0]).toMatchObject({ endedBy: 'transport' });
    expect(starts(facts)[1]).toBe(1_400);
  });
});

describe.each([
  ['steady', [-44, -44]],
  ['beating', [-38, -50]],
])('a sound of the agent under 250 ms beside a %s bed', (_, levels) => {
  type Speech = readonly [fromMs: number, toMs: number];

  /** Speech, and the bed at all other times. */
  const besideBed = (...speech: readonly Speech[]) =>
    cued(
      ...Array.from({ length: 1_200 }, (_, n): Cue => {
        const atMs = n * 50;
        const isSpeech = speech.some(([fromMs, toMs]) => atMs >= fromMs && atMs < toMs);
        return { atMs, playMs: 50, ...(!isSpeech && { dbfs: levels[Math.floor(n / 4) % 2]! }) };
      }),
    );

  // The end of the greeting is known after a second of the bed: the first line is spoken from 3,500 to 4,000 ms.
  const script = [say(500), say(500)];
  const greeting: Speech = [500, 2_500];
  const near = (ms: number) => expect.closeTo(ms, -2);

  it('opens the answer that follows within 1.5 s', async () => {
    const facts = await callOf(planOf(script), besideBed(greeting, [4_500, 4_650], [6_000, 8_000]));
    expect(facts.background).not.toBeNull();
    expect(starts(facts)[0]).toBeCloseTo(3_500, -2);
    expect(starts(facts)[1]).toBeGreaterThanOrEqual(8_700);
    expect(facts.agentTurns[1]).toMatchObject({ startMs: near(4_500), endMs: near(8_000) });
    const [latency] = voiceMeasures(facts).latencies;
    expect(latency).toMatchObject({ heardMs: near(500), leadInMs: near(1_500), plusMinusMs: 320 });
  });

  it('is not an answer by itself: the caller loses its patience', async () => {
    const facts = await callOf(planOf(script), besideBed(greeting, [4_500, 4_650]));
    expect(lines(facts)[1]).toMatchObject({ repeated: true, startMs: near(12_000) });
    expect(facts).toMatchObject({ answeredTurns: 1, end: { code: 'agent_silent' } });
    expect(facts.agentTurns).toHaveLength(1);
  });

  it('is a separate sound 1.5 s before an answer', async () => {
    const facts = await callOf(planOf(script), besideBed(greeting, [4_500, 4_650], [7_000, 9_000]));
    expect(facts.agentTurns[1]).toMatchObject({ startMs: near(7_000), endMs: near(9_000) });
    const [latency] = voiceMeasures(facts).latencies;
    expect(latency).toMatchObject({ heardMs: near(3_000) });
    expect(latency!.leadInMs).toBeUndefined();
  });
});

describe('a greeting that begins within 500 ms of the caller’s first words', () => {
  it('is a collision and no answer to them', async () => {
    const agent = cued({ atMs: 3_300, playMs: 1_500 }, { atMs: 6_000, playMs: 500 }, { atMs: 8_000, playMs: 500 });
    const facts = await callOf(planOf([say(500), say(500)]), agent);
    expect(starts(facts)).toEqual([3_000, 7_200]);
    expect(voiceMeasures(facts)).toMatchObject({ collisions: 1, interruptions: [] });
  });
});
