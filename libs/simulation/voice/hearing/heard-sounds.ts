import {
  type Background,
  BedGate,
  FRAME_MS,
  type GateEvent,
  type LevelRange,
  partitionPoint,
  type ReachedLevel,
} from '../../../audio/index.js';
import type { HeardSound } from './agent-turns.js';
import type { AgentSound, HearingFact, Span } from '../facts/facts.js';
import type { Line } from '../facts/line.js';
import { SoundEnds } from './sound-ends.js';

export interface Sound extends HeardSound {
  readonly breaksOff: boolean;
  /** Level of its active frames. */
  readonly dbfs: number;
  /** Levels that it reached, from its onset on, and until its end, backwards. */
  readonly rises: readonly ReachedLevel[];
  readonly falls: readonly ReachedLevel[];
  /** Its beginning is too even for speech until then. */
  readonly evenUntilMs: number;
  /** Of the agent's voice when the sound ended; null while it goes on, or without a voice. */
  readonly softest: BedGate['softestDbfs'];
}

/** Speech is not so quiet for so long: below its softest parts, and far below them (docs/decisions/0121). */
const QUIET_MS = { near: 660, far: 360 } as const;
/** The voice in sounds that begin so early may be louder than what was heard of it by then. */
const EARLY_MS = 30_000;

/** A sound of which it is known whether it is a tone, and the end of a tone. */
const [LONG_MS, DECAY_MS] = [1_500, 200];

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

  /**
   * The agent's voice in a sound. Quiet audio before its first voice, or long at the beginning or end of a sound, may be soft
   * speech or background audio that was not found: it is not certain, and before the first voice what is far below it is left
   * out. Nor is a tone certain, such as a thinking sound, of an agent that does not speak in tones.
   * @returns null for background audio before the first voice
   */
  voiceIn(sound: Sound): Pick<AgentSound, 'startMs' | 'endMs' | 'certain'> | null {
    const { startMs, endMs } = sound;
    const { softest } =
      this.sounds[partitionPoint(this.sounds, (one) => one.startMs <= Math.max(startMs, EARLY_MS)) - 1]!;
    if (!softest) return { startMs, endMs };
    const [near, far] = [partAbove(sound, softest.near), partAbove(sound, softest.far)];
    const isFirst =
      startMs < EARLY_MS && this.sounds.every((one) => one.startMs >= startMs || !partAbove(one, softest.near));
    if (!far && isFirst) return null;
    const { background, certainDbfs } = this.gate;
    if (background?.isUneven && certainDbfs !== null) return { startMs, endMs, certain: partAbove(sound, certainDbfs) };
    const isEven = isTone(sound) && this.sounds.some((one) => one.endMs - one.startMs > LONG_MS && !isTone(one));
    if (!near || !far || isEven) return { startMs, endMs, ...((isFirst || isEven) && { certain: null }) };
    const certain = isTone(sound)
      ? near
      : { ...near, startMs: Math.max(near.startMs, Math.min(near.endMs, sound.evenUntilMs)) };
    const isLong = (part: Span, ms: number) => Math.max(part.startMs - startMs, endMs - part.endMs) >= ms;
    const isQuiet = isLong(far, QUIET_MS.far) || isLong(certain, QUIET_MS.near);
    const isLate = isFirst && far.startMs - startMs >= QUIET_MS.far;
    return { startMs: isLate ? far.startMs : startMs, endMs, ...(isQuiet && { certain }) };
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

  /** Whether the platform reported the end of turn for the next frame, or since this sound began. */
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
        evenUntilMs: atMs,
        softest: null,
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
    last.softest = this.gate.softestDbfs;
    last.isBackground = event.atMs <= event.onsetMs;
    last.breaksOff = this.ends.breaksOff(event.atMs, event.dbfs);
  }
}

const isTone = ({ evenUntilMs, startMs, endMs }: Sound): boolean => evenUntilMs > Math.max(startMs, endMs - DECAY_MS);

/** From when a sound first reaches a level until it last does; null if it does not. */
function partAbove({ rises, falls, startMs, endMs }: Sound, dbfs: number): Span | null {
  const isAbove = (reached: ReachedLevel) => reached.dbfs > dbfs;
  const [first, last] = [rises.find(isAbove), falls.find(isAbove)];
  return first && last ? { startMs: Math.max(startMs, first.atMs), endMs: Math.min(endMs, last.atMs) } : null;
}
