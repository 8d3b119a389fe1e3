import { dbfs, decodeMulaw, encodeMulaw } from '../../../audio/index.js';
import type { LineConditions } from '../facts/plan.js';
import { cued, callOf, collected, hesitating, lines, planOf, say, speech, talker } from '../testing/virtual-calls.js';
import { MediaCall } from './media-call.js';
import { rawWire } from '../testing/raw-wire.js';
import { backchannel, noise } from '../testing/virtual-calls.js';

const FIRST = { firstSpeaker: 'caller' } as const;
const near = (ms: number) => expect.closeTo(ms, -0.5);

describe('MediaCall', () => {
  it('streams 160 bytes for every 20 ms, silence included, until the end', async () => {
    const frames: { now: number; isSilent: boolean }[] = [];
    const facts = await callOf(planOf([say(500)], FIRST), (socket) => ({
      onMessage: (now, data) => {
        if (typeof data === 'string') return;
        expect(data).toHaveLength(160);
        frames.push({ now, isSilent: data.every((byte) => byte === 0xff) });
      },
      tick: (now) => {
        if (now === 2_000) socket.close();
      },
    }));
    expect(facts.end.atMs).toBe(2_000);
    expect(frames.map(({ now }) => now)).toEqual(Array.from({ length: 100 }, (_, n) => (n + 1) * 20));
    expect(frames.filter(({ isSilent }) => !isSilent)).toHaveLength(25);
  });

  it('sends audio in real time: frame n at n * 20 + 20', async () => {
    let first = 0;
    await callOf(planOf([say(500)]), () => ({
      onMessage: (now, data) => {
        if (typeof data !== 'string' && data.some((byte) => byte !== 0xff)) first ||= now;
      },
      tick: () => undefined,
    }));
    expect(first).toBe(3_020);
  });

  it('hears the agent when its audio is played, exact to the sample', async () => {
    const facts = await callOf(planOf([say(500)], FIRST), cued({ atMs: 1_010, leadMs: 133.5, playMs: 1_000 }));
    const [sound] = facts.agent;
    expect(sound!.startMs).toBeCloseTo(1_010 + 133.5, 0);
    expect(sound!.endMs).toBeCloseTo(1_010 + 133.5 + 1_000, 0);
    expect(sound).toMatchObject({ turn: 1, firstByteMs: 1_010, dbfs: expect.closeTo(-20, 0) });
    expect(facts.arrivals).toEqual([{ arrivedMs: 1_010, playedFromMs: 1_010, playedToMs: 2_143.5 }]);
  });

  it('uses the first byte after the caller’s line as that of the answer if the agent also sends silence', async () => {
    const facts = await callOf(planOf([say(1_000)], FIRST), (socket) => ({
      onMessage: () => undefined,
      tick: (now) => {
        if (now % 20 !== 0) return;
        socket.send(encodeMulaw(now >= 1_500 && now < 2_500 ? speech(20) : new Int16Array(160)));
      },
    }));
    expect(facts.agent[0]).toMatchObject({ startMs: near(1_500), firstByteMs: 1_000 });
  });

  it('does not play cleared audio', async () => {
    const agent = cued({ atMs: 1_000, playMs: 5_000 }, { atMs: 2_000, clear: true }, { atMs: 9_000, playMs: 500 });
    const facts = await callOf(planOf([say(500)], FIRST), agent);
    expect(facts.agent[0]).toMatchObject({ startMs: near(1_000), endMs: near(2_000) });
    expect(facts.clears).toEqual([{ atMs: 2_000, droppedMs: 4_000 }]);
    expect(facts.end.atMs).toBe(2_700);
  });

  it('sends a mark back once everything before it was played', async () => {
    const marks: [number, string][] = [];
    await callOf(planOf([say(500)], FIRST), (socket) => ({
      onMessage: (now, data) => {
        if (typeof data === 'string') marks.push([now, data]);
      },
      tick: (now) => {
        if (now !== 1_000) return;
        socket.send('mark:a');
        socket.send(encodeMulaw(speech(300)));
        socket.send('mark:b');
      },
    }));
    expect(marks).toEqual([
      [1_010, 'mark:a'],
      [1_300, 'mark:b'],
      [2_000, 'stop'],
    ]);
  });

  it('records where the playout ran empty within speech', async () => {
    const agent = cued({ atMs: 1_000, playMs: 500 }, { atMs: 1_600, playMs: 500 }, { atMs: 2_102, playMs: 500 });
    const facts = await callOf(planOf([say(500)], FIRST), agent);
    expect(facts.underruns).toEqual([
      { startMs: 1_500, endMs: 1_600, isBetweenSpeech: true },
      { startMs: 2_100, endMs: 2_110, isBetweenSpeech: true },
    ]);
    // The gate stays open over so short a gap.
    expect(facts.agent).toHaveLength(1);
  });

  it('does not count the silence between two answers as an underrun', async () => {
    const agent = cued(
      { atMs: 1_000, playMs: 500 },
      { atMs: 1_510, leadMs: 300 },
      { atMs: 1_900, leadMs: 50, playMs: 500 },
    );
    const facts = await callOf(planOf([say(500)], FIRST), agent);
    expect(facts.underruns.map(({ isBetweenSpeech }) => isBetweenSpeech)).toEqual([false, false]);
  });

  it('measures inaudible audio', async () => {
    const agent = cued({ atMs: 1_000, playMs: 2_000, dbfs: -60 });
    const facts = await callOf(planOf([say(500)], { ...FIRST, maxDurationSeconds: 5 }), agent);
    expect(facts.agent).toEqual([]);
    expect(facts.level).toEqual({ dbfs: null, sentDbfs: expect.closeTo(-60, 0), clippedPercent: 0, inaudible: true });
  });

  it('measures level and clipping of heard audio', async () => {
    const facts = await callOf(planOf([say(500)], FIRST), cued({ atMs: 1_000, playMs: 2_000, dbfs: 3 }));
    expect(facts.level.dbfs).toBeGreaterThan(-3);
    expect(facts.level.clippedPercent).toBeGreaterThan(10);
  });

  it('starts the stream after the words that the platform speaks for the agent', () => {
    const { sink, bytes } = collected();
    const sent: (string | Uint8Array)[] = [];
    const call = new MediaCall(planOf([say(500)]), rawWire, {
      send: (data) => sent.push(data),
      recording: sink,
      prelude: { answeredAt: 50_000, sounds: [{ atMs: 100, pcm: speech(1_000) }] },
    });
    call.start(51_990);
    for (let now = 52_000; !call.isOver; now += 20) call.tick(now);
    const facts = call.facts();
    expect(facts.agent).toEqual([expect.objectContaining({ startMs: near(100), endMs: near(1_100), turn: 0 })]);
    // The silence before the stream is not the agent's: it cannot know of the caller yet.
    expect(lines(facts)[0]!.startMs).toBe(2_700);
    expect(bytes().length).toBe(facts.end.atMs * 16);
    expect(sent[0]).toHaveLength(160);
  });

  it('refuses to report before the call is over', () => {
    const call = new MediaCall(planOf([say(500)]), rawWire, { send: () => undefined });
    call.start(0);
    expect(() => call.facts()).toThrow('The call is not over.');
  });

  it('passes on the recording so far when it is aborted', () => {
    const { sink, bytes } = collected();
    const call = new MediaCall(planOf([say(500)]), rawWire, { send: () => undefined, recording: sink });
    call.start(0);
    call.tick(500);
    expect(bytes()).toHaveLength(0);
    call.abort(505);
    expect(bytes()).toHaveLength(500 * 16);
    expect(call.isOver).toBe(true);
  });
});

describe('the recording', () => {
  it('has the caller as sent on the left and the agent as heard on the right', async () => {
    const { sink, bytes, wire } = collected();
    const agent = cued({ atMs: 1_000, playMs: 5_000 }, { atMs: 2_000, clear: true });
    const facts = await callOf(planOf([say(500)], FIRST), agent, { recording: sink });
    const stereo = bytes();
    expect(stereo).toHaveLength(facts.end.atMs * 16);
    const channel = (side: 0 | 1, fromMs: number, toMs: number) =>
      Uint8Array.from({ length: (toMs - fromMs) * 8 }, (_, n) => stereo[(fromMs * 8 + n) * 2 + side]!);
    expect(channel(0, 0, 500)).toEqual(encodeMulaw(speech(500)));
    expect(channel(1, 1_000, 2_000)).toEqual(encodeMulaw(speech(5_000)).slice(0, 8_000));
    const silent = (bytes: Uint8Array) => bytes.every((byte) => byte === 0xff);
    expect(silent(channel(0, 500, facts.end.atMs))).toBe(true);
    expect(silent(channel(1, 0, 1_000))).toBe(true);
    expect(silent(channel(1, 2_000, facts.end.atMs))).toBe(true);
    expect(JSON.parse(wire[0]!)).toEqual({ atMs: 20, direction: 'sent', message: { frame: 0, bytes: 160 } });
  });

  it('is passed on about once a second', async () => {
    const parts: number[] = [];
    const recording = { audio: (part: Uint8Array) => parts.push(part.length), wire: () => undefined };
    await callOf(planOf([say(500)], FIRST), cued({ atMs: 2_505, close: 1000 }), { recording });
    // The latest 600 ms wait for late sound.
    expect(parts).toEqual([16_000, 16_000 + 510 * 16]);
  });
});

describe('line conditions', () => {
  /** Frames as the agent received them; `null` were lost. */
  async function received(conditions: LineConditions, seed = 1) {
    const frames: { now: number; level: number }[] = [];
    const { sink, bytes } = collected();
    const plan = planOf([say(1_000)], { ...FIRST, conditions, seed, maxDurationSeconds: 4 });
    const facts = await callOf(
      plan,
      () => ({
        onMessage: (now, data) => {
          if (typeof data !== 'string') frames.push({ now, level: dbfs(decodeMulaw(data)) });
        },
        tick: () => undefined,
      }),
      { recording: sink },
    );
    return { facts, frames, sound: bytes() };
  }

  it('add noise, also to silence, without changing when the caller’s speech ended', async () => {
    const { frames, facts } = await received({ noise: { type: 'white', snrDb: 20 } });
    expect(frames).toHaveLength(200);
    expect(frames.slice(60).every(({ level }) => level > -50 && level < -42)).toBe(true);
    expect(lines(facts)[0]).toMatchObject({ startMs: 0, endMs: 1_000 });
  });

  it('lose packets, which are silent in the recording', async () => {
    const { frames, sound } = await received({ packetLossPercent: 20 });
    expect(frames.length).toBeGreaterThan(140);
    expect(frames.length).toBeLessThan(180);
    const isSilent = (frame: number) =>
      Array.from({ length: 160 }, (_, n) => sound[(frame * 160 + n) * 2]).every((byte) => byte === 0xff);
    const lost = Array.from({ length: 50 }, (_, frame) => frame).filter(isSilent);
    // The line lasts 50 frames; the others are silent anyway.
    expect(lost.length).toBeGreaterThan(3);
    expect(lost.length).toBeLessThan(20);
  });

  it('delay packets in order, which does not count as lateness of the tester', async () => {
    const { frames, facts } = await received({ jitterMs: 60 });
    expect(frames).toHaveLength(200);
    const late = frames.map(({ now }, index) => now - (index + 1) * 20);
    expect(Math.max(...late)).toBeGreaterThan(20);
    expect(Math.max(...late)).toBeLessThanOrEqual(70);
    expect(facts.timing).toMatchObject({ frameLatenessMs: { worst: 0 }, stalls: [], sentAsPlanned: true });
  });

  it('depend only on the seed', async () => {
    const conditions = { noise: { type: 'pink', snrDb: 10 }, packetLossPercent: 5, jitterMs: 40 } as const;
    const [first, same, other] = [
      await received(conditions),
      await received(conditions),
      await received(conditions, 2),
    ];
    expect(same).toEqual(first);
    expect(other.sound.equals(first.sound)).toBe(false);
  });
});

describe('determinism', () => {
  it('gives the same recording and the same facts for the same seed', async () => {
    const script = [say(500), backchannel(500), noise(900), hesitating(500, 800, 300), say(700, 600), say(400)];
    const once = async () => {
      const { sink, bytes, wire } = collected();
      const facts = await callOf(planOf(script), talker({ greetingMs: 900, answerMs: 2_000 }), { recording: sink });
      return { facts, sound: bytes().toString('base64'), wire };
    };
    const [first, second] = [await once(), await once()];
    expect(first.facts.end.code).toBe('script_over');
    expect(second).toEqual(first);
  });
});

describe('a stalled tester', () => {
  const script = [say(500), say(500)];

  it('shows in the timing, and the call catches up with its frames', async () => {
    const stalls = [{ atMs: 6_000, ms: 300 }];
    const facts = await callOf(planOf([say(500), { type: 'wait', ms: 5_000 }, say(500)], FIRST), talker(), { stalls });
    expect(facts.timing.stalls).toEqual([{ at: 6_000, ms: 300 }]);
    expect(facts.timing.frameLatenessMs).toEqual({ p50: 0, p99: expect.any(Number), worst: 300 });
    expect(facts.timing.sentAsPlanned).toBe(true);
    const undisturbed = await callOf(planOf([say(500), { type: 'wait', ms: 5_000 }, say(500)], FIRST), talker());
    expect(facts.caller).toEqual(undisturbed.caller);
    expect(facts.agent).toEqual(undisturbed.agent);
  });

  it('during the caller’s speech is reported as speech not sent as planned', async () => {
    const facts = await callOf(planOf(script, FIRST), talker(), { stalls: [{ atMs: 100, ms: 300 }] });
    expect(facts.timing.sentAsPlanned).toBe(false);
  });

  it('of less than 200 ms leaves the caller’s speech as planned', async () => {
    const facts = await callOf(planOf(script, FIRST), talker(), { stalls: [{ atMs: 100, ms: 150 }] });
    expect(facts.timing).toMatchObject({ sentAsPlanned: true, stalls: [{ at: 100, ms: 150 }] });
  });

  it('does not count as an underrun of the agent', async () => {
    const streaming = cued(...Array.from({ length: 100 }, (_, n) => ({ atMs: 1_000 + n * 20, playMs: 20 })));
    const plan = planOf(script, { ...FIRST, maxDurationSeconds: 5 });
    const facts = await callOf(plan, streaming, { stalls: [{ atMs: 1_500, ms: 150 }] });
    expect(facts.timing.stalls).toEqual([{ at: 1_500, ms: 150 }]);
    expect(facts.underruns).toEqual([]);
  });
});
