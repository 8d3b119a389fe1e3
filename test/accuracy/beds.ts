import { type NoiseColour, Loop, Noise, Random, type SoundSource, TELEPHONE_RATE } from '../../libs/audio/index.js';
import { babbleLoop, type SpeechEngine } from '../../libs/speech/index.js';

/** Background audio of agents, made by code. */
export const BEDS = ['white', 'pink', 'babble', 'slow-music', 'fast-music', 'distant-voices', 'keyboard'] as const;
export type BedName = (typeof BEDS)[number];

const RATE = TELEPHONE_RATE;
/** Length of what is repeated. */
const SECONDS = 16;
const LENGTH = SECONDS * RATE;

interface Song {
  readonly beatsPerMinute: number;
  /** Semitones above 110 Hz of each chord, which lasts two seconds. */
  readonly chords: readonly (readonly number[])[];
  /** Level of the drums relative to the chords. */
  readonly drums: number;
}

const SONGS: Readonly<Record<'slow-music' | 'fast-music', Song>> = {
  'slow-music': {
    beatsPerMinute: 75,
    chords: [
      [0, 7, 12, 16],
      [5, 12, 17, 21],
      [7, 14, 19, 23],
    ],
    drums: 1.5,
  },
  'fast-music': {
    beatsPerMinute: 120,
    chords: [
      [9, 12, 16, 21],
      [5, 9, 12, 17],
      [0, 4, 7, 12],
      [7, 11, 14, 19],
    ],
    drums: 2,
  },
};

const TALKERS = [
  { voice: 'awb', lines: ['Could you put these boxes over there, please?', 'No, the ones with the blue label.'] },
  { voice: 'slt', lines: ['I will be back from lunch at two, I think.', 'Did anybody water the plants last week?'] },
] as const;

export class Beds {
  private readonly loops = new Map<BedName, Int16Array>();

  private constructor(
    private readonly babble: Int16Array,
    private readonly distant: Int16Array,
  ) {}

  static async prepare(engine: SpeechEngine): Promise<Beds> {
    return new Beds(await babbleLoop(engine), await distantVoices(engine));
  }

  /** @param level RMS in dBFS */
  source(name: BedName, level: number, seed: number): SoundSource {
    const random = new Random(seed, name);
    if (name === 'white' || name === 'pink') return new Noise(name satisfies NoiseColour, { dbfs: level, random });
    return new Loop(this.loop(name), { dbfs: level, random });
  }

  private loop(name: Exclude<BedName, 'white' | 'pink'>): Int16Array {
    const made = this.loops.get(name) ?? this.made(name);
    this.loops.set(name, made);
    return made;
  }

  private made(name: Exclude<BedName, 'white' | 'pink'>): Int16Array {
    switch (name) {
      case 'babble':
        return this.babble;
      case 'distant-voices':
        return this.distant;
      case 'keyboard':
        return keyboard(new Random(1, name));
      default:
        return music(SONGS[name], new Random(1, name));
    }
  }
}

/** Two people, at a distance: each speaks half of the time. */
async function distantVoices(engine: SpeechEngine): Promise<Int16Array> {
  const sum = new Float64Array(LENGTH);
  for (const [index, { voice, lines }] of TALKERS.entries()) {
    let at = Math.round(index * 2.3 * RATE);
    for (const text of [...lines, ...lines]) {
      const { pcm } = await engine.synthesise({ text, voice });
      let muffled = 0;
      pcm.forEach((sample, offset) => {
        muffled += 0.5 * (sample - muffled);
        sum[(at + offset) % LENGTH]! += muffled;
      });
      at += pcm.length + Math.round(1.1 * RATE);
    }
  }
  return scaled(sum);
}

/** Chords with a bass drum on each beat and a brush between. */
function music({ beatsPerMinute, chords, drums }: Song, random: Random): Int16Array {
  const beat = (60 * RATE) / beatsPerMinute;
  const chordOf = (n: number) => chords[Math.floor(n / (2 * RATE)) % chords.length]!;
  const hzOf = (semitones: number) => 110 * 2 ** (semitones / 12);
  const sum = Float64Array.from({ length: LENGTH }, (_, n) => {
    const seconds = n / RATE;
    const held = 0.6 + 0.4 * Math.exp(-(n % (2 * RATE)) / RATE);
    const chord = chordOf(n).reduce(
      (total, note) =>
        total + [1, 2, 3].reduce((one, k) => one + Math.sin(2 * Math.PI * hzOf(note) * k * seconds) / k ** 2, 0),
      0,
    );
    const sinceBeat = (n % beat) / RATE;
    const sinceBrush = ((n + beat / 2) % beat) / RATE;
    const drum =
      3 * Math.exp(-sinceBeat / 0.06) * Math.sin(2 * Math.PI * (60 + 90 * Math.exp(-sinceBeat / 0.02)) * sinceBeat);
    const brush = 0.8 * Math.exp(-sinceBrush / 0.03) * random.gaussian();
    return held * chord + drums * (drum + brush);
  });
  return scaled(sum);
}

/** Bursts of typing: strokes of 12 ms, about seven a second. */
function keyboard(random: Random): Int16Array {
  const sum = new Float64Array(LENGTH);
  for (let at = 0; at < LENGTH;) {
    const loudness = random.between(0.5, 1);
    for (let n = 0; n < 0.06 * RATE && at + n < LENGTH; n++) {
      sum[at + n]! += loudness * Math.exp(-n / (0.012 * RATE)) * random.gaussian();
    }
    at += Math.round(RATE * (random.next() < 0.08 ? random.between(0.5, 1.5) : random.between(0.08, 0.2)));
  }
  return scaled(sum);
}

const LEVEL_DBFS = -26;

function scaled(sum: Float64Array): Int16Array {
  const rms = Math.sqrt(sum.reduce((total, value) => total + value * value, 0) / sum.length);
  const factor = (32_768 * 10 ** (LEVEL_DBFS / 20)) / rms;
  return Int16Array.from(sum, (value) => Math.max(-32_768, Math.min(32_767, Math.round(value * factor))));
}
