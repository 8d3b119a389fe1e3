import { featuresOf, type Features, similarity } from './features.js';
import type { Sound, TranscribedWord } from '../../../libs/speech/index.js';
import { resample } from '../../../libs/audio/index.js';

const RATE = 8_000;
const FRAME_MS = 10;
/** Similarity below which audio is not taken for the sentence. */
const MIN_SIMILARITY = 0.85;
/** A part of a sentence that is recognised, in frames. */
const MIN_OVERLAP = 30;
/** Frames that two sentences may share. */
const MAX_SHARED = 5;

/** Long stretches are compared by some of their frames first. */
const ROUGH = { frames: 80, step: 8, similarity: 0.7 };

interface Sentence {
  readonly features: Features;
  readonly words: Sound['words'];
}

interface Match {
  readonly sentence: Sentence;
  /** Frame of the audio at which the sentence begins; negative if its beginning is missing. */
  readonly offset: number;
  readonly from: number;
  readonly to: number;
  readonly score: number;
}

/** Recognises a closed set of spoken sentences, and parts of them, from nothing but their sound. */
export class SentenceListener {
  private readonly sentences: readonly Sentence[];

  /** @param sounds at 8,000 Hz */
  constructor(sounds: readonly Pick<Sound, 'pcm' | 'words'>[]) {
    this.sentences = sounds.map(({ pcm, words }) => ({ features: featuresOf(pcm), words }));
  }

  /** Those of all sentences. */
  get words(): string[] {
    return this.sentences.flatMap(({ words }) => words.map(({ text }) => text));
  }

  /** The words that are heard, in order, with their places in the audio. */
  hear(pcm: Int16Array, rate: number): TranscribedWord[] {
    const features = featuresOf(resample(pcm, rate, RATE));
    const durationMs = (pcm.length / rate) * 1_000;
    const matches = this.sentences.flatMap((sentence) => matchesOf(sentence, features));
    const found: Match[] = [];
    for (const match of matches.sort((a, b) => b.score - a.score)) {
      const isFree = found.every(
        (other) => Math.min(match.to, other.to) - Math.max(match.from, other.from) <= MAX_SHARED,
      );
      if (isFree) found.push(match);
    }
    return found.sort((a, b) => a.from - b.from).flatMap((match) => wordsOf(match, durationMs));
  }
}

function matchesOf(sentence: Sentence, audio: Features): Match[] {
  const { length } = sentence.features;
  const matches: Match[] = [];
  for (let offset = MIN_OVERLAP - length; offset <= audio.length - MIN_OVERLAP; offset++) {
    const from = Math.max(0, offset);
    const to = Math.min(audio.length, offset + length);
    if (to - from < Math.min(MIN_OVERLAP, length)) continue;
    const isLong = to - from >= ROUGH.frames;
    if (isLong && similarity(sentence.features, from - offset, audio, from, to - from, ROUGH.step) < ROUGH.similarity)
      continue;
    const like = similarity(sentence.features, from - offset, audio, from, to - from);
    if (like >= MIN_SIMILARITY) matches.push({ sentence, offset, from, to, score: like ** 4 * (to - from) });
  }
  return matches;
}

/** The words whose middle is in the audio. */
const wordsOf = ({ sentence, offset }: Match, durationMs: number): TranscribedWord[] =>
  sentence.words.flatMap(({ text, startMs, endMs }) => {
    const shift = offset * FRAME_MS;
    const middle = shift + (startMs + endMs) / 2;
    if (middle < 0 || middle > durationMs) return [];
    return [{ text, startMs: Math.max(0, shift + startMs), endMs: Math.min(durationMs, shift + endMs) }];
  });
