import {
  type AudioFormat,
  ClippingMeter,
  FRAME_MS,
  LevelMeter,
  type LevelRange,
  NumberRows,
  PlayoutBuffer,
  TELEPHONE_RATE,
} from '../../../audio/index.js';
import { SEND_LIMITS } from '../../other-side/send-limits.js';
import type { HeardAgent, HeardSound } from './agent-turns.js';
import type { AgentLevel, VoiceFacts } from '../facts/facts.js';
import type { Line } from '../facts/line.js';
import type { HeardPiece } from '../facts/heard-piece.js';
import { recordingFormat } from '../facts/recording-format.js';
import { agentSounds, finite } from './agent-sounds.js';
import { HeardSounds } from './heard-sounds.js';
import { playedOfItem } from './item-played.js';
import { PieceCutter } from './piece-cutter.js';

/** Shorter gaps in the playout buffer are omitted. */
const MIN_UNDERRUN_MS = 5;
/** Maximum number of times of clipped audio that are kept. */
const MAX_CLIPPED = 10;
/** Approximate memory of a record of a sound or the end of a turn. */
const NOTE_BYTES = 512;

/**
 * Hears the agent: plays its audio through the buffer of the platform, and finds audible sound with a gate. Times are call time
 * in milliseconds.
 */
export class Ear implements HeardAgent {
  private readonly buffer: PlayoutBuffer;
  private readonly heard: HeardSounds;
  private readonly pieces: PieceCutter | undefined;
  private readonly sent = new LevelMeter();
  private readonly clipping = new ClippingMeter();
  private readonly clippedAtMs: number[] = [];
  /** Rows of [start, end, 1 if between speech]. */
  private readonly underruns = new NumberRows(3);
  /** Pairs of [time of the clear, milliseconds dropped]. */
  private readonly clears = new NumberRows(2);
  /** The latest samples sent to the buffer. */
  private readonly latest: Int16Array;
  /** End of the last audible part in the playout. */
  private audibleUntilMs = 0;
  /** Until when audio in the playout is known to be audible above a bed. */
  private aboveBedUntilMs = 0;
  /** Whether the recording contains exactly the heard samples. */
  private isRecordedExactly: boolean;
  /** Length of the audio that did not fit into the buffer. */
  discardedMs = 0;

  /** @param onPiece receives audio to transcribe */
  constructor(
    private readonly line: Line,
    onPiece?: (piece: HeardPiece) => void,
  ) {
    const { telephone, wide } = SEND_LIMITS.bufferedMs;
    this.buffer = new PlayoutBuffer({ rate: line.rate, maxBufferedMs: line.rate > TELEPHONE_RATE ? wide : telephone });
    this.heard = new HeardSounds(line);
    this.pieces = onPiece && new PieceCutter(line, this.heard, onPiece);
    this.isRecordedExactly = recordingFormat(line.rate).encoding === 'pcm16';
    this.latest = new Int16Array(line.frameSamples);
  }

  /** Approximate memory, in bytes, of what the agent sent. */
  get bytes(): number {
    const notes = NOTE_BYTES * this.heard.notes;
    return this.buffer.bytes + this.underruns.bytes + this.clears.bytes + notes;
  }

  /** Sets the wire's audio format, before any audio. Codes at the line's rate are decoded only when played. */
  set format({ rate, encoding }: AudioFormat) {
    if (rate !== this.line.rate) return;
    this.buffer.keepAs(encoding);
    this.isRecordedExactly ||= recordingFormat(rate).encoding === encoding;
  }

  /** Audio after the end of a line of the caller starts a new arrival. */
  set lineEndMs(ms: number) {
    this.buffer.separate(ms);
  }

  get sounds(): readonly HeardSound[] {
    return this.heard.sounds;
  }

  get isOnsetPending(): boolean {
    return this.heard.isOnsetPending;
  }

  /** @param item ascends in order of generation; given if the platform distinguishes items */
  play(atMs: number, pcm: Int16Array, item?: number): void {
    if (pcm.length === 0) return;
    this.sent.push(pcm);
    const { clipped } = this.clipping;
    this.clipping.push(pcm);
    const fromMs = Math.max(atMs, this.buffer.endMs ?? 0);
    if (this.clipping.clipped > clipped && this.clippedAtMs.length < MAX_CLIPPED) this.clippedAtMs.push(fromMs);
    const { underrun, discardedMs } = this.buffer.play(atMs, pcm, item);
    this.discardedMs += discardedMs;
    if (underrun && underrun.endMs - underrun.startMs >= MIN_UNDERRUN_MS) {
      const isBetweenSpeech =
        this.heard.isActive(this.latest) && this.heard.isActive(pcm.subarray(0, this.line.frameSamples));
      this.underruns.push(underrun.startMs, underrun.endMs, isBetweenSpeech ? 1 : 0);
    }
    this.noteAudible(pcm, (this.buffer.endMs ?? 0) + discardedMs);
    this.keepLatest(pcm);
  }

  /** Drops buffered audio; with an item, only of items up to it. @returns milliseconds dropped */
  clear(atMs: number, upTo?: number): number {
    const droppedMs = this.buffer.clear(atMs, upTo);
    this.clears.push(atMs, droppedMs);
    this.aboveBedUntilMs = 0;
    this.audibleUntilMs = Math.min(this.audibleUntilMs, upTo === undefined ? atMs : (this.buffer.endMs ?? 0));
    return droppedMs;
  }

  /** Milliseconds of an item that were played. */
  heardOfItem(item: number, atMs: number): number {
    return this.buffer.heardOfItem(item, atMs);
  }

  mark(atMs: number, onPlayed: (playedMs: number) => void): void {
    this.buffer.mark(atMs, onPlayed);
  }

  /** Fires the marks that are due. */
  advance(untilMs: number): void {
    this.buffer.advance(untilMs);
  }

  bufferedMs(atMs: number): number {
    return this.buffer.bufferedMs(atMs);
  }

  /** The platform reported that the agent's turn ends with the audio sent so far. */
  turnEnded(atMs: number): void {
    this.heard.turnEnded(Math.max(atMs, this.buffer.endMs ?? 0));
  }

  /** Hears the next frame. @returns its samples */
  hearFrame(): Int16Array {
    const { pcm, isPlayed } = this.buffer.read(this.heard.readUntilMs + FRAME_MS);
    this.heard.push(pcm, isPlayed);
    this.pieces?.push(pcm);
    return pcm;
  }

  /** Audio that was missing when it should have been heard. */
  late(atMs: number, pcm: Int16Array): void {
    this.pieces?.late(atMs, pcm);
  }

  /** Hears a partial frame when the call ends within it. @returns its samples */
  finish(atMs: number): Int16Array {
    const { pcm, isPlayed } = this.buffer.read(Math.max(this.heard.readUntilMs, atMs));
    this.heard.finish(pcm, isPlayed, atMs);
    this.pieces?.push(pcm);
    this.pieces?.finish();
    return pcm;
  }

  hasAudibleLeft(atMs: number): boolean {
    const threshold = this.heard.bedThreshold;
    if (threshold === null) return this.audibleUntilMs > atMs;
    // The bed was found only after part of this audio had been sent.
    if (this.aboveBedUntilMs <= atMs) this.aboveBedUntilMs = this.buffer.firstAbove(atMs, threshold) ?? 0;
    return this.aboveBedUntilMs > atMs;
  }

  get endless(): LevelRange | null {
    return this.heard.endless;
  }

  turnEndPlayedAt(sinceMs: number): number | null {
    return this.heard.turnEndPlayedAt(sinceMs);
  }

  /** @param sinceMs end of the caller's previous line: later audio is the agent's present item */
  playoutAt(atMs: number, sinceMs: number): { bufferedMs: number; heardUntilMs: number } {
    const heardUntilMs = playedOfItem(this.buffer.latestArrivals(), atMs, sinceMs);
    return { bufferedMs: Math.max(0, (this.buffer.endMs ?? 0) - atMs), heardUntilMs };
  }

  /**
   * @param turnAt number of the caller's turn at a given time
   * @param lineEndBefore end of the caller's latest line that began before a given time
   */
  facts(
    turnAt: (atMs: number) => number,
    lineEndBefore: (atMs: number) => number,
  ): Pick<VoiceFacts, 'agent' | 'background' | 'arrivals' | 'clears' | 'underruns' | 'level' | 'hearing'> {
    const { arrivals } = this.buffer;
    const agent = agentSounds(this.heard, { arrivals, turnAt, lineEndBefore });
    const underruns = this.underruns.map((startMs = 0, endMs = 0, isBetween = 0) => ({
      startMs,
      endMs,
      isBetweenSpeech: isBetween === 1,
    }));
    return {
      agent,
      background: this.heard.background,
      arrivals,
      clears: this.clearFacts,
      underruns,
      level: this.level(agent.length > 0),
      ...(this.isRecordedExactly && { hearing: this.heard.fact }),
    };
  }

  /**
   * The facts needed to compute the agent's words since a turn of the caller, with all of their items.
   * @param turnAt and `lineEndBefore` as for `facts`
   */
  factsSince(
    turn: number,
    turnAt: (atMs: number) => number,
    lineEndBefore: (atMs: number) => number,
  ): Pick<VoiceFacts, 'agent' | 'arrivals' | 'clears'> {
    const before = this.heard.sounds.findLast((sound) => !sound.isBackground && turnAt(sound.startMs) < turn);
    const arrivals = this.buffer.arrivalsSince(before?.endMs ?? 0);
    const sinceMs = arrivals[0]?.playedFromMs ?? Infinity;
    const agent = agentSounds(this.heard, { arrivals, turnAt, lineEndBefore, sinceMs });
    return { agent, arrivals, clears: this.clearFacts };
  }

  private get clearFacts(): VoiceFacts['clears'] {
    return this.clears.map((atMs = 0, droppedMs = 0) => ({ atMs, droppedMs }));
  }

  private level(isAudible: boolean): AgentLevel {
    return {
      dbfs: isAudible ? finite(this.heard.activeDbfs) : null,
      sentDbfs: finite(this.sent.dbfs),
      clippedPercent: Math.round(this.clipping.percent * 1_000) / 1_000,
      ...(this.clippedAtMs.length > 0 && { clippedAtMs: this.clippedAtMs }),
      inaudible: !isAudible && this.sent.dbfs !== null,
    };
  }

  /** @param endMs when the last sample will be played */
  private noteAudible(pcm: Int16Array, endMs: number): void {
    for (let end = pcm.length; end > 0; end -= this.line.frameSamples) {
      if (!this.heard.isActive(pcm.subarray(Math.max(0, end - this.line.frameSamples), end))) continue;
      this.audibleUntilMs = Math.max(this.audibleUntilMs, endMs - this.line.msOf(pcm.length - end));
      return;
    }
  }

  private keepLatest(pcm: Int16Array): void {
    const { latest } = this;
    if (pcm.length < latest.length) latest.copyWithin(0, pcm.length);
    const kept = pcm.subarray(Math.max(0, pcm.length - latest.length));
    latest.set(kept, latest.length - kept.length);
  }
}
