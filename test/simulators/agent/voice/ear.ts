import { FRAME_MS, FRAME_SAMPLES } from './frames.js';
import { type GatedFrame, SpeechGate } from './gate.js';

/** What a sound of the caller was recognised as. */
export type Heard =
  | {
      readonly type: 'line';
      readonly text: string;
      /** False while only its beginning was heard. */
      readonly isComplete: boolean;
    }
  /** A cough, a door or a backchannel. */
  | { readonly type: 'sound'; readonly name: string }
  | { readonly type: 'unknown' };

export interface Recogniser {
  /**
   * @param pcm speech of the caller, with pauses shortened
   * @param noise audio of the line without the caller
   */
  recognise(pcm: Int16Array, noise: Int16Array): Heard;
}

/** Milliseconds of silence that end a segment of speech. */
const SEGMENT_END_MS = 200;
/** Silence without audible noise, by which the end of a sound is known to the sample. */
const QUIET_MS = 100;
/** No line has a longer pause, unless its caller hesitates. */
const LINE_END_MS = 600;
/** Kept of the audio before and after a segment, so that weak consonants are not lost. */
const MARGIN_FRAMES = 3;
/** A segment starts when 3 of the last 4 frames are active. */
const ONSET_FRAMES = 4;
const ONSET_ACTIVE = 3;
/** Frames of the line's noise that are kept. */
const NOISE_FRAMES = 25;
/** What is shorter and not recognised is noise. */
const SHORTEST_SPEECH_MS = 500;

interface Segment {
  readonly frames: Int16Array[];
  activeMs: number;
  isClosed: boolean;
}

/** Speech of the caller since the agent last took the turn. */
export interface Utterance {
  /** When it ended for the gate, which decides about turns: it takes quiet last sounds for noise. */
  readonly endMs: number;
  /** When its last sample above -45 dBFS arrived, if the silence after it is quiet; otherwise `endMs`. */
  readonly lastSampleMs: number;
  /** Active milliseconds, and those of its last segment of uninterrupted speech. */
  readonly activeMs: number;
  readonly segmentActiveMs: number;
}

/** Cuts the caller's audio into utterances and recognises them. It keeps no clock: frames come in at their own times. */
export class Ear {
  private readonly gate = new SpeechGate();
  private readonly recent: { readonly frame: Int16Array; readonly isActive: boolean }[] = [];
  private readonly noise: Int16Array[] = [];
  private segments: Segment[] = [];
  private lastSoundAt = -Infinity;
  private endMs = 0;
  private lastSampleMs = -Infinity;
  /** Of the quiet frames up to now. */
  private quietMs = 0;
  private isIgnoring = false;
  private recognised: { readonly frames: number; readonly heard: Heard } | undefined;

  constructor(private readonly recogniser: Recogniser) {}

  get utterance(): Utterance | undefined {
    const last = this.segments[this.segments.length - 1];
    if (!last) return undefined;
    const activeMs = this.segments.reduce((sum, segment) => sum + segment.activeMs, 0);
    const lastSampleMs = this.quietMs >= QUIET_MS ? this.lastSampleMs : this.endMs;
    return { endMs: this.endMs, lastSampleMs, activeMs, segmentActiveMs: last.activeMs };
  }

  /** Takes the frame that ended at `now`. */
  hear(now: number, frame: Int16Array): void {
    const gated = this.gate.pass(frame);
    const { isActive, audibleMs } = gated;
    this.recent.push({ frame, isActive });
    if (this.recent.length > ONSET_FRAMES + MARGIN_FRAMES) this.recent.shift();
    if (isActive || audibleMs > 0) this.lastSoundAt = now;
    else if (this.segments.every(({ isClosed }) => isClosed)) this.learn(frame);
    const silentMs = now - this.lastSoundAt;
    if (this.isIgnoring) {
      this.isIgnoring = silentMs < LINE_END_MS;
      return;
    }
    const isSilent = silentMs >= SEGMENT_END_MS;
    const open = this.segments.find(({ isClosed }) => !isClosed);
    if (open) this.extend(open, now, frame, gated, isSilent);
    else if (this.isOnset()) this.open(now, audibleMs);
    this.date(now, gated);
  }

  /** Forgets the utterance. @param ignoresRest whether the rest of the caller's line is ignored as well */
  drop(ignoresRest = false): void {
    this.segments = [];
    this.recognised = undefined;
    this.isIgnoring = ignoresRest;
  }

  /** Recognises the utterance so far. */
  recognise(): Heard {
    const frames = this.segments.flatMap((segment) => segment.frames);
    if (this.recognised?.frames !== frames.length) {
      this.recognised = { frames: frames.length, heard: this.recogniser.recognise(join(frames), join(this.noise)) };
    }
    return this.recognised.heard;
  }

  private learn(frame: Int16Array): void {
    this.noise.push(frame);
    if (this.noise.length > NOISE_FRAMES) this.noise.shift();
  }

  private isOnset(): boolean {
    return this.recent.slice(-ONSET_FRAMES).filter(({ isActive }) => isActive).length >= ONSET_ACTIVE;
  }

  /** A sound that is too quiet for the gate, such as an "s", still belongs to what it follows. */
  private date(now: number, { sampleMs, isQuiet }: GatedFrame): void {
    this.quietMs = isQuiet ? this.quietMs + FRAME_MS : 0;
    const follows = this.segments.some(({ isClosed }) => !isClosed) || now - this.lastSampleMs <= SEGMENT_END_MS;
    if (sampleMs > 0 && follows) this.lastSampleMs = now - FRAME_MS + sampleMs;
  }

  private open(now: number, audibleMs: number): void {
    const activeMs = this.recent.filter(({ isActive }) => isActive).length * FRAME_MS;
    this.segments.push({ frames: this.recent.map(({ frame }) => frame), activeMs, isClosed: false });
    this.endMs = now - FRAME_MS + audibleMs;
  }

  private extend(segment: Segment, now: number, frame: Int16Array, gated: GatedFrame, isSilent: boolean): void {
    const { isActive, audibleMs } = gated;
    segment.frames.push(frame);
    if (audibleMs > 0) this.endMs = now - FRAME_MS + audibleMs;
    if (isActive) segment.activeMs += FRAME_MS;
    if (isSilent) this.close(segment);
  }

  private close(segment: Segment): void {
    segment.isClosed = true;
    segment.frames.length -= SEGMENT_END_MS / FRAME_MS - MARGIN_FRAMES;
    // The last word of a line is not a line of its own, so it is recognised together with the words before it.
    if (this.recognise().type === 'line') return;
    const heard = this.recogniser.recognise(join(segment.frames), join(this.noise));
    const isNoise = heard.type === 'sound' || (heard.type === 'unknown' && segment.activeMs < SHORTEST_SPEECH_MS);
    if (!isNoise) return;
    this.segments = this.segments.filter((other) => other !== segment);
    this.recognised = undefined;
  }
}

function join(frames: readonly Int16Array[]): Int16Array {
  const pcm = new Int16Array(frames.length * FRAME_SAMPLES);
  frames.forEach((frame, index) => pcm.set(frame, index * FRAME_SAMPLES));
  return pcm;
}
