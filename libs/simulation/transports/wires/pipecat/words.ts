import type { Item, WireSide } from '../../../voice/wire/wire.js';
import type { RtviMessage } from './messages.js';

/** With nothing left to play for so long, audio begins a new item, unless the bot says when it speaks. */
const QUIET_MS = 1_000;
const MAX_SEGMENTS = 10_000;
/** Time of a character of a word that is reported when it is spoken. */
const CHARACTER_MS = 60;

type Said = NonNullable<Parameters<WireSide['said']>[2]>;
type Output = Extract<RtviMessage, { type: 'output' }>;

/**
 * What the bot says, in items: one for each time that it speaks. Words are those of `bot-output`, else of `bot-transcription`.
 * How much of a segment was heard follows from its audio, which comes earlier than it is played.
 */
export class BotWords {
  private item: Item = 1;
  /** When its first audio arrived, and when nothing of it is left to play. */
  private beganAt: number | undefined;
  private endsMs = -Infinity;
  private isOver = false;
  private saysTurns = false;
  private hasOutput = false;
  /** Whether the present item has words without places. */
  private hasWords = false;
  private readonly segments = new Set<unknown>();
  /** Sentences of the model, until the bot has spoken: `bot-output` may still come. */
  private held: string[] = [];

  constructor(private readonly say: (now: number, text: string, of: Said) => void) {}

  /** @returns the item of audio */
  audio(now: number, ms: number): Item {
    if (this.isOver || (!this.saysTurns && this.beganAt !== undefined && now - this.endsMs >= QUIET_MS)) this.next(now);
    this.beganAt ??= now;
    this.endsMs = Math.max(this.endsMs, now) + ms;
    return this.item;
  }

  turnBegins(now: number): void {
    if (this.isOver) this.next(now);
    this.saysTurns = true;
  }

  /** All audio of the turn was sent: its words, unless they have places in it, are all that it says. */
  turnEnds(now: number): void {
    if (this.isOver) return;
    this.turnOver(now);
    if (this.hasWords) this.say(now, '', { item: this.item, final: true });
  }

  /** Nothing of the turn follows: it has ended, or was interrupted. */
  turnOver(now: number): void {
    this.release(now);
    this.isOver = this.beganAt !== undefined;
    this.endsMs = now;
  }

  output(now: number, { text, segment, isWord }: Output): void {
    this.hasOutput = true;
    // Each report of its progress, and a second observer in the bot, repeat a segment.
    if (segment !== undefined && this.segments.has(segment)) return;
    if (segment !== undefined && this.segments.size < MAX_SEGMENTS) this.segments.add(segment);
    const startMs = Math.max(0, now - (this.beganAt ?? now));
    const words = [{ text, startMs, endMs: startMs + CHARACTER_MS * text.length }];
    this.report(now, text, isWord ? { words } : { ahead: true }, 'bot-output');
  }

  transcription(text: string): void {
    if (!this.hasOutput && text !== this.held.at(-1) && this.held.length < MAX_SEGMENTS) this.held.push(text);
  }

  private release(now: number): void {
    const held = this.hasOutput ? [] : this.held;
    this.held = [];
    for (const text of held) this.report(now, text, { ahead: true }, 'bot-transcription');
  }

  private next(now: number): void {
    // What came after the end of a turn is of the next one.
    if (!this.isOver) this.release(now);
    this.item += 1;
    this.beganAt = undefined;
    this.isOver = this.hasWords = false;
  }

  private report(now: number, text: string, of: Said, by: string): void {
    if (text.trim() === '') return;
    this.hasWords ||= !of.words;
    this.say(now, text.trim(), { item: this.item, final: true, by, ...of });
  }
}
