import { partitionPoint } from '../../../audio/index.js';
import type { Arrival, Span, VoiceFacts } from '../facts/facts.js';

/** Audio that never waits longer than this in the playout buffer is sent at the pace at which it is heard. */
const PACED_AHEAD_MS = 500;

/** What the words of the agent are computed from. During a call, `end` is the present moment. */
export interface WordFacts extends Pick<VoiceFacts, 'said' | 'arrivals' | 'clears' | 'recognised'> {
  readonly end: { readonly atMs: number };
}

/** What was sent of one item of the agent's audio, and what was played of it. Times in milliseconds of the call. */
export class ItemAudio {
  private readonly parts: readonly Arrival[];
  private readonly endMs: number;
  /** Where each part ends, in milliseconds of what was sent. */
  private readonly ends: readonly number[];
  /** From its first to its last sample that was played; undefined if none was. */
  readonly played: Span | undefined;

  /** @param parts of one item, in order; at least one */
  constructor(
    parts: readonly Arrival[],
    private readonly facts: WordFacts,
  ) {
    this.parts = parts;
    this.endMs = facts.end.atMs;
    let sent = 0;
    this.ends = parts.map((part) => (sent += sentOf(part)));
    const played = parts.filter((part) => this.playedOf(part) > 0);
    const [first, last] = [played[0], played.at(-1)];
    this.played = first && last && { startMs: first.playedFromMs, endMs: this.playedToOf(last) };
  }

  get playedMs(): number {
    return this.parts.reduce((sum, part) => sum + this.playedOf(part), 0);
  }

  /** Length of what was sent until a moment, played or not. */
  sentMs(untilMs = Infinity): number {
    return this.parts.reduce((sum, part) => sum + (part.arrivedMs <= untilMs ? sentOf(part) : 0), 0);
  }

  /** When the last of it arrived that arrived by then. */
  lastArrivedMs(untilMs = Infinity): number {
    return this.parts.findLast(({ arrivedMs }) => arrivedMs <= untilMs)?.arrivedMs ?? -Infinity;
  }

  /** Whether a part of it was dropped before it was played. */
  get isDropped(): boolean {
    return this.parts.some(({ isCut }) => isCut);
  }

  /** When playing stopped before all of it was played; undefined if all was played. */
  get cutMs(): number | undefined {
    const isUnfinished = this.parts.at(-1)!.playedToMs > this.endMs;
    if (!this.isDropped && !isUnfinished) return undefined;
    const stoppedMs = this.played?.endMs ?? this.parts[0]!.playedFromMs;
    const { clears } = this.facts;
    const clear = clears[partitionPoint(clears, ({ atMs }) => atMs < stoppedMs - 1)];
    return this.isDropped ? Math.min(clear?.atMs ?? stoppedMs, this.endMs) : this.endMs;
  }

  /** Whether it was sent no faster than it was played, so that how much was sent says nothing about its words. */
  get isPaced(): boolean {
    return this.parts.every((part) => part.playedFromMs + sentOf(part) - part.arrivedMs < PACED_AHEAD_MS);
  }

  /** When a position, in milliseconds of what was sent, was played; where sound stopped if it was not. */
  at(positionMs: number): { readonly ms: number; readonly isPlayed: boolean } {
    const index = partitionPoint(this.ends, (end) => end <= positionMs);
    const part = this.parts[index];
    const stoppedMs = this.played?.endMs ?? Infinity;
    if (!part) return { ms: Math.min(stoppedMs, this.playedToOf(this.parts.at(-1)!)), isPlayed: false };
    const [into, played] = [positionMs - (this.ends[index - 1] ?? 0), this.playedOf(part)];
    return { ms: Math.min(stoppedMs, part.playedFromMs + Math.min(into, played)), isPlayed: into < played };
  }

  private playedToOf({ playedFromMs, playedToMs }: Arrival): number {
    return Math.max(playedFromMs, Math.min(playedToMs, this.endMs));
  }

  private playedOf(part: Arrival): number {
    return this.playedToOf(part) - part.playedFromMs;
  }
}

const sentOf = ({ playedFromMs, playedToMs, sentMs = playedToMs - playedFromMs }: Arrival): number => sentMs;
