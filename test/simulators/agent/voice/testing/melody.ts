import { RATE } from '../frames.js';
import { TemplateRecogniser } from '../recogniser.js';
import { soundAsHeard } from '../templates.js';
import { Voice } from '../voice.js';

const LETTER_MS = 60;
/** -26 dBFS effective value of a sine. */
const AMPLITUDE = 32_768 * 10 ** (-26 / 20) * Math.SQRT2;

/**
 * A melody in place of speech: 60 ms for each character, each with a pitch of its own. Tests of the turn-taking then need no
 * speech engine and know every duration.
 */
export function melody(text: string): Int16Array {
  const samples = (RATE * LETTER_MS) / 1_000;
  const pcm = new Int16Array(text.length * samples);
  [...text].forEach((letter, index) => {
    const hz = 300 + (((letter.codePointAt(0) ?? 0) * 97) % 2_500);
    for (let n = 0; n < samples; n += 1) {
      pcm[index * samples + n] = AMPLITUDE * Math.sin((2 * Math.PI * hz * n) / RATE);
    }
  });
  return pcm;
}

export const silence = (ms: number): Int16Array => new Int16Array((RATE * ms) / 1_000);

/** Sounds one after the other. */
export function sequence(...parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  parts.reduce((position, part) => {
    whole.set(part, position);
    return position + part.length;
  }, 0);
  return whole;
}

/** A voice and an ear for melodies. */
export function melodies(lines: readonly string[], sounds: readonly string[] = []) {
  const known = (type: 'line' | 'sound', texts: readonly string[]) =>
    texts.map((text) => ({ type, text, pcm: soundAsHeard(melody(text)) }));
  return {
    voice: new Voice(melody),
    recogniser: new TemplateRecogniser([...known('line', lines), ...known('sound', sounds)]),
  };
}

/** White noise at -26 dBFS: a sound that is not a melody. */
export function burst(ms: number): Int16Array {
  let state = 1;
  return silence(ms).map(() => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return Math.round((state / 0x4000_0000 - 1) * 32_768 * 10 ** (-26 / 20) * Math.sqrt(3));
  });
}
