import type { CallerAct, SayAct, SoundAct, Span, SpokenWord } from '../facts/facts.js';
import type { Line } from '../facts/line.js';
import type { Mouth } from './mouth.js';
import type { LineRest, PreparedSound, PreparedStep } from '../facts/plan.js';

export type SayStep = Extract<PreparedStep, { type: 'say' }>;
export type SoundStep = Extract<PreparedStep, { type: 'backchannel' | 'noise' }>;
type FillerStep = Pick<SoundStep, 'name' | 'sound'> & { readonly type: 'filler'; readonly step: null };
export type PressStep = Extract<PreparedStep, { type: 'press' }>;

/** Length of a key's tone and of the silence after it (ITU-T Q.24 asks for 40 ms each at least). */
const KEY_MS = 100;
const KEY_GAP_MS = 100;
/** `w` among the keys. */
const KEY_WAIT_MS = 500;

interface DueKey {
  readonly atMs: number;
  readonly digit: string;
}

/** Lets the caller speak, and records what it did. Times are call time in milliseconds. */
export class CallerActs {
  private readonly acts: CallerAct[] = [];
  private readonly keys: DueKey[] = [];
  /** End of the latest line's last sample. */
  private lineEndMs = 0;
  /** Starts of its lines. */
  private readonly turnStarts: number[] = [];

  /** @param streamStartMs call time of the stream's first sample */
  constructor(
    private readonly mouth: Mouth,
    private readonly line: Line,
    private readonly streamStartMs: number,
  ) {}

  /** Number of the caller's turn at a moment. */
  turnAt(atMs: number): number {
    return this.turnStarts.findLastIndex((start) => start <= atMs) + 1;
  }

  get turn(): number {
    return this.turnStarts.length;
  }

  /** End of the caller's latest line that began before a moment; 0 without one. */
  lineEndBefore(atMs: number): number {
    return this.acts.findLast((act) => act.type === 'say' && act.startMs < atMs)?.endMs ?? 0;
  }

  /** Begins a line. @returns its speech as recorded */
  say(step: SayStep, atMs: number, more: Pick<SayAct, 'repeated' | 'bargeIn'>): Span {
    const { parts, words } = this.playParts(step.parts, atMs);
    const startMs = parts[0]?.startMs ?? this.line.onSample(atMs);
    const endMs = parts.at(-1)?.endMs ?? startMs;
    this.turnStarts.push(startMs);
    const { step: index, text, source } = step;
    const said = { step: index, turn: this.turn, text, ...(source && { source }) };
    this.acts.push({ type: 'say', ...said, startMs, endMs, parts, words, ...more });
    return { startMs, endMs };
  }

  /** Adds a sentence to the latest line, which is not over. @returns the line's speech as recorded */
  extend({ text, sound }: LineRest, pauseMs: number): Span {
    const { act, index } = this.latestLine();
    const { parts, words } = this.playParts([{ pauseMs }, sound], this.lineEndMs);
    const endMs = parts.at(-1)?.endMs ?? act.endMs;
    const whole = { text: `${act.text} ${text}`, parts: [...act.parts, ...parts], words: [...act.words, ...words] };
    this.acts[index] = { ...act, ...whole, endMs };
    return { startMs: act.startMs, endMs };
  }

  /** The latest line ends before the caller has said all of it. */
  breakLine(): void {
    const { act, index } = this.latestLine();
    this.acts[index] = { ...act, goesOn: true };
  }

  /** Plays a sound that does not take the turn. @returns its end */
  sound(step: SoundStep | FillerStep, atMs: number): number {
    const span = this.play(step.sound, this.line.onSample(atMs));
    this.acts.push({ ...this.soundAct(step), ...span, possible: true });
    return span.endMs;
  }

  /** Records a sound that was left out because the agent's turn had ended. */
  leaveOut(step: SoundStep, atMs: number): void {
    this.acts.push({
      ...this.soundAct(step),
      startMs: this.line.onSample(atMs),
      endMs: this.line.onSample(atMs),
      possible: false,
    });
  }

  /** Begins to press keys. @returns the end of the last tone */
  press(step: PressStep, atMs: number): number {
    const startMs = this.line.onSample(atMs);
    let position = startMs;
    let endMs = startMs;
    for (const digit of step.keys) {
      if (digit === 'w') {
        position += KEY_WAIT_MS;
        continue;
      }
      endMs = position + KEY_MS;
      this.keys.push({ atMs: endMs, digit });
      position = endMs + KEY_GAP_MS;
    }
    this.acts.push({ type: 'press', step: step.step, turn: this.turn, keys: step.keys, startMs, endMs });
    return endMs;
  }

  /** Keys whose tone has ended. */
  dueKeys(untilMs: number): DueKey[] {
    const later = this.keys.findIndex(({ atMs }) => atMs > untilMs);
    return this.keys.splice(0, later === -1 ? this.keys.length : later);
  }

  /** What was done until the end of the call, in order of its start. */
  until(callEndMs: number): CallerAct[] {
    return this.acts
      .filter(({ startMs }) => startMs <= callEndMs)
      .sort((a, b) => a.startMs - b.startMs)
      .map((act) => (act.endMs <= callEndMs ? act : cutOff(act, callEndMs)));
  }

  private latestLine(): { readonly act: SayAct; readonly index: number } {
    const index = this.acts.findLastIndex(({ type }) => type === 'say');
    return { act: this.acts[index] as SayAct, index };
  }

  private playParts(given: SayStep['parts'], atMs: number): Pick<SayAct, 'parts' | 'words'> {
    const parts: Span[] = [];
    const words: SpokenWord[] = [];
    let position = this.line.onSample(atMs);
    for (const part of given) {
      if ('pauseMs' in part) {
        position += this.line.onSample(part.pauseMs);
        continue;
      }
      parts.push(this.play(part, position));
      for (const word of part.words) {
        words.push({ ...word, startMs: position + word.startMs, endMs: position + word.endMs });
      }
      position += this.line.msOf(part.pcm.length);
    }
    this.lineEndMs = position;
    return { parts, words };
  }

  private play(sound: PreparedSound, atMs: number): Span {
    this.mouth.schedule(this.line.samplesOf(atMs - this.streamStartMs), sound.pcm);
    return { startMs: atMs + this.line.msOf(sound.speechStart), endMs: atMs + this.line.msOf(sound.speechEnd) };
  }

  private soundAct(sound: SoundStep | FillerStep): Omit<SoundAct, 'startMs' | 'endMs' | 'possible'> {
    const { type, step, name } = sound;
    const afterMs = 'afterMs' in sound ? (sound.afterMs ?? null) : null;
    return { type, step, turn: this.turn, name, afterMs };
  }
}

function cutOff(act: CallerAct, endMs: number): CallerAct {
  if (act.type !== 'say') return { ...act, endMs };
  const within = <T extends Span>(spans: readonly T[]): T[] =>
    spans.filter(({ startMs }) => startMs < endMs).map((span) => ({ ...span, endMs: Math.min(span.endMs, endMs) }));
  return { ...act, endMs, parts: within(act.parts), words: within(act.words) };
}
