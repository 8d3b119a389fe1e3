import type { SpokenAnswer, ToolRequest } from './spoken-dialogue.js';

/** The agent's side of a telephone line: what it sends. */
export interface AgentLine {
  /** Bytes for the playout buffer of the platform, which plays 8 of them in a millisecond. */
  media(bytes: Uint8Array): void;
  mark(name: string): void;
  clear(): void;
  hangUp(): void;
  /** An answer begins, before its first audio. */
  answer?(answer: SpokenAnswer, bytes: number): void;
  /** The agent waits for the results of tools that the other side runs. */
  callTools?(calls: readonly ToolRequest[]): void;
  /** The caller has begun to speak. */
  callerStarts?(): void;
  /** The agent answers what it heard. */
  callerEnds?(heard: string): void;
}

/** How quickly audio is sent: a chunk at a time, at most `leadMs` before it is played. */
export interface Pacing {
  readonly chunkBytes: number;
  readonly leadMs: number;
  /** Least time between two chunks. */
  readonly everyMs: number;
}

const BYTES_PER_MS = 8;

/** Faster than it is played, as speech engines do: a barge-in then meets a full playout buffer. */
export const STEADY: Pacing = { chunkBytes: 100 * BYTES_PER_MS, leadMs: 3_000, everyMs: 0 };
/** 160 ms of audio every 220 ms: the playout runs empty for 60 ms between two chunks. */
export const CHOPPY: Pacing = { chunkBytes: 160 * BYTES_PER_MS, leadMs: 0, everyMs: 220 };

/** In real time, but at 16 kHz: twice the bytes that the line plays in that time. */
export const DOUBLE: Pacing = { chunkBytes: 40 * BYTES_PER_MS, leadMs: Infinity, everyMs: 20 };

/** Sends the agent's audio and keeps track of what the platform still has to play. */
export class Mouth {
  private bytes: Uint8Array = new Uint8Array(0);
  private position = 0;
  private mark: string | undefined;
  private startedAt = 0;
  private playedUntil = -Infinity;
  private nextChunkAt = -Infinity;

  constructor(
    private readonly line: AgentLine,
    private readonly pacing: Pacing,
  ) {}

  /** Starts to send the audio of one answer, followed by a mark. */
  say(now: number, bytes: Uint8Array, mark: string): void {
    this.bytes = bytes;
    this.position = 0;
    this.mark = mark;
    this.startedAt = now;
    this.nextChunkAt = now;
    this.tick(now);
  }

  tick(now: number): void {
    const { chunkBytes, leadMs, everyMs } = this.pacing;
    while (this.position < this.bytes.length && this.playedUntil <= now + leadMs && this.nextChunkAt <= now) {
      const chunk = this.bytes.subarray(this.position, this.position + chunkBytes);
      this.position += chunk.length;
      this.playedUntil = Math.max(this.playedUntil, now) + chunk.length / BYTES_PER_MS;
      this.nextChunkAt += everyMs;
      this.line.media(chunk);
      if (this.position === this.bytes.length && this.mark !== undefined) this.line.mark(this.mark);
    }
  }

  /** The platform reports that everything before this mark was played or cleared. */
  onMark(now: number, name: string): void {
    if (name === this.mark && this.position === this.bytes.length) this.playedUntil = Math.min(this.playedUntil, now);
  }

  /** Drops what was not sent yet; with `clears` also what the platform has not played yet. */
  stop(now: number, clears: boolean): void {
    this.position = this.bytes.length;
    this.mark = undefined;
    if (!clears) return;
    this.line.clear();
    this.playedUntil = Math.min(this.playedUntil, now);
  }

  /** Whether the platform is playing, or audio is left to be sent. */
  isSpeaking(now: number): boolean {
    return this.position < this.bytes.length || this.playedUntil > now;
  }

  /** Whether at least half of the present answer was played. */
  isHalfway(now: number): boolean {
    return now - this.startedAt >= this.bytes.length / BYTES_PER_MS / 2;
  }
}
