import { canBeSaidIn, FASTEST_SPEECH } from '../../../../audio/index.js';
import type { SpokenWord } from '../../../voice/facts/facts.js';
import type { Item } from '../../../voice/wire/wire.js';
import type { SpokenMessage } from './messages.js';

/** A peak below it is silence: -44 dBFS. */
const LOUD = 200;
/** Silence that follows a sound for longer belongs to no item, since words are not spread over it. */
const TRAIL_MS = 300;
/** Silence after which the agent's next sound is a new turn: if the caller was heard in between, and in any case. */
const PAUSE_MS = { afterCaller: 500, alone: 2_000 };
/** Ordinary speech has more, so that words of a turn with fewer may still come. Slow speech, `slowestSpeechMs`, may have fewer. */
const ORDINARY_CHARACTERS_PER_SECOND = 10;
/** Words of the model are reported at this interval; with nothing new for this long the last one is complete. */
const WORDS_MS = 200;

/** Letters and digits by which the end of a transcript is recognised, and the characters in which they are looked for. */
const LAST_WORDS = 12;
const END_OF_TURN = 200;

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
  /** Characters that were reported before they were said, and milliseconds of sound that arrived. */
  characters: number;
  loudMs: number;
  isCut: boolean;
  /** Whether its last words were heard. */
  isDone: boolean;
  /** Words of the model, and how many characters of them the last one has, which may not be complete. */
  rest: string;
  restWord: number;
  /** What was reported of the text of the turn as it is played: words, and the text itself; of generated text its end. */
  count: number;
  text: string;
  transcribed: string;
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
  ...{ rest: '', restWord: 0, count: 0, text: '', transcribed: '', pieceMs: 0, wordMs: Infinity },
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
  private previous = turnOf(0);
  /** When the audio that arrived, and the last sound in it, will have been played. */
  private endsMs = -Infinity;
  private loudEndMs = -Infinity;
  private callerMs = -Infinity;
  private isCallerReported = false;
  private modelAt = -Infinity;
  private releasedAt = -Infinity;
  private isPlayedReported = false;
  hasWords = false;

  constructor(
    private readonly reports: Reports,
    private readonly rate: number,
  ) {}

  /** Audio of the caller. Where the platform reports the caller's speech, noise behind it does not count. */
  caller(now: number, pcm: Int16Array): void {
    if (!this.isCallerReported && isLoud(pcm)) this.callerMs = now;
  }

  /** The platform reports that the caller began or ceased to speak. */
  callerSpoke(now: number): void {
    this.callerMs = now;
    this.isCallerReported = true;
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
    const all = text.trim();
    const isOther = number !== this.turn.number;
    // Words that count as played are those of the sound before, if it has none.
    if (isOther && (count === undefined || (count !== null && this.turn.source))) this.beginIfOver(now);
    const isOtherText = this.turn.source === undefined && !all.startsWith(this.turn.text);
    if (isOther || isOtherText) Object.assign(this.turn, { number, count: 0, text: '' });
    if (count === null) return;
    this.isPlayedReported = true;
    if (!this.takes('spoken')) return;
    const { turn } = this;
    if (words) return this.placed(now, words);
    if (count === undefined) {
      // The whole text, which may grow from message to message.
      const news = all.startsWith(turn.text) ? all.slice(turn.text.length) : turn.text.startsWith(all) ? '' : all;
      turn.text = all;
      return this.say(now, news, { ahead: true });
    }
    const heard = all.split(/\s+/).slice(turn.count, count);
    turn.count += heard.length;
    turn.text = all;
    this.say(now, heard.join(' '));
  }

  /** A part of what the model generates, ahead of its audio. */
  model(now: number, turnId: string, text: string): void {
    if (turnId === this.turn.turnId && this.turn.isCut) return;
    if (turnId !== this.turn.turnId) this.beginIfOver(now);
    this.turn.turnId = turnId;
    if (this.isPlayedReported || !this.takes('model')) return;
    this.modelAt = now;
    // Never searched as a whole: it may be long, and its end is looked for many times a second.
    const word = text.split(/\s/).at(-1)!.length;
    this.turn.restWord = word < text.length ? word : this.turn.restWord + word;
    this.turn.rest += text;
    this.turn.text = (this.turn.text + text).slice(-END_OF_TURN);
  }

  /** What the platform understood of its own agent, after it was heard. */
  transcript(now: number, text: string): void {
    const last = plain(text).slice(-LAST_WORDS);
    const isEndOf = ({ text: known }: Turn) => last !== '' && plain(known.slice(-END_OF_TURN)).endsWith(last);
    const isOfTurn = isEndOf(this.turn);
    const { previous } = this;
    // A long pause divided the turn before: its words are known, and this is not a repetition of them.
    if (!this.turn.source && previous.source && !previous.isDone && isEndOf(previous)) {
      previous.isDone = true;
      return;
    }
    const isLate = !isOfTurn && this.isOfPrevious(now, text);
    if (isLate || this.takes('transcript')) {
      const turn = isLate ? this.previous : this.turn;
      Object.assign(turn, { source: 'transcript', transcribed: `${turn.transcribed} ${text}` });
      return this.say(now, text, {}, turn);
    }
    if (!isOfTurn) return;
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
    const { rest, restWord } = this.turn;
    if (rest === '' || now - this.releasedAt < WORDS_MS) return;
    this.releasedAt = now;
    this.release(now, now - this.modelAt >= WORDS_MS ? rest.length : rest.length - restWord);
  }

  /** Words of another turn begin it, unless they come while the one before is still heard. */
  private beginIfOver(now: number): void {
    const { loudMs, isCut } = this.turn;
    const isQuiet = now - this.loudEndMs >= PAUSE_MS.afterCaller || this.callerMs > this.loudEndMs;
    if (isCut || (loudMs > 0 && isQuiet)) this.begin(now);
  }

  /** Whether a transcript is late: of the turn before, which lacks words, and too long for what was heard of this one. */
  private isOfPrevious(now: number, text: string): boolean {
    const { item, source = 'transcript', transcribed } = this.previous;
    const ms = this.reports.playedMs(item, now);
    const lacksWords = source === 'transcript' && transcribed.length * 1_000 < ms * ORDINARY_CHARACTERS_PER_SECOND;
    const isShort = !canBeSaidIn(text, this.reports.playedMs(this.turn.item, now));
    return lacksWords && isShort && canBeSaidIn(`${transcribed} ${text}`, ms);
  }

  private isNewAt(fromMs: number): boolean {
    const { loudMs, characters, rest, isCut } = this.turn;
    if (isCut) return true;
    // So much cannot have been said yet, however fast the agent speaks.
    const hasMoreToSay = (characters + rest.length) * 1_000 > loudMs * FASTEST_SPEECH.lettersPerSecond;
    const pauseMs = this.callerMs > this.loudEndMs ? PAUSE_MS.afterCaller : PAUSE_MS.alone;
    return loudMs > 0 && !hasMoreToSay && fromMs - this.loudEndMs >= pauseMs;
  }

  private begin(now: number): void {
    this.complete(now);
    const { item, number, count, text } = this.turn;
    this.previous = this.turn;
    // The platform's turn may have pauses: its next report repeats what was said of it before.
    this.turn = { ...turnOf(item + 1), ...(number !== undefined && { number, count, text }) };
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
    turn.restWord = turn.rest.length;
    this.say(now, text, { ahead: true });
  }

  private say(now: number, text: string, of: Pick<SaidOf, 'ahead' | 'words'> = {}, turn = this.turn): void {
    const words = text.trim();
    if (words === '') return;
    this.hasWords = true;
    if (of.ahead) turn.characters += words.length + 1;
    const { item, source } = turn;
    this.reports.said(now, words, { item, final: true, ...of, ...(source && { by: MESSAGES[source] }) });
  }
}

const plain = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

const isLoud = (pcm: Int16Array): boolean => pcm.some((sample) => Math.abs(sample) > LOUD);
