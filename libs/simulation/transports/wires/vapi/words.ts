import type { SpokenWord } from '../../../voice/facts/facts.js';
import type { Item } from '../../../voice/wire/wire.js';
import type { SpokenMessage } from './messages.js';

/** A peak below it is silence: -44 dBFS. */
const LOUD = 200;
/** Silence that follows a sound for longer belongs to no item, since words are not spread over it. */
const TRAIL_MS = 300;
/** Silence after which the agent's next sound is a new turn: if the caller was heard in between, and in any case. */
const PAUSE_MS = { afterCaller: 500, alone: 2_000 };
/** Speech has about this many characters in a second: before, the agent has more to say of its turn. */
const CHARACTERS_PER_SECOND = 14;
/** Words of the model are reported at this interval; with nothing new for this long the last one is complete. */
const WORDS_MS = 200;

/** Letters and digits by which the end of a transcript is recognised. */
const LAST_WORDS = 12;

/** The messages of the accounts. */
const MESSAGES = { spoken: 'assistant.speechStarted', model: 'model-output', transcript: 'transcript' } as const;
type Source = keyof typeof MESSAGES;

interface Turn {
  readonly item: Item;
  /** The first of the platform's accounts that has words of the turn, in order of preference where both have them. */
  source: Source | undefined;
  /** The platform's own names of the turn. */
  turnId: string | undefined;
  number: number | undefined;
  /** Characters that were reported, and milliseconds of sound that arrived. */
  characters: number;
  loudMs: number;
  isCut: boolean;
  /** Whether its last words were heard. */
  isDone: boolean;
  /** Words of the model whose last one may not be complete. */
  rest: string;
  /** What was reported of the text of the turn as it is played: words, and the text itself, also as it is generated. */
  count: number;
  text: string;
  /** Where the present piece of audio begins in the item, and where its last word ends. */
  pieceMs: number;
  wordMs: number;
}

const turnOf = (item: Item): Turn => ({
  ...{
    item,
    source: undefined,
    turnId: undefined,
    number: undefined,
    characters: 0,
    loudMs: 0,
    isCut: false,
    isDone: false,
  },
  ...{ rest: '', count: 0, text: '', pieceMs: 0, wordMs: Infinity },
});

interface SaidOf {
  readonly item: Item;
  readonly final: true;
  readonly ahead?: true;
  readonly words?: readonly SpokenWord[];
  readonly by?: string;
}

/** What becomes of the words. */
export interface Reports {
  readonly said: (now: number, text: string, of: SaidOf) => void;
  /** Milliseconds of an item that were played. */
  readonly playedMs: (item: Item, now: number) => number;
}

/**
 * The agent's turns, each an item of the core, with the words of the best account of it: as played (`assistant.speechStarted`),
 * else as generated (`model-output`), else as transcribed (`transcript`). The platform says of no audio to which turn it
 * belongs: a turn begins when audio is heard after silence, or with words of another turn while nothing is heard.
 */
export class AgentWords {
  private turn = turnOf(1);
  /** When the audio that arrived, and the last sound in it, will have been played. */
  private endsMs = -Infinity;
  private loudEndMs = -Infinity;
  private callerMs = -Infinity;
  private modelAt = -Infinity;
  private releasedAt = -Infinity;
  private isPlayedReported = false;
  hasWords = false;

  constructor(
    private readonly reports: Reports,
    private readonly rate: number,
  ) {}

  /** Audio of the caller. */
  caller(now: number, pcm: Int16Array): void {
    if (isLoud(pcm)) this.callerMs = now;
  }

  /** Audio of the agent arrived. @returns its item; undefined for silence between turns */
  audio(now: number, pcm: Int16Array): Item | undefined {
    const [fromMs, ms] = [Math.max(now, this.endsMs), (pcm.length * 1_000) / this.rate];
    this.endsMs = fromMs + ms;
    const isTrail = !this.turn.isDone && this.endsMs - this.loudEndMs <= TRAIL_MS;
    if (!isLoud(pcm)) return isTrail ? this.turn.item : undefined;
    if (this.isNewAt(fromMs)) this.begin(now);
    this.loudEndMs = this.endsMs;
    this.turn.isDone = false;
    this.turn.loudMs += ms;
    return this.turn.item;
  }

  /** Words as they are played. After an interruption no further ones come. */
  spoken(now: number, { turn: number, text, count, words }: SpokenMessage): void {
    this.isPlayedReported = true;
    if (number !== this.turn.number) {
      this.beginIfOver(now);
      Object.assign(this.turn, { number, count: 0, text: '' });
    }
    if (!this.takes('spoken')) return;
    const { turn } = this;
    if (words) return this.placed(now, words);
    const all = text.trim();
    if (count === undefined) {
      // The whole text, which may grow from message to message.
      const news = all.startsWith(turn.text) ? all.slice(turn.text.length) : turn.text.startsWith(all) ? '' : all;
      turn.text = all;
      return this.say(now, news, { ahead: true });
    }
    const heard = all.split(/\s+/).slice(turn.count, count);
    turn.count += heard.length;
    this.say(now, heard.join(' '));
  }

  /** A part of what the model generates, ahead of its audio. */
  model(now: number, turnId: string, text: string): void {
    if (turnId === this.turn.turnId && this.turn.isCut) return;
    if (turnId !== this.turn.turnId) this.beginIfOver(now);
    this.turn.turnId = turnId;
    if (this.isPlayedReported || !this.takes('model')) return;
    this.modelAt = now;
    this.turn.rest += text;
    this.turn.text += text;
  }

  /** What the platform understood of its own agent, after it was heard. */
  transcript(now: number, text: string): void {
    if (this.takes('transcript')) return this.say(now, text);
    const last = plain(text).slice(-LAST_WORDS);
    if (last === '' || !plain(this.turn.text).endsWith(last)) return;
    // It has heard the last words: nothing of the turn follows.
    this.complete(now);
    this.turn.isDone = true;
    this.reports.said(now, '', { item: this.turn.item, final: true });
  }

  /** The caller interrupted the agent: nothing of the turn follows. */
  interrupt(now: number): void {
    this.complete(now);
    this.turn.isCut = true;
    this.endsMs = this.loudEndMs = now;
  }

  /** Nothing of the turn follows. */
  complete(now: number): void {
    this.release(now, this.turn.rest.length);
  }

  tick(now: number): void {
    const { rest } = this.turn;
    if (rest === '' || now - this.releasedAt < WORDS_MS) return;
    this.releasedAt = now;
    this.release(now, now - this.modelAt >= WORDS_MS ? rest.length : rest.search(/\S*$/));
  }

  /** Words of another turn begin it, unless they come while the one before is still heard. */
  private beginIfOver(now: number): void {
    const { loudMs, isCut } = this.turn;
    const isQuiet = now - this.loudEndMs >= PAUSE_MS.afterCaller || this.callerMs > this.loudEndMs;
    if (isCut || (loudMs > 0 && isQuiet)) this.begin(now);
  }

  private isNewAt(fromMs: number): boolean {
    const { loudMs, characters, rest, isCut } = this.turn;
    if (isCut) return true;
    const hasMoreToSay = (characters + rest.length) * 1_000 > loudMs * CHARACTERS_PER_SECOND;
    const pauseMs = this.callerMs > this.loudEndMs ? PAUSE_MS.afterCaller : PAUSE_MS.alone;
    return loudMs > 0 && !hasMoreToSay && fromMs - this.loudEndMs >= pauseMs;
  }

  private begin(now: number): void {
    this.complete(now);
    this.turn = turnOf(this.turn.item + 1);
  }

  private takes(source: Source): boolean {
    this.turn.source ??= source;
    return this.turn.source === source;
  }

  /** Its places are relative to a piece of audio, which begins where the item is now if they do not go on. */
  private placed(now: number, words: readonly SpokenWord[]): void {
    const { turn, reports } = this;
    const [first, last] = [words[0], words.at(-1)];
    if (!first || !last) return;
    if (first.startMs < turn.wordMs) turn.pieceMs = reports.playedMs(turn.item, now) - first.startMs;
    turn.wordMs = last.endMs;
    const at = (ms: number) => Math.max(0, turn.pieceMs + ms);
    const places = words.map(({ text, startMs, endMs }) => ({ text, startMs: at(startMs), endMs: at(endMs) }));
    this.say(now, words.map(({ text }) => text).join(' '), { words: places });
  }

  private release(now: number, length: number): void {
    const { turn } = this;
    const text = turn.rest.slice(0, length);
    turn.rest = turn.rest.slice(length);
    this.say(now, text, { ahead: true });
  }

  private say(now: number, text: string, of: Pick<SaidOf, 'ahead' | 'words'> = {}): void {
    const words = text.trim();
    if (words === '') return;
    this.hasWords = true;
    this.turn.characters += words.length + 1;
    const { item, source } = this.turn;
    this.reports.said(now, words, { item, final: true, ...of, ...(source && { by: MESSAGES[source] }) });
  }
}

const plain = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

const isLoud = (pcm: Int16Array): boolean => pcm.some((sample) => Math.abs(sample) > LOUD);
