import type { Item } from '../../../voice/wire/wire.js';

/** Older items are forgotten: their audio was played long ago. */
const MAX_ITEMS = 1_000;
const MAX_WORDS = 64 * 1024;
/** Items that are looked at when the caller interrupts; a response has one or two. */
const MAX_UNPLAYED = 20;

/** A message of the agent whose audio or words have begun to arrive. */
export interface AudioItem {
  readonly id: string;
  readonly number: Item;
  contentIndex: number;
  /** Milliseconds of its audio that arrived. */
  receivedMs: number;
  /** Whether the platform was sent the place where it was cut off. */
  isTruncated: boolean;
}

/** The items of a session: their audio in order of arrival, their words, and the names of called tools. */
export class Items {
  private readonly audio = new Map<string, AudioItem>();
  private readonly words = new Map<string, string>();
  private readonly names = new Map<string, string>();
  private count = 0;

  /** A new one is numbered: words may arrive before the audio. */
  of(id: string): AudioItem {
    const known = this.audio.get(id);
    if (known) return known;
    const item = { id, number: ++this.count, contentIndex: 0, receivedMs: 0, isTruncated: false };
    keep(this.audio, id, item);
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

  /** Adds words to those of an item that is not complete. */
  addWords(id: string, text: string): void {
    keep(this.words, id, ((this.words.get(id) ?? '') + text).slice(0, MAX_WORDS));
  }

  /** The words of an item so far, which are forgotten; undefined without any. */
  takeWords(id: string): string | undefined {
    const words = this.words.get(id);
    this.words.delete(id);
    return words;
  }

  name(id: string, name: string): void {
    keep(this.names, id, name);
  }

  /** Of the tool that an item calls. */
  nameOf(id: string): string | undefined {
    return this.names.get(id);
  }
}

function keep<T>(map: Map<string, T>, id: string, value: T): void {
  map.set(id, value);
  if (map.size > MAX_ITEMS) map.delete(map.keys().next().value!);
}
