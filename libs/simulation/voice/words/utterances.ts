import { partitionPoint } from '../../../audio/index.js';
import type { AgentSound, Arrival, Span, VoiceFacts } from '../facts/facts.js';
import type { TimedWord, WordSource } from '../facts/results.js';
import { overlapOf } from '../facts/spans.js';
import type { AgentUtterance } from '../facts/turn-question.js';
import type { WordFacts } from './item-audio.js';
import { type ItemWord, type ItemWords, wordsOfItems } from './item-words.js';
import { recognisedMs, WORD_MS, wordsOfPieces } from './recognised-words.js';

/** Words of one item within one sound, in order. */
export interface SpokenRun {
  readonly item: number;
  readonly words: readonly ItemWord[];
  /** Whether the words go on from an earlier sound. */
  readonly continues: boolean;
  /** Whether the rest of the item was dropped, and words with it. */
  readonly isInterrupted: boolean;
  /** The words of the item after that, which were reported and not heard. */
  readonly unheard: readonly ItemWord[];
}

/** One sound of the agent with the words that were heard in it. */
export interface SoundWords {
  readonly sound: AgentSound;
  readonly runs: readonly SpokenRun[];
  /** `partly`: a part of it has no known words. */
  readonly words: 'known' | 'partly' | 'unknown';
}

type Facts = WordFacts & Pick<VoiceFacts, 'agent'>;

/** What was said in one go, with its words: pieces that a recogniser heard, else items that the platform reported. */
export const spokenItems = (facts: Facts): readonly ItemWords[] =>
  facts.recognised ? wordsOfPieces(facts.recognised.pieces, facts) : wordsOfItems(facts);

/** The words of each sound of the agent. A sound without any never has the words "". */
export function wordsOfSounds(facts: Facts): SoundWords[] {
  const { recognised } = facts;
  const items = spokenItems(facts);
  const known = new Map(items.filter(({ words }) => words).map((item) => [item.item, item]));
  const spoken = facts.agent.map((): SpokenRun[] => []);
  for (const item of known.values()) {
    for (const [index, run] of runsOf(item, facts.agent)) spoken[index]!.push(run);
  }
  return facts.agent.map((sound, index) => {
    const runs = spoken[index]!;
    const isKnown = ({ item }: Arrival) => item !== undefined && known.has(item);
    const [knownMs, unknownMs] = recognised
      ? recognisedMs(sound, recognised.pieces)
      : audibleOf(sound, facts.arrivals, isKnown);
    const isUnknown = unknownMs >= WORD_MS || knownMs === 0;
    return { sound, runs, words: !isUnknown ? 'known' : runs.length > 0 ? 'partly' : 'unknown' };
  });
}

/** The words as their platform wrote them. */
export const textOf = (words: readonly ItemWord[]): string =>
  words.map(({ text, before }, index) => `${index === 0 ? '' : before}${text}`).join('');

/** What the agent was heard to say, in order: words, and sound whose words are not known. */
export function utterancesOf(facts: Facts): AgentUtterance[] {
  return wordsOfSounds(facts).flatMap(({ sound, runs, words }): AgentUtterance[] => {
    const { turn, startMs, endMs } = sound;
    const known = runs.map(({ item, words: own }) => ({
      ...{ turn, item, startMs: own[0]!.startMs, endMs: own.at(-1)!.endMs },
      text: textOf(own),
    }));
    return words === 'known' ? known : [...known, { turn, startMs, endMs, text: null }];
  });
}

export const sourceOf = ({ recognised, imported }: Pick<VoiceFacts, 'recognised' | 'imported'>): WordSource =>
  recognised ? 'recogniser' : imported ? 'transcript' : 'wire';

/** All words of the agent in order, also those that were not heard. @param clean removes secrets from a text */
export function timedWords(facts: Facts & Pick<VoiceFacts, 'imported'>, clean: (text: string) => string): TimedWord[] {
  const source = sourceOf(facts);
  return spokenItems(facts)
    .filter(({ played }) => {
      const { first, end } = soundsWithin(facts.agent, played);
      return first < end;
    })
    .flatMap(({ words = [] }) =>
      withoutSecrets(words, clean).map(({ text, startMs, endMs, hearing }) => ({
        ...{ speaker: 'agent' as const, text, startMs, endMs, source },
        ...(hearing === 'unheard' && { unheard: true as const }),
        ...(hearing === 'uncertain' && { uncertain: true as const }),
      })),
    );
}

/** A secret may stand in several words: if fewer are left without it, it cannot be said which it was. */
function withoutSecrets(words: readonly ItemWord[], clean: (text: string) => string): readonly ItemWord[] {
  const text = textOf(words);
  const cleaned = clean(text);
  if (cleaned === text) return words;
  const left = cleaned.trim().split(/\s+/);
  return words.map((word, index) => ({ ...word, text: left.length === words.length ? left[index]! : '[redacted]' }));
}

/** The heard words of an item by the sounds in which they were heard: the one around the middle of a word, or the nearest. */
function runsOf({ item, words = [], played, isDropped }: ItemWords, sounds: readonly AgentSound[]) {
  const { first, end } = soundsWithin(sounds, played);
  const audible = words.filter(({ hearing }) => hearing !== 'unheard');
  const runs = new Map<number, ItemWord[]>();
  let index = first;
  for (const word of first < end ? audible : []) {
    const middle = (word.startMs + word.endMs) / 2;
    // In order, also where the times of two words are the same.
    index = Math.max(index, Math.min(nearestTo(middle, sounds), end - 1));
    const run = runs.get(index);
    if (run) run.push(word);
    else runs.set(index, [word]);
  }
  const isCut = isDropped && words.some(({ hearing }) => hearing !== 'heard');
  const unheard = words.filter(({ hearing }) => hearing === 'unheard');
  return [...runs].map(([index, heard], position, all): [number, SpokenRun] => [
    index,
    {
      ...{ item, words: heard, continues: position > 0 },
      ...(position < all.length - 1 ? { isInterrupted: false, unheard: [] } : { isInterrupted: isCut, unheard }),
    },
  ]);
}

/** Positions of the sounds that overlap with a span: the first one, and the one after the last. */
const soundsWithin = (sounds: readonly AgentSound[], { startMs, endMs }: Span) => ({
  first: partitionPoint(sounds, (sound) => sound.endMs <= startMs),
  end: partitionPoint(sounds, (sound) => sound.startMs < endMs),
});

/** Audible milliseconds of a sound with and without known words. Arrivals are in order of their playing. */
function audibleOf(sound: Span, arrivals: readonly Arrival[], isKnown: (arrival: Arrival) => boolean) {
  let [known, unknown] = [0, 0];
  const first = partitionPoint(arrivals, ({ playedToMs }) => playedToMs <= sound.startMs);
  for (let index = first; index < arrivals.length && arrivals[index]!.playedFromMs < sound.endMs; index++) {
    const arrival = arrivals[index]!;
    const ms = overlapOf(sound, { startMs: arrival.playedFromMs, endMs: arrival.playedToMs });
    if (isKnown(arrival)) known += ms;
    else unknown += ms;
  }
  return [known, unknown] as const;
}

/** Position of the sound that is nearest to a moment. @param sounds at least one */
function nearestTo(ms: number, sounds: readonly AgentSound[]): number {
  const after = partitionPoint(sounds, ({ startMs }) => startMs <= ms);
  const [before, next] = [sounds[after - 1], sounds[after]];
  return !before || (next && distance(next, ms) < distance(before, ms)) ? after : after - 1;
}

const distance = ({ startMs, endMs }: Span, ms: number): number => Math.max(startMs - ms, ms - endMs, 0);
