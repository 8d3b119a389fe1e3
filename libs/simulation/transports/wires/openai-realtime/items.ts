import { slowestSpeechMs } from '../../../../audio/index.js';
import type { Item } from '../../../voice/wire/wire.js';
import type { OutputItem } from './messages.js';

/** Older items are forgotten: their audio was played long ago. */
const MAX_ITEMS = 1_000;
const MAX_WORDS = 64 * 1024;
/** Items that are looked at when the caller interrupts; a response has one or two. */
const MAX_UNPLAYED = 20;
/** Audio of this duration is longer than slow speech with its pauses only if words are missing, or if its rate is another one. */
const LONG = { ms: 5_000, timesSlowest: 5 / 3 } as const;

/** A message of the agent whose audio or words have begun to arrive. */
export interface AudioItem {
  /** Empty if the platform names none. */
  readonly id: string;
  readonly responseId: string;
  readonly number: Item;
  contentIndex: number;
  /** Milliseconds of its audio that arrived. */
  receivedMs: number;
  /** Whether the platform was sent the place where it was cut off. */
  isTruncated: boolean;
  /** Its words so far, and whether they are all. */
  words: string;
  isSaid: boolean;
}

/** The items of a session: their audio in order of arrival, and their words. */
export class Items {
  private readonly audio = new Map<string, AudioItem>();
  private count = 0;

  /** A new one is numbered: words may arrive before the audio. What names no item belongs to one of its response. */
  of(id: string, responseId: string): AudioItem {
    const key = id || `of ${responseId}`;
    const known = this.audio.get(key);
    if (known) return known;
    const state = { contentIndex: 0, receivedMs: 0, isTruncated: false, words: '', isSaid: false };
    const item = { id, responseId, number: ++this.count, ...state };
    this.audio.set(key, item);
    if (this.audio.size > MAX_ITEMS) this.audio.delete(this.audio.keys().next().value!);
    return item;
  }

  /** The latest one. */
  get last(): AudioItem | undefined {
    return [...this.audio.values()].at(-1);
  }

  /** Those of which something was not played, in order. @param heardMs milliseconds of an item that were played */
  unplayed(heardMs: (item: AudioItem) => number): AudioItem[] {
    const latest = [...this.audio.values()].reverse();
    // They are played in order: what came before one that was played as a whole was played, too.
    const isOver = (item: AudioItem) => item.isTruncated || Math.floor(heardMs(item)) >= Math.floor(item.receivedMs);
    const end = latest.slice(0, MAX_UNPLAYED).findIndex((item) => item.receivedMs > 0 && isOver(item));
    return latest.slice(0, end === -1 ? MAX_UNPLAYED : end).reverse();
  }

  /** The items of a response that has audio. */
  heard(responseId: string): AudioItem[] {
    return this.all(responseId).filter(({ receivedMs }) => receivedMs > 0);
  }

  /** Adds words to those of an item. @returns all of them so far if they are whole, else what was added */
  say(item: AudioItem, text: string, isWhole: boolean): string {
    item.words = isWhole ? text || item.words : (item.words + text).slice(0, MAX_WORDS);
    item.isSaid ||= isWhole && item.words !== '';
    return isWhole ? item.words : text;
  }

  /** The words of the items of a response that is over, where they were not reported as a whole. @param output of the response */
  rest(responseId: string, output: readonly OutputItem[]): (readonly [AudioItem, string])[] {
    const heard = this.heard(responseId);
    // Some servers give each piece of the words an item of its own.
    const strays = this.all(responseId).filter(({ receivedMs }) => receivedMs === 0);
    const whole = strays.filter(({ isSaid }) => isSaid);
    const stray = (whole.length > 0 ? whole : strays).map(({ words }) => words).join(whole.length > 0 ? ' ' : '');
    const all =
      output
        .map(({ words }) => words)
        .join(' ')
        .trim() || stray;
    return heard
      .filter(({ isSaid }) => !isSaid)
      .map((item) => {
        const own = item.words || output.find(({ id }) => id === item.id)?.words;
        return [item, own || (heard.length === 1 ? all : '')] as const;
      });
  }

  /** Whether the words of a response are far too few for its audio, which then has another rate or encoding. */
  isSparse(responseId: string): boolean {
    return this.heard(responseId).some(({ words, receivedMs }) => {
      const slowestMs = slowestSpeechMs(words) * LONG.timesSlowest;
      return slowestMs > 0 && receivedMs >= LONG.ms && receivedMs > slowestMs;
    });
  }

  private all(responseId: string): AudioItem[] {
    return [...this.audio.values()].filter((item) => item.responseId === responseId);
  }
}
