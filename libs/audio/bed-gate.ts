import { BackgroundPeaks } from './background-peaks.js';
import { EnergyGate, energyOf, type GateEvent } from './energy-gate.js';
import { amplitudeOf, dbfsOfMeanSquare } from './level.js';
import { dbfsOfSteps, LevelHistory, STEPS_PER_DB, stepsOf } from './level-history.js';
import { MIN_THRESHOLD_DBFS } from './noise-floor.js';
import { FRAME_MS } from './rates.js';

const framesOf = (ms: number): number => ms / FRAME_MS;
const dB = (value: number): number => value * STEPS_PER_DB;

// Source of the numbers: docs/decisions/0121-beds-under-the-voice-of-an-agent.md
/** Within a line, speech stays this far below its level for at most 460 ms, or twice that at half its rate. */
const BELOW_SPEECH = dB(8);
const DROP = framesOf(1_000);
/** After the platform reported the end of the agent's turn. */
const DROP_AFTER_TURN_END = framesOf(200);
/** A shorter sound that is quieter than speech is a drum or a key stroke. */
const BLIP = { frames: framesOf(100), belowSpeech: dB(3) } as const;
/** The speech ends where its level begins to drop. */
const DECAY = framesOf(200);
/** Audio below speech for this long at the beginning or end of a sound is the bed. */
const EDGE = framesOf(660);
const EDGE_DECAY = framesOf(100);
/** An edge that varies by more is not a bed: it may be speech that begins or ends softly. */
const EVEN_EDGE = dB(8);
/** A new sound this far below speech is background. */
const FAR_BELOW_SPEECH = dB(20);
const ABOVE_BED = dB(2);
const FRAMES_TO_OPEN = 3;
/** How long the level falls to that of the bed within the first syllables. */
const GAP = framesOf(200);
/** How much of the bed the level is learnt from, and how often. */
const LEARNT = framesOf(5_000);
const RELEARN = framesOf(200);
/** The bed is forgotten after this long without audible sound. */
const FORGET = framesOf(2_000);
/** A first sound that varies by less is not speech. */
const NEVER_SPOKEN = { frames: framesOf(8_000), spread: dB(12) } as const;
/** Audio that varies by less for this long is not speech. */
const EVEN = { frames: framesOf(1_000), spread: dB(3) } as const;
/** Clean speech varies by at least as much. */
const ENDLESS = { frames: framesOf(30_000), spread: dB(21) } as const;

/** How much of the beginning and end of speech a close bed hides (median). */
const CLOSE = dB(20);
const HIDDEN = { onset: framesOf(20), end: framesOf(40) } as const;

/** Audio that varies by more comes and goes. */
const UNEVEN = dB(26);

/** Louder noise is a fault of the agent, such as audio in another encoding. */
const LOUDEST_BED = stepsOf(-24);

const SILENT = stepsOf(MIN_THRESHOLD_DBFS);

/** Background audio under a voice. Times are in milliseconds of audio. */
export interface Background {
  /** Median level. For audio that is silent most of the time, the level of its loudest parts. */
  readonly dbfs: number;
  readonly fromMs: number;
  /** Whether it comes and goes, such as other voices or a keyboard: that is harder to tell from the agent's voice. */
  readonly isUneven: boolean;
}

/** Levels that 5 and 95 percent of a sound do not exceed, in dBFS. */
export interface LevelRange {
  readonly low: number;
  readonly high: number;
}

type GateEnd = Extract<GateEvent, { readonly type: 'end' }>;

/**
 * Finds the sounds of a voice, also above a bed: background audio such as music, an office or other voices. It acts only while
 * the energy gate is open; a sound that the gate closes by itself, and that does not begin or end with a bed, is the gate's.
 */
export class BedGate {
  private readonly gate: EnergyGate;
  private readonly levels = new LevelHistory();
  /** Level that nearly all of the bed stays below; null while no bed is known. */
  private bed: number | null = null;
  private found: Background | null = null;
  /** Loudest level of the beds. */
  private loudestBed = 0;
  private isSounding = false;
  private hasSounded = false;
  /** No bed was known when the sound began, so it may begin with one. */
  private beganUnknown = false;
  private onsetMs = 0;
  private onset = 0;
  /** Loudest level of the sound. */
  private peak = 0;
  /** Frames since the level last reached that of speech; between two sounds, since the end of the first. */
  private below = 0;
  /** Consecutive frames above the level that keeps a sound going or, between two sounds, begins one. */
  private above = 0;
  private silent = 0;
  private readonly peaks = new BackgroundPeaks();
  private drop = DROP;
  /** Sum and count of the mean squares of all active frames. */
  private energy = 0;
  private frames = 0;

  /** @param rate one of `LINE_RATES` @throws RangeError for another rate */
  constructor(rate: number) {
    this.gate = new EnergyGate(rate);
  }

  /**
   * @param frame 20 ms; may be reused afterwards
   * @param wasPlayed false if any of it is silence because nothing was buffered
   * @returns the event that the frame completes
   */
  push(frame: Int16Array, wasPlayed: boolean): GateEvent | null {
    const event = this.gate.push(frame, wasPlayed);
    this.levels.push(this.gate.latestEnergy, this.gate.isOpen && (this.isSounding || this.bed === null));
    this.silent = this.latest > SILENT ? 0 : this.silent + 1;
    const sincePeak = this.peaks.push(this.gate);
    if (sincePeak !== null) {
      const peak = this.now - sincePeak;
      this.found ??= { dbfs: dbfsOfSteps(this.levels.levelAt(peak - 1)), fromMs: peak * FRAME_MS, isUneven: true };
    }
    if (this.silent >= FORGET && !this.isSounding) this.bed = null;
    if (event?.type === 'end') return this.isSounding ? this.closed(event) : null;
    if (event && this.bed === null) return this.begin(event.atMs, this.now - FRAMES_TO_OPEN, true);
    if (!this.gate.isOpen) return null;
    return this.isSounding ? this.whileSounding() : this.whileBetween();
  }

  /** Ends an open sound at the end of the call. */
  finish(): GateEvent | null {
    const event = this.gate.finish();
    return event?.type === 'end' && this.isSounding ? this.closed(event) : null;
  }

  /**
   * The levels that a sound of the last minute reached, forwards from its onset and backwards from its end. Also the time in
   * milliseconds until which its beginning is too even for speech; that is its onset if it is not.
   */
  reached({ onsetMs, atMs }: GateEnd) {
    const [first, last] = [Math.floor(onsetMs / FRAME_MS), Math.ceil(atMs / FRAME_MS)];
    const even = this.levels.evenUntil(first + FRAMES_TO_OPEN, last, EVEN.spread);
    const isEven = even - first >= EVEN.frames && this.levels.levelAt(even - 1) <= LOUDEST_BED;
    const evenUntilMs = isEven ? even * FRAME_MS : onsetMs;
    return { rises: this.levels.reached(first, last), falls: this.levels.reached(last, first), evenUntilMs };
  }

  /** The platform reported that the agent's turn ends with the audio pushed so far. */
  turnEnded(): void {
    if (this.drop === DROP_AFTER_TURN_END) return;
    this.drop = DROP_AFTER_TURN_END;
    // The quiet end of the turn is speech.
    this.below = 0;
  }

  /** The bed that was heard; null without one. */
  get background(): Background | null {
    return this.found;
  }

  /** Whether there were active frames, but still too few for an onset. */
  get isOnsetPending(): boolean {
    return this.bed === null ? this.gate.isOnsetPending : !this.isSounding && this.above > 0;
  }

  /** End of the active sound so far; null without one. */
  get activeUntilMs(): number | null {
    if (!this.isSounding) return null;
    return this.bed === null ? this.gate.activeUntilMs : (this.now - this.below) * FRAME_MS;
  }

  /** Level of all active frames of ended sounds; null before the first one. */
  get activeDbfs(): number | null {
    return this.frames === 0 ? null : dbfsOfMeanSquare(this.energy / this.frames);
  }

  /** Level above which sound is the agent's voice: no background audio reaches it for long. Null without a voice. */
  get certainDbfs(): number | null {
    const { speechLevel } = this.levels;
    return speechLevel === null ? null : dbfsOfSteps(speechLevel - BLIP.belowSpeech);
  }

  /** Level that speech exceeds except in its softest parts, and that exceeds every bed. Null without a voice. */
  get softestDbfs(): { readonly near: number; readonly far: number } | null {
    const { speechLevel } = this.levels;
    if (speechLevel === null) return null;
    const near = Math.max(speechLevel - BELOW_SPEECH, this.loudestBed + ABOVE_BED);
    return { near: dbfsOfSteps(near), far: dbfsOfSteps(speechLevel - FAR_BELOW_SPEECH) };
  }

  /** The level that audio of the last minute does not exceed for nearly all of its time; null for less than 400 ms of it. */
  loudestDbfs(fromMs: number, toMs: number): number | null {
    const [from, to] = [Math.ceil(framesOf(fromMs)), Math.floor(framesOf(toMs))];
    if (from < this.levels.oldest || to - from < framesOf(400)) return null;
    return dbfsOfSteps(this.levels.percentiles(from, to, 95)[0]!);
  }

  /** The level above which sound is active beside the bed, as a mean square; null without a bed. */
  get bedThreshold(): number | null {
    return this.bed === null ? null : amplitudeOf(dbfsOfSteps(this.onsetLevel(this.bed))) ** 2;
  }

  /** Whether audio would be active at present, regardless of its length. */
  isActive(pcm: Int16Array): boolean {
    const threshold = this.bedThreshold;
    return threshold === null ? this.gate.isActive(pcm) : pcm.length > 0 && energyOf(pcm) > threshold;
  }

  /** The levels of the last 30 s, if they were one sound that never fell to a bed and varies less than speech; else null. */
  get endless(): LevelRange | null {
    if (!this.isSounding || this.now - this.onset < ENDLESS.frames) return null;
    const [low, high] = this.levels.percentiles(this.now - ENDLESS.frames, this.now, 5, 95) as [number, number];
    if (high - low >= ENDLESS.spread || low > LOUDEST_BED || (this.bed !== null && low <= this.bed + ABOVE_BED))
      return null;
    return { low: dbfsOfSteps(low), high: dbfsOfSteps(high) };
  }

  private get now(): number {
    return this.levels.length;
  }

  private get latest(): number {
    return this.levels.levelAt(this.now - 1);
  }

  /** Level above which speech begins: above the bed, and not far below the agent's other speech. */
  private onsetLevel(bed: number): number {
    return Math.max(bed + ABOVE_BED, (this.levels.speechLevel ?? 0) - BELOW_SPEECH, SILENT);
  }

  private begin(atMs: number, frame: number, beganUnknown: boolean): GateEvent {
    this.isSounding = true;
    this.onsetMs = atMs;
    this.onset = frame;
    this.beganUnknown = beganUnknown;
    this.peak = this.below = this.above = 0;
    this.drop = DROP;
    return { type: 'onset', atMs };
  }

  private whileSounding(): GateEvent | null {
    const { latest } = this;
    const speech = this.levels.speechLevel ?? 0;
    this.peak = Math.max(this.peak, latest);
    const isVoice = this.peak > speech - BELOW_SPEECH;
    const bedLevel = this.bed === null ? 0 : this.bed + ABOVE_BED;
    const level = Math.max(bedLevel, speech - (isVoice ? BELOW_SPEECH : FAR_BELOW_SPEECH));
    this.above = latest > level ? this.above + 1 : 0;
    const isSpeech = this.above > BLIP.frames || latest > Math.max(bedLevel, speech - BLIP.belowSpeech);
    this.below = isSpeech ? 0 : this.below + 1;
    if (this.below >= this.drop && this.above === 0 && !this.endsInSilence) return this.dropped();
    return this.isNeverSpoken() ? this.takenBack() : null;
  }

  private whileBetween(): GateEvent | null {
    this.below++;
    this.above = this.latest > this.onsetLevel(this.bed!) ? this.above + 1 : 0;
    if (this.above >= FRAMES_TO_OPEN) {
      const frame = this.firstFrame(this.now - this.above, this.now - this.below, this.bed! + ABOVE_BED);
      return this.begin(frame * FRAME_MS, frame, false);
    }
    // A shorter span than the one that ends a sound may consist mostly of the beginning of the next sound.
    if (this.below >= DROP && this.below % RELEARN === 0 && this.above === 0) {
      this.learn(this.now - Math.min(this.below, LEARNT), this.now, 95, this.found !== null || this.silent === 0);
    }
    return null;
  }

  /** In that case the gate closes by itself, and there is no bed to learn. */
  private get endsInSilence(): boolean {
    return this.drop === DROP_AFTER_TURN_END && this.silent > 0;
  }

  /** Only the bed is left. */
  private dropped(): GateEvent {
    this.learn(this.now - this.below + Math.min(DECAY, this.below - DROP_AFTER_TURN_END / 2), this.now);
    return this.endByBed();
  }

  /** The gate has closed by itself. */
  private closed(event: GateEnd): GateEvent {
    const edge = event.isSteady ? { from: this.now - framesOf(1_000), to: this.now } : this.edge(event.atMs / FRAME_MS);
    if (edge) this.learn(edge.from, edge.to);
    if (this.bed !== null) return this.endByBed();
    this.count(event.energy, event.frames);
    this.isSounding = false;
    this.hasSounded = true;
    return event;
  }

  /** Frames of the sound, or of its even beginning or end, that are too quiet for too long to be speech. */
  private edge(end: number): { readonly from: number; readonly to: number } | null {
    const speech = this.levels.speechLevel;
    if (speech === null || this.bed !== null) return null;
    if (this.peak <= speech - FAR_BELOW_SPEECH) return { from: this.onset, to: Math.floor(end) };
    if (this.peak <= speech - BELOW_SPEECH) return null;
    const [level, to] = [speech - BELOW_SPEECH, Math.floor(end)];
    const first = this.levels.firstAbove(this.onset, to, level, BLIP.frames + 1);
    const edges = [{ from: this.onset, to: first - EDGE_DECAY }];
    if (first - this.onset < EDGE || !this.levels.isSparse(this.onset, first, level)) edges.pop();
    const last = this.levels.lastAbove(first, to, level, BLIP.frames + 1);
    if (to - last >= EDGE && this.levels.isSparse(last, to, level)) edges.push({ from: last + EDGE_DECAY, to });
    return edges.find((edge) => this.isEven(edge)) ?? null;
  }

  /** Skips the first frames: a level is the mean of three frames. */
  private isEven({ from, to }: { readonly from: number; readonly to: number }): boolean {
    const [low, high] = this.levels.percentiles(from + FRAMES_TO_OPEN, to, 5, 95) as [number, number];
    return high - low <= EVEN_EDGE;
  }

  private isNeverSpoken(): boolean {
    const { frames, spread } = NEVER_SPOKEN;
    const lasted = this.now - this.onset;
    if (this.hasSounded || this.bed !== null || lasted < frames || lasted % RELEARN !== 0) return false;
    const [low, high] = this.levels.percentiles(this.now - frames, this.now, 5, 95) as [number, number];
    return high - low < spread && high <= LOUDEST_BED;
  }

  private takenBack(): GateEvent {
    this.learn(this.onset, this.now, 99);
    return this.ended(this.now, this.now);
  }

  /** @param isHeard false if it may be only the audio that remains after the voice has ended */
  private learn(from: number, to: number, percent = 95, isHeard = true): void {
    const [low, median, high] = this.levels.percentiles(from, to, 5, 50, percent) as [number, number, number];
    const fromMs = this.found?.fromMs ?? Math.max(from, this.levels.oldest) * FRAME_MS;
    const isUneven = (this.found?.isUneven ?? false) || high - low > UNEVEN;
    this.bed = high;
    this.loudestBed = Math.max(this.loudestBed, high);
    // Key strokes are audible for less than half of the time.
    if (isHeard && (this.found !== null || high > SILENT))
      this.found = { dbfs: dbfsOfSteps(median > SILENT ? median : high), fromMs, isUneven };
  }

  private get isClose(): boolean {
    return (this.levels.speechLevel ?? 0) - (this.bed ?? 0) < CLOSE;
  }

  /** Ends the sound, and dates its onset and its end by the level of the bed. */
  private endByBed(): GateEvent {
    const level = this.bed! + ABOVE_BED;
    const begins = Math.max(this.onset, this.levels.oldest);
    let first = begins;
    if (this.beganUnknown) {
      const loud = this.onsetLevel(this.bed!);
      first = this.levels.firstAbove(begins, this.now, loud, BLIP.frames + 1);
      if (first < this.now) first = this.firstFrame(first, begins, level);
    }
    let last = this.now - (this.gate.isOpen ? this.below - this.above : 0);
    while (last > first && !(this.levels.levelAt(last - 1) > level && this.levels.isAbove(last - 1, level))) last--;
    if (last > first && this.isClose) last = Math.min(this.now, last + HIDDEN.end);
    return this.ended(first, last);
  }

  /** The first frame of the speech with a loud level, not before a given frame. */
  private firstFrame(loud: number, earliest: number, level: number): number {
    const oldest = Math.max(earliest, this.levels.oldest);
    let frame = loud;
    for (let n = loud - 1; n >= oldest && frame - n <= GAP; n--) if (this.levels.levelAt(n) > level) frame = n;
    // A level is the mean of this frame and the two before it.
    let first = Math.max(oldest, frame - FRAMES_TO_OPEN + 1);
    while (first < frame && !this.levels.isAbove(first, level)) first++;
    return Math.max(oldest, this.isClose ? first - HIDDEN.onset : first);
  }

  private ended(first: number, last: number): GateEvent {
    // The gate's onset is exact to the sample.
    const isMoved = first > this.onset + 1;
    const onsetMs = isMoved ? first * FRAME_MS : this.onsetMs;
    const atMs = last > first ? Math.max(onsetMs, last * FRAME_MS) : onsetMs;
    if (isMoved && this.found) this.found = { ...this.found, fromMs: Math.min(this.found.fromMs, this.onsetMs) };
    const { energy, frames } = this.active(first, last);
    this.count(energy, frames);
    this.isSounding = false;
    this.hasSounded ||= last > first;
    this.below = this.now - last;
    this.above = 0;
    return { type: 'end', onsetMs, atMs, dbfs: dbfsOfMeanSquare(energy / Math.max(1, frames)), energy, frames };
  }

  /** Frames of a sound that are louder than the bed. */
  private active(first: number, last: number): { readonly energy: number; readonly frames: number } {
    const level = this.bed! + ABOVE_BED;
    let [energy, frames] = [0, 0];
    for (let frame = first; frame < last; frame++) {
      if (!this.levels.isAbove(frame, level)) continue;
      energy += this.levels.energyAt(frame);
      frames++;
    }
    return { energy, frames };
  }

  private count(energy: number, frames: number): void {
    this.energy += energy;
    this.frames += frames;
  }
}
