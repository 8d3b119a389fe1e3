import { type Spans, voice } from './testing/voice.js';
import {
  amplitudeOf,
  BedGate,
  EnergyGate,
  FRAME_MS,
  type GateEvent,
  Noise,
  type NoiseColour,
  Random,
} from './index.js';

const RATE = 8_000;
const FRAME = 160;

interface BedOptions {
  readonly dbfs: number;
  readonly fromMs?: number;
  readonly colour?: NoiseColour;
  /** Beats, in decibels above and below its level. */
  readonly beatDb?: number;
}

function withBed(pcm: Float64Array, { dbfs, fromMs = 0, colour = 'pink', beatDb = 0 }: BedOptions): Float64Array {
  const bed = new Float64Array(pcm.length);
  new Noise(colour, { dbfs, random: new Random(1) }).addTo(bed);
  const beat = (n: number) => 10 ** ((beatDb * Math.sin((2 * Math.PI * 2 * n) / RATE)) / 20);
  return pcm.map((sample, n) => sample + (n >= fromMs * 8 ? bed[n]! * beat(n) : 0));
}

function eventsIn(gate: BedGate | EnergyGate, sound: Float64Array): GateEvent[] {
  const pcm = Int16Array.from(sound, (value) => Math.max(-32_768, Math.min(32_767, Math.round(value))));
  const found: GateEvent[] = [];
  for (let at = 0; at + FRAME <= pcm.length; at += FRAME) {
    const event = gate.push(pcm.subarray(at, at + FRAME), true);
    if (event) found.push(event);
  }
  const last = gate.finish();
  return last ? [...found, last] : found;
}

/** Onset and end of what was heard, without what turned out to be background. */
const soundsIn = (gate: BedGate | EnergyGate, sound: Float64Array): (readonly [number, number])[] =>
  eventsIn(gate, sound).flatMap((event) =>
    event.type === 'end' && event.atMs > event.onsetMs ? [[event.onsetMs, event.atMs] as const] : [],
  );

const LINES: Spans = [
  [1_500, 4_500],
  [7_000, 8_500],
  [11_000, 15_000],
];

function expectLines(found: readonly (readonly [number, number])[], lines = LINES): void {
  expect(found).toHaveLength(lines.length);
  lines.forEach(([from, to], n) => {
    expect(Math.abs(found[n]![0] - from)).toBeLessThan(200);
    expect(Math.abs(found[n]![1] - to)).toBeLessThan(200);
  });
}

describe('BedGate', () => {
  it('reports the same as the energy gate if there is no bed', () => {
    const clean = voice(17_000, LINES);
    const gate = new BedGate(RATE);
    const withoutCounts = (events: GateEvent[]) => events.map((event) => ({ ...event }));
    expect(withoutCounts(eventsIn(gate, clean))).toEqual(withoutCounts(eventsIn(new EnergyGate(RATE), clean)));
    expect(gate.background).toBeNull();
  });

  it.each([
    ['steady noise from the answer on', { dbfs: -36, colour: 'white' }],
    ['noise that begins with the first line', { dbfs: -36, fromMs: 1_500 }],
    ['noise that begins inside the first line', { dbfs: -42, fromMs: 3_000 }],
    ['a beat', { dbfs: -42, beatDb: 3 }],
  ] satisfies [string, BedOptions][])('finds each line above %s', (_what, bed) => {
    const gate = new BedGate(RATE);
    const noisy = withBed(voice(17_000, LINES), bed);
    expectLines(soundsIn(gate, noisy));
    expect(Math.abs(gate.background!.dbfs - bed.dbfs)).toBeLessThan(4);
    expect(gate.background!.isUneven).toBe(false);
  });

  it('never ends a line above a bed too early', () => {
    for (const dbfs of [-60, -50, -40, -36]) {
      const found = eventsIn(new BedGate(RATE), withBed(voice(32_000, [[1_000, 30_000]]), { dbfs, fromMs: 1_000 }));
      const inside = found.filter(({ type, atMs }) => type === 'end' && atMs > 2_000 && atMs < 29_700);
      expect(inside).toEqual([]);
    }
  });

  it('treats quieter voices as background once it knows the voice of the agent', () => {
    const other = voice(
      17_000,
      [
        [4_300, 6_700],
        [8_300, 10_700],
      ],
      -46,
    );
    const sound = voice(17_000, LINES).map((sample, n) => sample + other[n]!);
    const gate = new BedGate(RATE);
    expectLines(soundsIn(gate, sound));
    expect(gate.background).not.toBeNull();
  });

  it('hears a quiet voice after nothing louder', () => {
    const whisper: Spans = [[1_000, 4_000]];
    expectLines(soundsIn(new BedGate(RATE), voice(6_000, whisper, -45)), whisper);
  });

  it('begins a greeting after room tone with its first word, even if the room tone ends with it', () => {
    const room = new Float64Array(2_930 * 8);
    new Noise('white', { dbfs: -48, random: new Random(1) }).addTo(room);
    const sound = voice(5_000, [[930, 2_930]]).map((sample, n) => sample + (room[n] ?? 0));
    const found = soundsIn(new BedGate(RATE), sound);
    expect(found).toHaveLength(1);
    expect(Math.abs(found[0]![0] - 930)).toBeLessThan(100);
  });

  it('reports which part of a sound is louder than background audio can be', () => {
    const other = voice(6_000, [[500, 5_600]], -40);
    const sound = voice(6_000, [[2_000, 4_000]]).map((sample, n) => sample + other[n]!);
    const gate = new BedGate(RATE);
    const ends = eventsIn(gate, sound).filter((event) => event.type === 'end');
    const certain = ends.flatMap((end) => {
      const { rises, falls } = gate.reached(end);
      const isCertain = ({ dbfs }: { dbfs: number }) => dbfs > gate.certainDbfs!;
      const [first, last] = [rises.find(isCertain), falls.find(isCertain)];
      return first && last ? [[first.atMs, last.atMs]] : [];
    });
    expect(certain).toHaveLength(1);
    expect(Math.abs(certain[0]![0]! - 2_000)).toBeLessThan(150);
    expect(Math.abs(certain[0]![1]! - 4_000)).toBeLessThan(150);
  });

  it('finds background audio that is silent most of the time', () => {
    const strokes = new Float64Array(9_000 * 8);
    for (let at = 3_100 * 8; at < strokes.length; at += 150 * 8) {
      for (let n = 0; n < 30 * 8; n++) strokes[at + n] = 600 * (n % 2 === 0 ? 1 : -1);
    }
    const gate = new BedGate(RATE);
    eventsIn(
      gate,
      voice(9_000, [[500, 3_000]]).map((sample, n) => sample + strokes[n]!),
    );
    expect(gate.background).toMatchObject({ isUneven: true });
    expect(gate.background!.dbfs).toBeGreaterThan(-50);
  });

  it('finds background audio with only short audible peaks, but none in single clicks', () => {
    const clicks = (count: number) => {
      const sound = voice(9_000, [[500, 3_000]]);
      for (let click = 0; click < count; click++) {
        for (let n = 0; n < 30 * 8; n++) sound[(4_000 + click * 900) * 8 + n]! += 200 * (n % 2 === 0 ? 1 : -1);
      }
      const gate = new BedGate(RATE);
      expectLines(soundsIn(gate, sound), [[500, 3_000]]);
      return gate.background;
    };
    expect(clicks(5)).toMatchObject({ isUneven: true });
    expect(clicks(2)).toBeNull();
  });

  it('does not mistake the voice for the bed if it soon continues as quietly as the bed', () => {
    const lines: Spans = [
      [500, 3_000],
      [5_000, 7_000],
    ];
    const sound = withBed(voice(12_000, lines), { dbfs: -34 }).fill(0, 7_000 * 8);
    // Within 800 ms from the level of the bed to that of quiet speech.
    const dbfs = (ms: number) => -34 + 7 * Math.min(1, ms / 800);
    for (let n = 7_260 * 8; n < 9_500 * 8; n++) {
      sound[n] = Math.SQRT2 * amplitudeOf(dbfs(n / 8 - 7_260)) * Math.sin((2 * Math.PI * 300 * n) / RATE);
    }
    const last = soundsIn(new BedGate(RATE), sound).at(-1)!;
    expect(last[0]).toBeLessThan(8_000);
    expect(last[1]).toBeGreaterThan(9_300);
  });

  it('takes the sound back if the agent has not spoken for eight seconds', () => {
    const gate = new BedGate(RATE);
    const events = eventsIn(gate, withBed(new Float64Array(8_100 * 8), { dbfs: -32, beatDb: 3 }));
    expect(events.map(({ type }) => type)).toEqual(['onset', 'end']);
    expect(events[1]).toMatchObject({ onsetMs: expect.any(Number) });
    expect(soundsIn(new BedGate(RATE), withBed(new Float64Array(20_000 * 8), { dbfs: -32, beatDb: 3 }))).toEqual([]);
  });

  it('forgets the bed after two seconds without audible sound', () => {
    const spans: Spans = [
      [500, 3_000],
      [9_000, 10_500],
    ];
    const bed = withBed(voice(6_000, [[500, 3_000]]), { dbfs: -36 });
    // The second voice is as loud as the bed was.
    const sound = voice(12_000, [[9_000, 10_500]], -36).map((sample, n) => sample + (bed[n] ?? 0));
    expectLines(soundsIn(new BedGate(RATE), sound), spans);
  });

  it('ends a sound after 200 ms of bed if the platform reported the end of the turn', () => {
    const sound = withBed(voice(4_000, [[500, 3_000]]), { dbfs: -40 });
    const endedAt = (isTold: boolean) => {
      const gate = new BedGate(RATE);
      const pcm = Int16Array.from(sound, Math.round);
      for (let at = 0; at + FRAME <= pcm.length; at += FRAME) {
        if (isTold && at >= 3_000 * 8) gate.turnEnded();
        if (gate.push(pcm.subarray(at, at + FRAME), true)?.type === 'end') return at / 8;
      }
      return Infinity;
    };
    expect(endedAt(true)).toBeLessThan(3_400);
    expect(endedAt(false)).toBeGreaterThan(endedAt(true) + 300);
  });

  it('finds no background in the silence after a reported end of a turn', () => {
    const gate = new BedGate(RATE);
    const pcm = Int16Array.from(voice(4_000, [[500, 3_000]]), Math.round);
    for (let at = 0; at + FRAME <= pcm.length; at += FRAME) {
      if (at >= 3_000 * 8) gate.turnEnded();
      gate.push(pcm.subarray(at, at + FRAME), true);
    }
    expect(gate.background).toBeNull();
  });

  it('hears a turn to its quiet end if the platform reported that end', () => {
    const gate = new BedGate(RATE);
    const [first, quiet] = [
      voice(8_000, [
        [500, 3_000],
        [5_000, 5_600],
      ]),
      voice(8_000, [[5_600, 5_900]], -37),
    ];
    const pcm = Int16Array.from(first, (sample, n) => Math.round(sample + quiet[n]!));
    const ends: GateEvent[] = [];
    for (let at = 0; at + FRAME <= pcm.length; at += FRAME) {
      if ((at >= 3_000 * 8 && at < 5_000 * 8) || at >= 5_900 * 8) gate.turnEnded();
      const event = gate.push(pcm.subarray(at, at + FRAME), true);
      if (event?.type === 'end') ends.push(event);
    }
    expect(ends).toHaveLength(2);
    expect(Math.abs(ends[1]!.atMs - 5_900)).toBeLessThanOrEqual(FRAME_MS);
    expect(gate.background).toBeNull();
  });

  it('dates the beginning of a turn correctly soon after a reported end of a turn', () => {
    const gate = new BedGate(RATE);
    // Its last syllables are quiet, as those of a sentence often are.
    const [loud, quiet, next] = [
      [500, 2_700],
      [2_700, 3_000],
      [4_500, 5_500],
    ] as const;
    const parts = [voice(6_000, [loud]), voice(6_000, [quiet], -37), voice(6_000, [next], -40)];
    const pcm = Int16Array.from(parts[0]!, (_, n) => Math.round(parts.reduce((sum, part) => sum + part[n]!, 0)));
    const onsets: number[] = [];
    for (let at = 0; at + FRAME <= pcm.length; at += FRAME) {
      if (at >= 3_000 * 8 && at < 4_500 * 8) gate.turnEnded();
      const event = gate.push(pcm.subarray(at, at + FRAME), true);
      if (event?.type === 'onset') onsets.push(event.atMs);
    }
    expect(onsets).toHaveLength(2);
    expect(Math.abs(onsets[1]! - 4_500)).toBeLessThanOrEqual(FRAME_MS);
  });

  it('reports the levels of half a minute that never falls silent and does not vary like speech', () => {
    const gate = new BedGate(RATE);
    eventsIn(gate, withBed(voice(10_000, [[1_000, 4_000]]), { dbfs: -40 }));
    expect(gate.endless).toBeNull();
    const loud = new BedGate(RATE);
    const pcm = Int16Array.from(withBed(voice(32_000, [[0, 32_000]]), { dbfs: -30 }), Math.round);
    for (let at = 0; at + FRAME <= pcm.length; at += FRAME) loud.push(pcm.subarray(at, at + FRAME), true);
    expect(loud.endless!.low).toBeLessThan(loud.endless!.high);
    const speech = new BedGate(RATE);
    const words = Array.from({ length: 32 }, (_, n) => [n * 1_000, n * 1_000 + 860] as const);
    const clean = Int16Array.from(voice(32_000, words), Math.round);
    for (let at = 0; at + FRAME <= clean.length; at += FRAME) speech.push(clean.subarray(at, at + FRAME), true);
    expect(speech.endless).toBeNull();
  });
});
