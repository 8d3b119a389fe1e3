import { amplitudeOf, dbfs } from './level.js';
import { Random } from './random.js';

/** Endless sound, frame by frame. */
export interface SoundSource {
  /** Adds the next samples to a frame of any length. Full scale is 32,768. */
  addTo(frame: Float64Array): void;
}

export const NOISE_COLOURS = ['white', 'pink', 'brown'] as const;
export type NoiseColour = (typeof NOISE_COLOURS)[number];

/** A first-order low-pass: y[n] = pole * y[n - 1] + gain * x[n]. */
interface OnePole {
  readonly pole: number;
  readonly gain: number;
}

/**
 * Low-passes whose sum gives white noise its colour. Pink (-3 dB per octave) is Paul Kellet's filter, exact to 0.5 dB; brown
 * (-6 dB per octave) is an integrator that leaks below 20 Hz at 8,000 samples per second.
 */
const COLOURS: Readonly<Record<NoiseColour, readonly OnePole[]>> = {
  white: [{ pole: 0, gain: 1 }],
  pink: [
    { pole: 0.99765, gain: 0.099046 },
    { pole: 0.963, gain: 0.2965164 },
    { pole: 0.57, gain: 1.0526913 },
    { pole: 0, gain: 0.1848 },
  ],
  brown: [{ pole: 0.9844, gain: 1 }],
};

/** Seeded noise at an RMS level. */
export class Noise implements SoundSource {
  private readonly poles: Float64Array;
  private readonly gains: Float64Array;
  private readonly state: Float64Array;
  private readonly random: Random;

  constructor(colour: NoiseColour, { dbfs: level, random }: { readonly dbfs: number; readonly random: Random }) {
    const filters = COLOURS[colour];
    const amplitude = amplitudeOf(level) / rmsOf(filters);
    this.poles = Float64Array.from(filters, ({ pole }) => pole);
    this.gains = Float64Array.from(filters, ({ gain }) => gain * amplitude);
    this.random = random;
    // The low-passes do not start from zero, as if the noise had always been there.
    this.state = Float64Array.from(filters, ({ pole, gain }) => {
      return (gain * amplitude * random.gaussian()) / Math.sqrt(1 - pole * pole);
    });
  }

  addTo(frame: Float64Array): void {
    const { poles, gains, state } = this;
    for (let n = 0; n < frame.length; n++) {
      const white = this.random.gaussian();
      let sum = 0;
      for (let k = 0; k < state.length; k++) {
        const value = poles[k]! * state[k]! + gains[k]! * white;
        state[k] = value;
        sum += value;
      }
      frame[n] = frame[n]! + sum;
    }
  }
}

/** RMS of the sum of the low-passes for white noise of RMS 1. */
function rmsOf(filters: readonly OnePole[]): number {
  const square = filters.reduce(
    (total, a) => total + filters.reduce((sum, b) => sum + (a.gain * b.gain) / (1 - a.pole * b.pole), 0),
    0,
  );
  return Math.sqrt(square);
}

const MAINS_HZ = 50;
const HARMONICS = 12;

/** Mains hum: 50 Hz and its harmonics up to 600 Hz, part of which passes a telephone. Phases are random. */
export class Hum implements SoundSource {
  /** One period of the mains. */
  private readonly period: Float64Array;
  private position = 0;

  constructor({
    rate,
    dbfs: level,
    random,
  }: {
    readonly rate: number;
    readonly dbfs: number;
    readonly random: Random;
  }) {
    const phases = Array.from({ length: HARMONICS }, () => random.between(0, 2 * Math.PI));
    this.period = Float64Array.from({ length: Math.round(rate / MAINS_HZ) }, (_, n) =>
      phases.reduce(
        (sum, phase, k) => sum + Math.sin((2 * Math.PI * MAINS_HZ * (k + 1) * n) / rate + phase) / (k + 1),
        0,
      ),
    );
    const rms = Math.sqrt(this.period.reduce((sum, value) => sum + value * value, 0) / this.period.length);
    const amplitude = amplitudeOf(level) / rms;
    this.period.forEach((value, n) => (this.period[n] = value * amplitude));
  }

  addTo(frame: Float64Array): void {
    for (let n = 0; n < frame.length; n++) {
      frame[n] = frame[n]! + this.period[this.position]!;
      this.position = (this.position + 1) % this.period.length;
    }
  }
}

/** A recorded sound at an RMS level, looped from a random position. */
export class Loop implements SoundSource {
  private position: number;
  private readonly factor: number;

  /** @param sound with at least one sample that is not zero */
  constructor(
    private readonly sound: Int16Array,
    { dbfs: level, random }: { readonly dbfs: number; readonly random: Random },
  ) {
    const present = dbfs(sound);
    if (present === -Infinity) throw new RangeError('A silent sound cannot be looped at a level.');
    this.factor = 10 ** ((level - present) / 20);
    this.position = Math.floor(random.between(0, sound.length));
  }

  addTo(frame: Float64Array): void {
    for (let n = 0; n < frame.length; n++) {
      frame[n] = frame[n]! + this.sound[this.position]! * this.factor;
      this.position = this.position + 1 === this.sound.length ? 0 : this.position + 1;
    }
  }
}
