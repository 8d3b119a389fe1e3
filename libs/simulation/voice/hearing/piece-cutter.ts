import { piecesOf } from '../../../speech/index.js';
import type { Span } from '../facts/facts.js';
import type { Line } from '../facts/line.js';
import type { HeardPiece } from '../facts/heard-piece.js';
import { WORD_MS } from '../words/recognised-words.js';
import type { HeardAgent } from './agent-turns.js';

/** Silence after which a piece is complete. */
const SILENCE_MS = 300;
/** Maximum length of a piece; longer speech is cut. */
const MAX_MS = 25_000;
const MARGIN_MS = 200;
/** A sound is noticed within this time; earlier audio is dropped. */
const ONSET_MS = 1_000;

/** Cuts the audio of the agent into pieces for a recogniser during the call, and never passes audio without voice. */
export class PieceCutter {
  /** Audio from `keptFromMs` on. */
  private frames: Int16Array[] = [];
  private keptFromMs = 0;
  private untilMs = 0;
  /** Index of the first sound that is in no piece yet. */
  private next = 0;
  /** Until when a continuing sound is part of a piece. */
  private cutMs = 0;

  constructor(
    private readonly line: Line,
    private readonly heard: Pick<HeardAgent, 'sounds' | 'isOnsetPending'>,
    private readonly onPiece: (piece: HeardPiece) => void,
  ) {}

  /** Takes the next audio at the rate of the line, after the gate. */
  push(pcm: Int16Array): void {
    this.frames.push(pcm);
    this.untilMs += this.line.msOf(pcm.length);
    const open = this.heard.sounds.slice(this.next);
    const last = open.at(-1);
    if (last?.isOpen) this.cutLong();
    else if (last && this.untilMs >= last.endMs + SILENCE_MS && !this.heard.isOnsetPending) this.finish();
    this.forget();
  }

  /** Puts audio in the place where it was missing, unless that is in no piece any more. */
  late(atMs: number, pcm: Int16Array): void {
    let start = -this.line.samplesOf(atMs - this.keptFromMs);
    this.frames = this.frames.map((frame) => {
      const from = start;
      start += frame.length;
      return start > 0 && from < pcm.length ? frame.map((sample, n) => pcm[from + n] ?? sample) : frame;
    });
  }

  /** All sounds have ended. */
  finish(): void {
    const voices = this.voices();
    this.next = this.heard.sounds.length;
    this.pass(this.cut(voices));
  }

  /** Cuts speech that is too long, and keeps its last part. */
  private cutLong(): void {
    const voices = this.voices();
    if (this.untilMs - (voices[0]?.startMs ?? Infinity) <= MAX_MS) return;
    const pieces = this.cut([...voices.slice(0, -1), { ...voices.at(-1)!, endMs: this.untilMs }]);
    const rest = pieces.pop()!;
    this.next = this.heard.sounds.length - 1;
    this.cutMs = rest.voice.startMs;
    this.pass(pieces);
  }

  private voices(): Span[] {
    return this.heard.sounds
      .slice(this.next)
      .filter(({ isBackground, endMs }) => !isBackground && endMs > this.cutMs)
      .map(({ startMs, endMs }) => ({ startMs: Math.max(startMs, this.cutMs, this.keptFromMs), endMs }));
  }

  private cut(voices: readonly Span[]): HeardPiece[] {
    if (voices.length === 0) return [];
    const { line, keptFromMs } = this;
    const pcm = joined(this.frames);
    const shift = ({ startMs, endMs }: Span, ms: number) => ({ startMs: startMs + ms, endMs: endMs + ms });
    return piecesOf(
      pcm,
      line.rate,
      voices.map((voice) => shift(voice, -keptFromMs)),
    ).map(({ voice, ...span }) => ({
      pcm: pcm.slice(line.samplesOf(span.startMs), line.samplesOf(span.endMs)),
      rate: line.rate,
      ...shift(span, keptFromMs),
      voice: shift(voice, keptFromMs),
    }));
  }

  private pass(pieces: readonly HeardPiece[]): void {
    for (const piece of pieces) if (piece.voice.endMs - piece.voice.startMs >= WORD_MS) this.onPiece(piece);
  }

  private forget(): void {
    const first = this.heard.sounds[this.next];
    const neededMs = first ? Math.max(first.startMs, this.cutMs) - MARGIN_MS : this.untilMs - ONSET_MS;
    while (this.frames[0] && this.keptFromMs + this.line.msOf(this.frames[0].length) <= neededMs) {
      this.keptFromMs += this.line.msOf(this.frames.shift()!.length);
    }
  }
}

function joined(parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
