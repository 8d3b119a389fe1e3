import type { Item } from '../../../voice/wire/wire.js';

/** Older items are forgotten: their audio was played long ago. */
const MAX_ITEMS = 1_000;
const MAX_WORDS = 64 * 1024;

/** A message of the agent whose audio has begun to arrive. */
export interface AudioItem {
  readonly id: string;
  readonly number: Item;
  readonly contentIndex: number;
  /** Milliseconds of its audio that arrived. */
  receivedMs: number;
}

/** The items of a session: their audio in order of arrival, their words, and the names of called tools. */
export class Items {
  private readonly audio = new Map<string, AudioItem>();
  private readonly words = new Map<string, string>();
  private readonly names = new Map<string, string>();
  private count = 0;

  /** The item of a piece of audio; a new one is numbered. */
  of(id: string, contentIndex: number): AudioItem {
    const known = this.audio.get(id);
    if (known) return known;
    const item = { id, number: ++this.count, contentIndex, receivedMs: 0 };
    keep(this.audio, id, item);
    return item;
  }

  numberOf(id: string): Item | undefined {
    return this.audio.get(id)?.number;
  }

  /** The latest one. */
  get last(): AudioItem | undefined {
    return [...this.audio.values()].at(-1);
  }

  get all(): readonly AudioItem[] {
    return [...this.audio.values()];
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
