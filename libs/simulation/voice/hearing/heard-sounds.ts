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
  /** Levels that it reached, forwards from its onset and backwards from its end. */
  readonly rises: readonly ReachedLevel[];
  readonly falls: readonly ReachedLevel[];
  /** Until then its beginning is too even for speech. */
  readonly evenUntilMs: number;
  /** Level of the agent's voice when the sound ended; null while it continues, or without a voice. */
  readonly softest: BedGate['softestDbfs'];
  /** Level of what was heard after its decay; null until it is known, and if the next sound began too soon. */
  readonly afterDbfs: number | null;
}

/** Speech is not this long below its softest parts, or far below them (docs/decisions/0121). */
const QUIET_MS = { near: 660, far: 360 } as const;
/** In sounds that begin this early, the voice may be louder than it was heard before. */
const EARLY_MS = 30_000;

/** A sound that is known to be a tone or not, and the end of the tone. */
const [LONG_MS, DECAY_MS] = [1_500, 200];

/** What follows a sound may be the same voice, more quietly: if it is not far below it, and louder than what follows another sound. */
const AFTER = { fromMs: 400, toMs: 1_400, belowVoiceDb: 10, aboveOtherDb: 1 } as const;

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The sounds that a gate finds in the played audio of the agent. Times are call time in milliseconds. */
export class HeardSounds {
  readonly sounds: Writable<Sound>[] = [];
  private readonly gate: BedGate;
  private readonly ends: SoundEnds;
  private readonly turnEnds: HearingFact['turnEnds'][number][] = [];
  private frames = 0;
  /** The latest sound that has ended, until it is known what followed it. */
  private ended: Writable<Sound> | undefined;

  constructor(private readonly line: Line) {
    this.gate = new BedGate(line.rate);
    this.ends = new SoundEnds(line);
  }

  /** Number of records kept. */
  get notes(): number {
    return this.sounds.length + this.turnEnds.length;
  }

  get isOnsetPending(): boolean {
    return this.gate.isOnsetPending;
  }

  get endless(): LevelRange | null {
    return this.gate.endless;
  }

  /** Threshold above the bed as mean square of samples; null without a bed. */
  get bedThreshold(): number | null {
    return this.gate.bedThreshold;
  }

  get background(): Background | null {
    return this.gate.background;
  }

  /**
   * The agent's voice in a sound. Quiet audio before the first voice, or for long at the beginning or end of a sound, is
   * uncertain: it may be soft speech or unknown background audio. Audio far below the first voice and before it is left out. A
   * tone, such as a thinking sound, is also uncertain, unless the agent speaks in tones.
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

  /** Whether the agent's voice may go on after a sound, more quietly. What comes and goes differs after each of them. */
  mayGoOn({ afterDbfs }: Sound): boolean {
    const { certainDbfs, background } = this.gate;
    if (afterDbfs === null || certainDbfs === null || afterDbfs < certainDbfs - AFTER.belowVoiceDb) return false;
    const others = this.sounds.flatMap((sound) => sound.afterDbfs ?? []);
    return background?.isUneven || others.length === 1 || Math.min(...others) <= afterDbfs - AFTER.aboveOtherDb;
  }

  get activeDbfs(): number | null {
    return this.gate.activeDbfs;
  }

  /** End of the whole frames heard so far. */
  get readUntilMs(): number {
    return this.frames * FRAME_MS;
  }

  /** Facts that `hearAgain` needs beside the audio. */
  get fact(): HearingFact {
    return { frames: this.frames, turnEnds: this.turnEnds };
  }

  isActive(pcm: Int16Array): boolean {
    return this.gate.isActive(pcm);
  }

  /** The platform reported that the agent's turn ends with the audio played until then. */
  turnEnded(playedAtMs: number): void {
    this.turnEnds.push({ afterFrames: this.frames, playedAtMs });
  }

  /** When all audio before the agent's latest end of turn was played; null without an end of turn since `sinceMs`. */
  turnEndPlayedAt(sinceMs: number): number | null {
    return this.turnEnds.find(({ playedAtMs }) => playedAtMs > sinceMs)?.playedAtMs ?? null;
  }

  /** Hears a frame. @param isPlayed whether all of it was sent by the agent */
  push(pcm: Int16Array, isPlayed: boolean): void {
    this.frames++;
    if (this.hasPlayedTurnEnd()) this.gate.turnEnded();
    this.ends.push(pcm);
    this.take(this.gate.push(pcm, isPlayed));
    const isKnown = this.ended && !this.sounds.at(-1)!.isOpen && this.readUntilMs - this.ended.endMs > AFTER.toMs;
    if (isKnown) this.noteAfter(this.readUntilMs);
  }

  /** @param untilMs beginning of the next sound */
  private noteAfter(untilMs: number): void {
    const { ended } = this;
    this.ended = undefined;
    if (!ended) return;
    ended.afterDbfs = this.gate.loudestDbfs(ended.endMs + AFTER.fromMs, Math.min(untilMs, ended.endMs + AFTER.toMs));
  }

  /** Hears the last frame of the call, whole or partial. @param isPlayed as for `push` */
  finish(rest: Int16Array, isPlayed: boolean, atMs: number): void {
    const { frameSamples } = this.line;
    if (rest.length > 0) {
      const frame = new Int16Array(frameSamples);
      frame.set(rest.subarray(0, frameSamples));
      this.take(this.gate.push(frame, isPlayed && rest.length === frameSamples));
    }
    this.take(this.gate.finish());
    this.noteAfter(this.readUntilMs);
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
        afterDbfs: null,
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
    // Until now, background noise before the sound counted as part of it.
    last.startMs = event.onsetMs;
    last.endMs = event.atMs;
    last.dbfs = event.dbfs;
    Object.assign(last, this.gate.reached(event));
    last.softest = this.gate.softestDbfs;
    last.isBackground = event.atMs <= event.onsetMs;
    last.breaksOff = this.ends.breaksOff(event.atMs, event.dbfs);
    if (last.isBackground) return;
    this.noteAfter(last.startMs);
    this.ended = last;
  }
}

const isTone = ({ evenUntilMs, startMs, endMs }: Sound): boolean => evenUntilMs > Math.max(startMs, endMs - DECAY_MS);

/** From the first to the last time at which a sound reaches a level; null if it never does. */
function partAbove({ rises, falls, startMs, endMs }: Sound, dbfs: number): Span | null {
  const isAbove = (reached: ReachedLevel) => reached.dbfs > dbfs;
  const [first, last] = [rises.find(isAbove), falls.find(isAbove)];
  return first && last ? { startMs: Math.max(startMs, first.atMs), endMs: Math.min(endMs, last.atMs) } : null;
}
