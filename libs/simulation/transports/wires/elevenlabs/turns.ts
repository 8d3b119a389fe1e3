import type { SpokenWord } from '../../../voice/facts/facts.js';
import type { Item } from '../../../voice/wire/wire.js';
import type { Alignment } from './messages.js';

/** With nothing left to play for so long, audio and words belong to a new turn of the agent. */
const QUIET_MS = 500;
/** So long after an interruption, audio with its number is of a new answer. */
const CUT_MS = 1_000;
/** Words that come later than this after the end of a turn are not its own, though it has none. */
const LATE_MS = 2_000;

interface Turn {
  readonly item: Item;
  /** Milliseconds of its audio that arrived. */
  sentMs: number;
  /** Words of the whole turn that were not reported: audio decides whether it tells the times of its words. */
  held: string[];
  hasText: boolean;
  isCut: boolean;
  /** Whether all of its audio came with the places of its words. */
  isAligned: boolean;
  /** A word whose end has not been seen. */
  word: SpokenWord | undefined;
}

const turnOf = (item: Item): Turn => ({
  ...{ item, sentMs: 0, held: [], hasText: false, isCut: false, isAligned: true },
  word: undefined,
});

export type Say = (
  now: number,
  text: string,
  of: { item: Item; final: boolean; ahead?: boolean; words?: readonly SpokenWord[] },
) => void;

/**
 * The agent's turns, each an item of the core. The platform numbers pieces of audio, and says of no words to which of them
 * they belong: that follows from the places of characters in the audio, else from the order of what arrives.
 */
export class AgentTurns {
  private turn = turnOf(1);
  /** When nothing is left to play. */
  private endsMs = -Infinity;
  /** The number and time of the interruption, and the number of the last piece of audio. */
  interruptedId = -Infinity;
  private cutAt = -Infinity;
  private lastId = -Infinity;
  private cutItem: Item = 0;

  constructor(private readonly say: Say) {}

  /** Milliseconds of the present turn that arrived. */
  get sentMs(): number {
    return this.turn.sentMs;
  }

  get item(): Item {
    return this.turn.item;
  }

  /** Whether words arrived for which there was no audio. */
  get hasHeldWords(): boolean {
    return this.turn.held.length > 0;
  }

  /**
   * @returns whether audio came too late, which must not be heard. With the number of the interruption it is of the answer that
   * was cut if that had this number before, unless a new answer has begun
   */
  isLate(now: number, eventId: number): boolean {
    if (eventId !== this.interruptedId) return eventId < this.interruptedId;
    return this.turn.isCut && eventId <= this.lastId && now - this.cutAt < CUT_MS;
  }

  /** A piece of audio arrived. @returns its item: that of the turn that was cut, if it is late */
  audio(now: number, eventId: number, ms: number, alignment: Alignment | undefined): Item {
    if (this.isLate(now, eventId)) return this.cutItem;
    this.lastId = eventId;
    const { turn } = this;
    if (turn.isCut || (turn.sentMs > 0 && now - this.endsMs >= QUIET_MS)) this.begin(now);
    if (alignment && this.turn.isAligned) this.align(now, alignment);
    else this.unalign(now);
    this.turn.sentMs += ms;
    this.endsMs = Math.max(this.endsMs, now) + ms;
    return this.turn.item;
  }

  /** Words of the agent: of the turn whose audio began last, or of one whose audio is still to come. */
  text(now: number, text: string): void {
    const { turn } = this;
    const isOver = turn.isCut ? turn.hasText : now - this.endsMs >= (turn.hasText ? QUIET_MS : LATE_MS);
    if (turn.sentMs > 0 && isOver) this.begin(now);
    this.cutAt = -Infinity;
    this.turn.hasText = true;
    this.turn.held.push(text);
    if (!this.turn.isAligned) this.release(now);
  }

  /** The caller interrupted the agent. @returns the item up to which nothing more is heard */
  interrupt(now: number, eventId = -Infinity): Item {
    this.interruptedId = eventId;
    this.cutAt = now;
    this.endsMs = now;
    this.cutItem = this.turn.sentMs > 0 ? this.turn.item : this.turn.item - 1;
    // Of a turn without audio nothing was heard: what follows is the first of it.
    if (this.turn.sentMs === 0) this.turn = turnOf(this.turn.item);
    else this.turn.isCut = true;
    return this.cutItem;
  }

  /** All audio of the turn has arrived: its words are all that it says. */
  complete(now: number): void {
    if (this.turn.hasText && !this.turn.isAligned) this.say(now, '', { item: this.turn.item, final: true });
  }

  /** Time goes on: a word after which nothing came is complete. */
  tick(now: number): void {
    if (this.turn.word && now >= this.endsMs) this.flush(now);
  }

  private begin(now: number): void {
    this.flush(now);
    this.turn = turnOf(this.turn.item + 1);
  }

  private align(now: number, alignment: Alignment): void {
    const { turn } = this;
    const words: SpokenWord[] = [];
    for (const { char, startMs, endMs } of alignment) {
      if (char.trim() === '') {
        if (turn.word) words.push(turn.word);
        turn.word = undefined;
      } else {
        const { text, startMs: from } = turn.word ?? { text: '', startMs: turn.sentMs + startMs };
        turn.word = { text: text + char, startMs: from, endMs: turn.sentMs + endMs };
      }
    }
    this.report(now, words);
  }

  /** The times of words are known in part only: the platform's text counts. */
  private unalign(now: number): void {
    this.turn.isAligned = false;
    this.turn.word = undefined;
    this.release(now);
  }

  private release(now: number): void {
    for (const text of this.turn.held.splice(0))
      this.say(now, text, { item: this.turn.item, final: true, ahead: true });
  }

  private flush(now: number): void {
    if (this.turn.word) this.report(now, [this.turn.word]);
    this.turn.word = undefined;
  }

  private report(now: number, words: readonly SpokenWord[]): void {
    if (words.length === 0) return;
    const text = words.map((word) => word.text).join(' ');
    this.say(now, text, { item: this.turn.item, final: false, words });
  }
}
