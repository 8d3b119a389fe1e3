import {
  type Background,
  BedGate,
  FRAME_MS,
  type GateEvent,
  type LevelRange,
  type ReachedLevel,
} from '../../../audio/index.js';
import type { HeardSound } from './agent-turns.js';
import type { HearingFact, Span } from '../facts/facts.js';
import type { Line } from '../facts/line.js';
import { SoundEnds } from './sound-ends.js';

export interface Sound extends HeardSound {
  readonly breaksOff: boolean;
  /** Level of its active frames. */
  readonly dbfs: number;
  /** Levels that it reached, from its onset on, and until its end, backwards. */
  readonly rises: readonly ReachedLevel[];
  readonly falls: readonly ReachedLevel[];
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The sounds of the agent that a gate finds in what is played of it. Times are call time in milliseconds. */
export class HeardSounds {
  readonly sounds: Writable<Sound>[] = [];
  private readonly gate: BedGate;
  private readonly ends: SoundEnds;
  private readonly turnEnds: HearingFact['turnEnds'][number][] = [];
  private frames = 0;

  constructor(private readonly line: Line) {
    this.gate = new BedGate(line.rate);
    this.ends = new SoundEnds(line);
  }

  /** Number of its notes on what it was given. */
  get notes(): number {
    return this.sounds.length + this.turnEnds.length;
  }

  get isOnsetPending(): boolean {
    return this.gate.isOnsetPending;
  }

  get endless(): LevelRange | null {
    return this.gate.endless;
  }

  /** Mean square of samples above a bed; null without one. */
  get bedThreshold(): number | null {
    return this.gate.bedThreshold;
  }

  get background(): Background | null {
    return this.gate.background;
  }

  /** The part of a sound that is certainly the agent's voice: all without background audio that comes and goes; null for none. */
  certainPartOf({ rises, falls, startMs, endMs }: Sound): Span | null {
    const { background, certainDbfs } = this.gate;
    if (!background?.isUneven || certainDbfs === null) return { startMs, endMs };
    const isCertain = ({ dbfs }: ReachedLevel) => dbfs > certainDbfs;
    const [first, last] = [rises.find(isCertain), falls.find(isCertain)];
    return first && last ? { startMs: Math.max(startMs, first.atMs), endMs: Math.min(endMs, last.atMs) } : null;
  }

  get activeDbfs(): number | null {
    return this.gate.activeDbfs;
  }

  /** End of what was heard so far, without a last part of a frame. */
  get readUntilMs(): number {
    return this.frames * FRAME_MS;
  }

  /** What `hearAgain` needs beside the audio. */
  get fact(): HearingFact {
    return { frames: this.frames, turnEnds: this.turnEnds };
  }

  isActive(pcm: Int16Array): boolean {
    return this.gate.isActive(pcm);
  }

  /** The agent said that its turn ends with the sound that is played until then. */
  turnEnded(playedAtMs: number): void {
    this.turnEnds.push({ afterFrames: this.frames, playedAtMs });
  }

  /** When all the sound before the agent's latest end of a turn was played; null without such an event since `sinceMs`. */
  turnEndPlayedAt(sinceMs: number): number | null {
    return this.turnEnds.find(({ playedAtMs }) => playedAtMs > sinceMs)?.playedAtMs ?? null;
  }

  /** Hears a frame. @param isPlayed whether all of it was sent by the agent */
  push(pcm: Int16Array, isPlayed: boolean): void {
    this.frames++;
    if (this.hasPlayedTurnEnd()) this.gate.turnEnded();
    this.ends.push(pcm);
    this.take(this.gate.push(pcm, isPlayed));
  }

  /** The call ends, with a last part of a frame or with a whole one. @param isPlayed as for `push` */
  finish(rest: Int16Array, isPlayed: boolean, atMs: number): void {
    const { frameSamples } = this.line;
    if (rest.length > 0) {
      const frame = new Int16Array(frameSamples);
      frame.set(rest.subarray(0, frameSamples));
      this.take(this.gate.push(frame, isPlayed && rest.length === frameSamples));
    }
    this.take(this.gate.finish());
    for (const sound of this.sounds) sound.endMs = Math.min(sound.endMs, atMs);
  }

  /** Whether the agent's turn was said to end in the frame that is heard next, or has ended since its sound began. */
  private hasPlayedTurnEnd(): boolean {
    const sound = this.sounds.at(-1);
    const last = this.turnEnds.at(-1);
    return (
      last !== undefined &&
      sound?.isOpen === true &&
      last.playedAtMs > sound.startMs &&
      last.playedAtMs <= this.readUntilMs
    );
  }

  private take(event: GateEvent | null): void {
    if (event?.type === 'onset') {
      const { atMs } = event;
      const sound = {
        startMs: atMs,
        endMs: atMs,
        isOpen: true,
        isBackground: false,
        breaksOff: false,
        dbfs: 0,
        rises: [],
        falls: [],
      };
      this.sounds.push(sound);
    }
    const last = this.sounds.at(-1);
    if (!last?.isOpen) return;
    if (event?.type !== 'end') {
      last.endMs = this.gate.activeUntilMs ?? last.endMs;
      return;
    }
    last.isOpen = false;
    // Background noise before the sound was part of it until now.
    last.startMs = event.onsetMs;
    last.endMs = event.atMs;
    last.dbfs = event.dbfs;
    Object.assign(last, this.gate.reached(event));
    last.isBackground = event.atMs <= event.onsetMs;
    last.breaksOff = this.ends.breaksOff(event.atMs, event.dbfs);
  }
}
