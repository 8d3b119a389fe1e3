import { canBeSaidIn, partitionPoint, spokenWords } from '../../../audio/index.js';
import type { SaidFact, Span, SpokenWord } from '../facts/facts.js';
import { ItemAudio, type WordFacts } from './item-audio.js';

/** Characters of speech in a second, where nothing else says how far the agent has spoken. */
const CHARACTERS_PER_SECOND = 14;
/** Nobody speaks faster: audio that is shorter for its words is not all of it. */
const MOST_CHARACTERS_PER_SECOND = 22;
/** An item that was played until so shortly before the end of the call may have been cut by it. */
const IN_PROGRESS_MS = 500;
/** Characters of one item; more than twenty minutes of speech. The words of a longer one count as not known. */
const MAX_CHARACTERS = 20_000;
/** Words of a call; more than five hours of speech. The words of later items count as not known. */
const MAX_WORDS = 50_000;

export interface ItemWord extends SpokenWord {
  /** White space before it in the words of its item. */
  readonly before: string;
  /** `uncertain`: it was cut off at about this word. */
  readonly hearing: 'heard' | 'uncertain' | 'unheard';
}

/** An item of the agent's audio of which something was played, with its words. */
export interface ItemWords {
  readonly item: number;
  readonly played: Span;
  /** Undefined: the platform reported none, or too many. */
  readonly words: readonly ItemWord[] | undefined;
  /** Whether the times of its words are the platform's own. */
  readonly hasOwnTimes: boolean;
  /** Whether a part of it was dropped before it was played. */
  readonly isDropped: boolean;
  /** Present if the platform reported more words than can be said in its audio. */
  readonly excess?: Excess;
}

type Spoken = Pick<ItemWords, 'words' | 'excess'>;

/** Number of words that were reported for audio of a length. */
export interface Excess {
  readonly words: number;
  readonly ms: number;
}

/** A word at its place in the audio of its item, in milliseconds from the first sample that was sent. */
interface PlacedWord extends SpokenWord {
  readonly before: string;
}

/** What the platform reported of an item's words. */
interface Report {
  readonly text: string;
  /** Whether they are all words of the audio that had been sent. */
  readonly isComplete: boolean;
  /** Length of the audio that they belong to. */
  readonly sentMs: number;
  /** Whether that is too short for them: the rest was not sent. */
  readonly isShort: boolean;
}

/** Timeline, measures, checks and list of words ask for the words of the same facts. */
const known = new WeakMap<WordFacts, readonly ItemWords[]>();

/** The items of the agent's audio that were played, at least in part, with the words that the platform reported. */
export function wordsOfItems(facts: WordFacts): readonly ItemWords[] {
  const before = known.get(facts);
  if (before) return before;
  const said = byItem(facts.said);
  const items: ItemWords[] = [];
  let count = 0;
  for (const [item, arrivals] of byItem(facts.arrivals)) {
    const audio = new ItemAudio(arrivals, facts);
    const { played, isDropped } = audio;
    if (!played) continue;
    const reports = count < MAX_WORDS ? (said.get(item) ?? []) : [];
    const timed = timedWords(reports);
    const spoken = timed ? byOwnTimes(timed, audio) : byCharacters(reports, audio, facts.end.atMs);
    items.push({ item, played, hasOwnTimes: timed !== undefined, isDropped, ...spoken });
    count += spoken.words?.length ?? 0;
  }
  known.set(facts, items);
  return items;
}

function byItem<T extends { readonly item?: number }>(all: readonly T[]): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const one of all) {
    if (one.item === undefined) continue;
    const group = groups.get(one.item);
    if (group) group.push(one);
    else groups.set(one.item, [one]);
  }
  return groups;
}

/** The platform's own times, if all its reports of an item have them. */
function timedWords(reports: readonly SaidFact[]): readonly SpokenWord[] | undefined {
  const finals = reports.filter(({ final }) => final);
  const used = finals.length > 0 ? finals : reports;
  const words = used.flatMap((report) => report.words ?? []);
  const isTimed = used.length > 0 && used.every((report) => (report.words ?? []).length > 0);
  const isSane = words.every(
    ({ text, startMs, endMs }) =>
      text.trim() !== '' && Number.isFinite(startMs) && Number.isFinite(endMs) && startMs >= 0 && endMs >= startMs,
  );
  return isTimed && isSane ? words : undefined;
}

/** A word was heard if its middle was played. */
function byOwnTimes(words: readonly SpokenWord[], audio: ItemAudio): Spoken {
  const ms = audio.sentMs();
  const sent = words.filter(({ startMs, endMs }) => (startMs + endMs) / 2 < ms);
  const excess = excessOf(sent.map(({ text }) => text).join(' '), ms);
  if (excess) return { words: undefined, excess };
  const placed = words.map(({ text, startMs, endMs }, index) =>
    played({ text: text.trim(), before: index === 0 ? '' : ' ', startMs, endMs }, audio),
  );
  return { words: withBeginning(placed) };
}

/** Words that cannot have been said in their audio were not heard in it; which of them were is not known. */
const excessOf = (text: string, ms: number): Excess | undefined =>
  canBeSaidIn(text, ms) ? undefined : { words: spokenWords(text).length, ms };

function played({ text, before, startMs, endMs }: PlacedWord, audio: ItemAudio): ItemWord {
  const hearing = audio.at((startMs + endMs) / 2).isPlayed ? 'heard' : 'unheard';
  return { text, before, startMs: audio.at(startMs).ms, endMs: audio.at(endMs).ms, hearing };
}

function byCharacters(reports: readonly SaidFact[], audio: ItemAudio, callEndMs: number): Spoken {
  const report = reportOf(reports, audio, callEndMs);
  if (!report) return { words: undefined };
  const { text, isComplete, sentMs, isShort } = report;
  const excess = excessOf(text, sentMs);
  if (isComplete && excess) return { words: undefined, excess };
  // How much was sent says nothing about how far the agent has spoken, or how far ahead of its audio the text is.
  const isPaced = audio.isPaced || excess !== undefined;
  const isEstimated = !isComplete && (isPaced || isShort);
  const perCharacter = isEstimated ? 1_000 / CHARACTERS_PER_SECOND : sentMs / text.length;
  const words = wordsIn(text);
  const placed = words.map(({ text: word, before, at }) => ({
    ...{ text: word, before },
    startMs: at * perCharacter,
    endMs: (at + word.length) * perCharacter,
  }));
  if (isComplete) return { words: withBeginning(placed.map((word) => played(word, audio))) };
  // The words of the audio that was not sent yet are not known, and neither is how far ahead of the audio the words are.
  const reach = Math.floor(isEstimated ? audio.playedMs / perCharacter : (text.length * audio.playedMs) / sentMs);
  const last = words.findLastIndex(({ at }) => at < reach);
  // The text may be far ahead of audio that is paced: no more was heard than can be said in what was played.
  const sayable = isPaced ? partitionPoint(words, ({ at }) => canBeSaidIn(text.slice(0, at), audio.playedMs)) : 0;
  const cut = placed.map((word, index): ItemWord => {
    const mayBeHeard = isShort
      ? words[index]!.at < (audio.playedMs * MOST_CHARACTERS_PER_SECOND) / 1_000
      : index < sayable;
    const beyond = mayBeHeard ? 'uncertain' : 'unheard';
    const hearing = index < last ? 'heard' : index === last ? 'uncertain' : beyond;
    return { ...word, startMs: audio.at(word.startMs).ms, endMs: audio.at(word.endMs).ms, hearing };
  });
  return { words: withBeginning(cut) };
}

/** What the platform had reported when the item was cut, or in the end if it was played as a whole. */
function reportOf(reports: readonly SaidFact[], audio: ItemAudio, callEndMs: number): Report | undefined {
  const finals = reports.filter(({ final }) => final);
  const finalMs = finals.at(-1)?.atMs ?? Infinity;
  const isOver = finalMs >= audio.lastArrivedMs();
  const mayGoOn = !isOver && audio.played!.endMs >= callEndMs - IN_PROGRESS_MS;
  const isWhole = audio.cutMs === undefined && !mayGoOn;
  const cutMs = audio.cutMs ?? callEndMs;
  const partial = reports.filter(({ final, atMs }) => !final && atMs <= cutMs);
  const words = finalMs <= cutMs || partial.length === 0 ? finals : partial;
  const text = textOf(words);
  if (text === '') return undefined;
  const isLate = words === finals && finalMs > cutMs;
  const isAllWords = words === finals && finals.some(({ ahead }) => ahead);
  const sentMs = audio.sentMs(isWhole || isLate ? Infinity : cutMs);
  const isShort = isAllWords && sentMs * MOST_CHARACTERS_PER_SECOND < text.length * 1_000;
  if (isWhole && finals.length > 0) return { text, isComplete: !isShort, sentMs, isShort };
  const isComplete = finalMs <= cutMs && finalMs >= audio.lastArrivedMs(cutMs) && !isShort;
  return { text, isComplete, sentMs: audio.sentMs(isLate ? Infinity : cutMs), isShort };
}

function textOf(reports: readonly SaidFact[]): string {
  const isFinal = reports.some(({ final }) => final);
  const text = reports.map((report) => report.text).join(isFinal ? ' ' : '');
  return text.length > MAX_CHARACTERS ? '' : text.toWellFormed().trim();
}

/** The words of a text with their positions and the white space before them. */
export function wordsIn(text: string): { readonly text: string; readonly before: string; readonly at: number }[] {
  return [...text.matchAll(/(\s*)(\S+)/gu)].map(([, before = '', word = ''], index, all) => ({
    text: word,
    before,
    at: all[index]!.index + before.length,
  }));
}

/** What was played of an item is at least the beginning of its first word. */
function withBeginning(words: readonly ItemWord[]): readonly ItemWord[] {
  if (words.some(({ hearing }) => hearing !== 'unheard')) return words;
  return words.map((word, index) => (index === 0 ? { ...word, hearing: 'uncertain' } : word));
}
