import { activeLevel, normaliseLevel, Random, resample, speechBounds, TELEPHONE_RATE } from '../../audio/index.js';
import { speakPhones, type FliteSpeech } from '../flite/flite.js';
import type { FliteVoiceName } from '../flite/voices.js';
import { BACKCHANNEL_VOICES, type SoundName } from './sounds.js';

const LEVEL_DBFS = -26;
const FADE_MS = 8;

interface Backchannel {
  /** In flite's notation; spelt words last too long or are spelt out letter by letter. */
  readonly phones: string;
  readonly ms: number;
}

const BACKCHANNELS: Readonly<Record<'mm-hmm' | 'uh-huh' | 'yeah', Backchannel>> = {
  'mm-hmm': { phones: 'm hh m', ms: 400 },
  'uh-huh': { phones: 'ah hh ah', ms: 380 },
  yeah: { phones: 'y ae', ms: 320 },
};

/**
 * The files of `libs/speech/sounds` by name, made out of flite's speech and of seeded noise: the same bytes each time.
 * `scripts/build-sounds.mjs` writes them.
 */
export function makeSounds(flite: WebAssembly.Module): Map<string, Int16Array> {
  const files = new Map<string, Int16Array>();
  for (const [gender, voice] of Object.entries(BACKCHANNEL_VOICES)) {
    for (const [name, backchannel] of Object.entries(BACKCHANNELS)) {
      files.set(`${name}.${gender.toLowerCase()}`, makeBackchannel(flite, voice, backchannel));
    }
  }
  files.set('cough' satisfies SoundName, finish(cough()));
  files.set('door' satisfies SoundName, finish(door()));
  return files;
}

/** Speaks the phones at the rate at which they last as long as they should. */
function makeBackchannel(flite: WebAssembly.Module, voice: FliteVoiceName, { phones, ms }: Backchannel): Int16Array {
  let stretch = 1;
  let best: Int16Array | undefined;
  for (let attempt = 0; attempt < 8; attempt++) {
    best = trimmed(speakPhones(flite, { phones, voice, stretch }));
    const actual = (best.length / TELEPHONE_RATE) * 1_000;
    if (Math.abs(actual - ms) < 5) break;
    stretch *= ms / actual;
  }
  return finish(best!);
}

function trimmed({ pcm, sampleRate }: Pick<FliteSpeech, 'pcm' | 'sampleRate'>): Int16Array {
  const levelled = normaliseLevel(resample(pcm, sampleRate, TELEPHONE_RATE), TELEPHONE_RATE, LEVEL_DBFS);
  const { start, end } = speechBounds(levelled);
  return levelled.slice(start, end);
}

/** A burst of air through the throat, then a second, weaker one: 350 ms. */
function cough(): Int16Array {
  const noise = new Random(16, 'cough');
  const throat = [new Resonator(550, 180), new Resonator(1_500, 300), new Resonator(2_600, 400)];
  return shape(350, (t) => {
    const first = attack(t, 0.006) * Math.exp(-t / 0.05);
    const second = t < 0.13 ? 0 : 0.55 * attack(t - 0.13, 0.03) * Math.exp(-(t - 0.13) / 0.09);
    const air = noise.gaussian() * (first + second);
    return throat.reduce((sum, resonator) => sum + resonator.next(air), 0) + 0.2 * air;
  });
}

/** The thud of a door and the rattle of its frame: 300 ms. */
function door(): Int16Array {
  const noise = new Random(16, 'door');
  const panel = [new Resonator(95, 4), new Resonator(210, 6), new Resonator(430, 14)];
  return shape(300, (t) => {
    const blow = noise.gaussian() * attack(t, 0.002) * Math.exp(-t / 0.02);
    const rattle = t < 0.09 ? 0 : 0.25 * noise.gaussian() * Math.exp(-(t - 0.09) / 0.03);
    return panel.reduce((sum, resonator) => sum + resonator.next(blow + rattle), 0) + 0.3 * blow;
  });
}

/** @param amplitudeAt of the sound at a time in seconds, called for each sample in order */
function shape(ms: number, amplitudeAt: (seconds: number) => number): Int16Array {
  const length = (ms * TELEPHONE_RATE) / 1_000;
  const samples = Float64Array.from({ length }, (_, index) => amplitudeAt(index / TELEPHONE_RATE));
  const peak = samples.reduce((max, sample) => Math.max(max, Math.abs(sample)), 0);
  return Int16Array.from(samples, (sample) => Math.round((sample / peak) * 20_000));
}

/** Rises from 0 to 1 in the given time, both in seconds. */
const attack = (t: number, seconds: number): number => Math.min(1, t / seconds);

/** Two-pole resonator; frequency and bandwidth in hertz. */
class Resonator {
  private last = 0;
  private beforeLast = 0;
  private readonly feedback: number;
  private readonly damping: number;

  constructor(frequency: number, bandwidth: number) {
    const radius = Math.exp((-Math.PI * bandwidth) / TELEPHONE_RATE);
    this.feedback = 2 * radius * Math.cos((2 * Math.PI * frequency) / TELEPHONE_RATE);
    this.damping = -radius * radius;
  }

  next(input: number): number {
    const output = (1 - Math.sqrt(-this.damping)) * input + this.feedback * this.last + this.damping * this.beforeLast;
    this.beforeLast = this.last;
    this.last = output;
    return output;
  }
}

/** Without clicks at its ends, at the level of speech. */
function finish(pcm: Int16Array): Int16Array {
  const fade = (FADE_MS * TELEPHONE_RATE) / 1_000;
  const faded = pcm.map((sample, index) => sample * Math.min(1, (index + 1) / 16, (pcm.length - index) / fade));
  const levelled = normaliseLevel(faded, TELEPHONE_RATE, LEVEL_DBFS);
  if (Math.abs(activeLevel(levelled, TELEPHONE_RATE) - LEVEL_DBFS) > 0.5)
    throw new Error('The level cannot be reached');
  return levelled;
}
