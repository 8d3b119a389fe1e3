import { encodeMulaw, resample, wavHeader } from '../../../../libs/audio/index.js';
import { RATE } from './frames.js';
import type { VoiceBehaviour } from './voice-faults.js';

/** Audio of a sentence: 16-bit mono at 8 kHz; undefined while it is not ready. */
export type SentenceAudio = (sentence: string) => Int16Array | undefined;

const BETWEEN_SENTENCES_MS = 250;
const QUIET = 10 ** (-20 / 20);
const LOUD = 10 ** (26 / 20);

/** The agent's voice: turns an answer into the bytes of its media messages. */
export class Voice {
  constructor(private readonly audioOf: SentenceAudio) {}

  /** @returns undefined while the audio of a sentence is not ready */
  say(text: string, behaviour: VoiceBehaviour): Uint8Array | undefined {
    const all = sentencesOf(text).map((sentence) => this.audioOf(sentence));
    const ready = all.filter((pcm) => pcm !== undefined);
    if (ready.length < all.length) return undefined;
    const parts = ready.flatMap((pcm, index) =>
      index === 0 ? [pcm] : [silence(index === 1 ? pauseOf(behaviour) : BETWEEN_SENTENCES_MS), pcm],
    );
    return encode(atLevel(join(parts), behaviour.audio), behaviour.encoding);
  }
}

const SENTENCE = /[^.?!]+(?:[.?!]+(?!\s|$)[^.?!]+)*[.?!]*/g;

/** Sentences are the units of synthesis, so that answers made of the same sentences share their audio. */
export const sentencesOf = (text: string): string[] => text.match(SENTENCE)?.map((part) => part.trim()) ?? [];

const pauseOf = ({ deadAirMs }: VoiceBehaviour): number => Math.max(BETWEEN_SENTENCES_MS, deadAirMs);

const silence = (ms: number): Int16Array => new Int16Array((RATE * ms) / 1_000);

function join(parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let position = 0;
  for (const part of parts) {
    whole.set(part, position);
    position += part.length;
  }
  return whole;
}

function atLevel(pcm: Int16Array, fault: VoiceBehaviour['audio']): Int16Array {
  const factor = fault === 'quiet' ? QUIET : fault === 'clipped' ? LOUD : 1;
  return factor === 1 ? pcm : pcm.map((sample) => Math.max(-32_768, Math.min(32_767, Math.round(sample * factor))));
}

function encode(pcm: Int16Array, encoding: VoiceBehaviour['encoding']): Uint8Array {
  switch (encoding) {
    case 'mulaw':
      return encodeMulaw(pcm);
    case 'mulaw-16k':
      return encodeMulaw(resample(pcm, RATE, 2 * RATE));
    case 'pcm-24k': {
      const fast = resample(pcm, RATE, 3 * RATE);
      return new Uint8Array(fast.buffer, fast.byteOffset, fast.byteLength);
    }
    case 'wav': {
      const header = wavHeader({ encoding: 'mulaw', rate: RATE, channels: 1 }, pcm.length);
      return Buffer.concat([header, encodeMulaw(pcm)]);
    }
  }
}
