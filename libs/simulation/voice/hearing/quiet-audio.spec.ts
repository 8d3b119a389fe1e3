import {
  FRAME_MS,
  Hum,
  Noise,
  type NoiseColour,
  Random,
  type SoundSource,
  TELEPHONE_RATE,
  tone,
} from '../../../audio/index.js';
import { type Spans, voice } from '../../../audio/testing/voice.js';
import { firstWordWithin, latencyWithin } from '../../checks/times.js';
import { CallView } from '../../timeline/call-view.js';
import { agentYields } from '../checks/floor.js';
import { voiceEntries } from '../conversation/voice-timeline.js';
import type { CallerAct } from '../facts/facts.js';
import { Line } from '../facts/line.js';
import { heardTimes } from '../measures/heard-times.js';
import { voiceMeasures } from '../measures/voice-measures.js';
import { bargeIn, factsOf, line } from '../testing/facts.js';
import { Ear } from './ear.js';

const SAMPLES_PER_MS = TELEPHONE_RATE / 1_000;

/** What is heard of an agent that sends all of these sounds at once. */
function heard(sounds: readonly ArrayLike<number>[], caller: readonly CallerAct[] = []) {
  const ear = new Ear(new Line(TELEPHONE_RATE));
  const length = Math.max(...sounds.map((sound) => sound.length));
  const sum = Int16Array.from({ length }, (_, n) => sounds.reduce((total, sound) => total + (sound[n] ?? 0), 0));
  const ms = length / SAMPLES_PER_MS;
  ear.play(0, sum);
  for (let at = 0; at < ms; at += FRAME_MS) ear.hearFrame();
  ear.finish(ms);
  const given = ear.facts(
    (at) => caller.filter(({ startMs }) => startMs <= at).length,
    (at) => caller.findLast(({ startMs }) => startMs < at)?.endMs ?? 0,
  );
  const facts = factsOf({ ...given, caller, end: { by: 'caller', code: 'script_over', reason: '', atMs: ms } });
  const entries = voiceEntries(facts);
  return { facts, entries, view: CallView.of(entries, [], heardTimes(facts, entries)), measures: voiceMeasures(facts) };
}

function sourced(ms: number, source: SoundSource): Float64Array {
  const samples = new Float64Array(ms * SAMPLES_PER_MS);
  source.addTo(samples);
  return samples;
}

const noise = (ms: number, colour: NoiseColour, dbfs: number) =>
  sourced(ms, new Noise(colour, { dbfs, random: new Random(5) }));
const hum = (ms: number, dbfs: number) => sourced(ms, new Hum({ rate: TELEPHONE_RATE, dbfs, random: new Random(3) }));

/** Lines that begin 30 dB below their level and become louder for so long. */
const soft = (pcm: Float64Array, starts: readonly number[], ms: number) =>
  pcm.map((sample, n) => {
    const since = n / SAMPLES_PER_MS - (starts.findLast((start) => start <= n / SAMPLES_PER_MS) ?? 0);
    return sample * 10 ** (-1.5 * Math.max(0, 1 - since / ms));
  });

describe('a greeting in background audio from the first frame', () => {
  const greeted = (at: number, bed: ArrayLike<number>, untilMs = 3_200) =>
    heard([
      voice(12_000, [
        [at, untilMs],
        [7_000, 9_000],
      ]),
      bed,
    ]);

  // Vapi's `office`, Retell's `ambient_sound`, the background of LiveKit and Azure sound from the first frame.
  it.each([
    ['room tone at the threshold of hearing', noise(12_000, 'brown', -52)],
    ['room tone', noise(12_000, 'brown', -45)],
    ['a hum', hum(12_000, -48)],
    ['an office', noise(12_000, 'pink', -50)],
    ['a loud office', noise(12_000, 'pink', -42)],
    ['room tone that ends with it', noise(3_200, 'brown', -45)],
  ])('begins with its first word: %s', (_what, bed) => {
    for (const at of [1_000, 1_030]) {
      const { measures, view } = greeted(at, bed);
      const { greetingMs, greetingPlusMinusMs = 0 } = measures;
      expect(Math.abs(greetingMs! - at)).toBeLessThanOrEqual(Math.max(60, greetingPlusMinusMs));
      expect(firstWordWithin(500, view).met).not.toBe(true);
      expect(firstWordWithin(2_000, view).met).toBe(true);
    }
  });

  it('is dated correctly if it is short and the background ends with it', () => {
    const { measures, view } = greeted(1_000, noise(1_300, 'pink', -45), 1_300);
    expect(Math.abs(measures.greetingMs! - 1_000)).toBeLessThanOrEqual(measures.greetingPlusMinusMs!);
    expect(firstWordWithin(500, view).met).not.toBe(true);
  });
});

describe('an agent without background audio', () => {
  const STARTS = [500, 6_000, 11_000, 16_000];
  const LINES: Spans = STARTS.map((start) => [start, start + 2_000] as const);
  const CALLER = [line(3_500, 5_000), line(9_000, 10_000), line(14_000, 15_000)];

  // werman/noise-suppression-for-voice#134, ricky0123/vad#3: speech that begins softly loses its beginning to a gate.
  it.each([150, 500, 800, 1_000])('has none although its lines become louder for %d ms', (ms) => {
    const words = STARTS.flatMap((start) => [[start, start + 300] as const, [start + 400, start + 2_000] as const]);
    const { facts, measures } = heard([soft(voice(19_000, words), STARTS, ms)], CALLER);
    expect(facts.background).toBeNull();
    expect(facts.agent).toHaveLength(STARTS.length);
    for (const { heardMs, plusMinusMs } of measures.latencies)
      expect(Math.abs(heardMs! - 1_000)).toBeLessThanOrEqual(ms / 2 + plusMinusMs);
  });

  it('has none although voicing precedes its first consonants', () => {
    const before = voice(
      19_000,
      LINES.map(([from]) => [from - 90, from - 60] as const),
      -40,
    );
    expect(heard([voice(19_000, LINES), before], CALLER).facts.background).toBeNull();
  });

  it('is uncertain only where a sound is quiet for long before its voice', () => {
    const breath = noise(19_000, 'pink', -46).map((sample, n) =>
      n >= 5_450 * 8 && n < 6_000 * 8 ? sample * Math.sin((Math.PI * (n / 8 - 5_400)) / 650) : 0,
    );
    const { facts, measures, view } = heard([voice(19_000, LINES), breath], CALLER);
    expect(facts.background).toBeNull();
    const doubts = measures.latencies.map(({ plusMinusMs }) => plusMinusMs);
    expect(doubts).toEqual([expect.any(Number), 0, 0]);
    expect(doubts[0]).toBeGreaterThanOrEqual(320);
    expect(Math.abs(measures.latencies[0]!.heardMs! - 1_000)).toBeLessThanOrEqual(doubts[0]!);
    expect(latencyWithin(900, 100, view)).toMatchObject({ met: false });
  });
});

describe('audio that only may be an answer', () => {
  // LiveKit's thinking_sound, `working` of Azure, the tool-call sounds of ElevenLabs: played until the answer, and none of it.
  it('leaves the latency undecided if it is two tones before the answer', () => {
    const caller = [line(4_000, 5_000), line(12_000, 13_000)];
    const answers: Spans = [
      [500, 2_500],
      [8_000, 10_000],
      [16_000, 18_000],
    ];
    const tones = new Float64Array(20_000 * SAMPLES_PER_MS);
    for (const [from, to] of [
      [5_560, 8_000],
      [13_560, 16_000],
    ] as const)
      tones.set(tone([440, 554], { rate: TELEPHONE_RATE, ms: to - from, dbfs: -30 }), from * SAMPLES_PER_MS);
    const { measures, view } = heard([voice(20_000, answers, -17), tones], caller);
    for (const { heardMs, plusMinusMs } of measures.latencies)
      expect(Math.abs(heardMs! - 3_000)).toBeLessThanOrEqual(plusMinusMs);
    expect(latencyWithin(1_500, 100, view).met).not.toBe(true);
  });

  // streamcore-server#48, voicemode#211: without echo cancellation the agent's stream has the caller, 240 ms later.
  it('leaves the latency undecided if it is an echo of the caller at the end of each line', () => {
    const caller = [line(1_000, 3_000), line(6_000, 8_000)];
    const echo: Spans = caller.map(({ startMs, endMs }) => [startMs + 240, endMs + 240] as const);
    const { view } = heard([voice(10_000, echo, -36)], caller);
    expect(latencyWithin(800, 100, view)).toMatchObject({ met: null, undecided: 'evidence' });
  });
});

describe('an agent that speaks on after a barge-in', () => {
  // cloudflare/agents#2261, openai/openai-agents-js#1173: what was sent plays to its end.
  it('fails by its certain voice, regardless of possible background audio after it', () => {
    const sound = { turn: 1, firstByteMs: 5_000, dbfs: -23 };
    const facts = factsOf({
      background: { dbfs: -46, fromMs: 0, isUneven: true },
      caller: [bargeIn(6_000, 8_000)],
      agent: [{ ...sound, startMs: 5_000, endMs: 7_550, certain: { startMs: 5_060, endMs: 7_200 } }],
      clears: [{ atMs: 7_550, droppedMs: 400 }],
    });
    const found = (limit: number) => agentYields(limit, { voice: voiceMeasures(facts), facts }, voiceEntries(facts));
    expect(found(1_000)).toMatchObject({
      met: false,
      detail: 'The agent stopped after 1550 ± 600 ms; the limit is 1000',
    });
    expect(found(1_300)).toMatchObject({ met: null, undecided: 'evidence' });
    expect(found(2_200).met).toBe(true);
  });
});

describe('an agent that becomes quieter after a barge-in', () => {
  const typing = noise(20_000, 'white', -35).map((sample, n) => (n % 1_600 < 240 ? sample : 0));
  const caller = [bargeIn(6_000, 9_000, { bufferedMs: 0 })];
  /** Three lines; the caller barges in on the second one, which becomes quieter and goes on until a moment. */
  const call = (quieterDb: number, untilMs: number, bed: ArrayLike<number> = []) => {
    const spans: Spans = [
      [0, 3_000],
      [5_000, 6_700],
      [15_000, 18_000],
    ];
    const rest = quieterDb === 0 ? [] : [voice(20_000, [[6_700, untilMs]], -23 - quieterDb)];
    return heard([voice(20_000, spans), ...rest, bed], caller);
  };
  const yields = ({ facts, measures, entries }: ReturnType<typeof call>, limit = 2_000) =>
    agentYields(limit, { voice: measures, facts }, entries);
  const beds: readonly (readonly [string, ArrayLike<number>])[] = [
    ['nothing', []],
    ['an office', noise(20_000, 'pink', -45)],
    ['a hum', hum(20_000, -45)],
    ['typing', typing],
    ['another voice', voice(20_000, [[0, 20_000]], -45)],
  ];

  // memex-ai#74, BrowserOS#1313: agents lower their voice, and raise it again.
  it.each(beds)('has not certainly yielded beside %s', (_what, bed) => {
    for (const quieterDb of [6, 8, 10]) {
      expect([quieterDb, yields(call(quieterDb, 13_000, bed)).met]).not.toEqual([quieterDb, true]);
    }
    expect(yields(call(10, 13_000, bed))).toMatchObject({ met: null, undecided: 'evidence' });
  });

  it('is failed by the part before it, if that is too long', () => {
    expect(yields(call(10, 13_000, noise(20_000, 'pink', -45)), 300)).toMatchObject({ met: false });
  });

  it.each(beds)('has yielded if it stops instead, or clears what is left, beside %s', (what, bed) => {
    // Loud typing cannot be told from a quieter voice.
    expect(yields(call(0, 0, bed))).toMatchObject({ met: what === 'typing' ? null : true });
    const { facts, measures, entries } = call(10, 13_000, bed);
    const cleared = { ...facts, clears: [{ atMs: 6_700, droppedMs: 300 }] };
    expect(agentYields(2_000, { voice: measures, facts: cleared }, entries)).toMatchObject({ met: true });
  });
});
