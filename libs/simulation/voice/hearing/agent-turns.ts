import type { LevelRange } from '../../../audio/index.js';
import type { AgentTurnFact, Span } from '../facts/facts.js';

/** The agent as the turn policy hears it. Times are call time in milliseconds. */
export interface HeardAgent {
  /** In order; the last one may continue. */
  readonly sounds: readonly HeardSound[];
  /** Whether a sound may have begun, but for less time than the gate takes to open. */
  readonly isOnsetPending: boolean;
  /** Whether the playout buffer contains audible sound. */
  hasAudibleLeft(atMs: number): boolean;
  /**
   * When the audio before the latest end of a turn that the platform reported had been played; null if it has reported none
   * since `sinceMs`.
   */
  turnEndPlayedAt(sinceMs: number): number | null;
  /** Levels of a sound that has lasted for 30 s, never fell to a bed and varies less than speech; else null. */
  readonly endless: LevelRange | null;
}

export interface HeardSound {
  readonly startMs: number;
  /** End of the active part so far. */
  readonly endMs: number;
  readonly isOpen: boolean;
  /** Whether it turned out to be steady background noise instead of a sound of the agent. */
  readonly isBackground: boolean;
}

/**
 * A sound of the agent that begins within these times after the caller's onset and the agent's previous sound is a collision. So
 * is a greeting that begins this soon after the caller's first onset.
 */
export const COLLISION = { afterCallerMs: 500, afterAgentMs: 2_000 } as const;
/** A shorter sound, such as an earcon, is not a turn by itself. It opens the answer that follows within `waitMs`. */
export const LEAD_IN = { maxMs: 250, waitMs: 1_500 } as const;
/** Sufficient silence after the transport reported the end of a turn. */
const AFTER_TURN_END_MS = 200;

interface OpenTurn {
  readonly turn: number;
  readonly startMs: number;
  readonly sounds: HeardSound[];
}

/** The agent's turns: from an onset until `turnEndMs` of heard silence, or until the caller takes the turn. */
export class AgentTurns {
  private readonly ended: AgentTurnFact[] = [];
  private open: OpenTurn | undefined;
  private known = 0;
  /** Began before the caller's latest line, or collided with its beginning, so it does not answer that line. */
  private tail: HeardSound | undefined;

  constructor(
    private readonly heard: HeardAgent,
    private readonly turnEndMs: number,
    private readonly turnAt: (atMs: number) => number,
  ) {}

  get isOpen(): boolean {
    return this.open !== undefined;
  }

  /** When the present turn began; undefined between turns. */
  get openSinceMs(): number | undefined {
    return this.open?.startMs;
  }

  /** Whether the present turn may be an answer, because it is more than a short sound that has ended. */
  get isAnswer(): boolean {
    return this.isOpen && !this.isLeadIn;
  }

  /** Audible milliseconds of the turn that ended last. */
  get lastAudibleMs(): number {
    return this.ended.at(-1)?.audibleMs ?? 0;
  }

  /** Whether the agent still speaks from before the caller's latest line. */
  get isTailOpen(): boolean {
    return this.tail?.isOpen ?? false;
  }

  get tailEndMs(): number {
    return this.tail?.endMs ?? 0;
  }

  /** Whether the present turn was heard after a given time. */
  wasHeardAfter(atMs: number): boolean {
    return (this.open?.sounds.at(-1)?.endMs ?? 0) > atMs;
  }

  /** Audible milliseconds of the present turn before a given time. */
  audibleMs(beforeMs = Infinity): number {
    return (this.open?.sounds ?? []).reduce(
      (sum, { startMs, endMs }) => sum + Math.max(0, Math.min(endMs, beforeMs) - startMs),
      0,
    );
  }

  /** When this many milliseconds of the present turn had been heard; undefined if fewer were. */
  whenAudible(ms: number): number | undefined {
    let left = ms;
    for (const { startMs, endMs } of this.open?.sounds ?? []) {
      if (endMs - startMs >= left) return startMs + left;
      left -= endMs - startMs;
    }
    return undefined;
  }

  /** Records sounds that have begun. @param floor the caller's latest line, if it has spoken */
  listen(floor: Span | undefined): void {
    const { sounds } = this.heard;
    for (; this.known < sounds.length; this.known++) {
      const sound = sounds[this.known]!;
      if (floor && this.isNoAnswer(floor, sound, sounds[this.known - 1])) this.tail = sound;
      else if (this.open) this.open.sounds.push(sound);
      else this.open = { turn: this.turnAt(sound.startMs), startMs: sound.startMs, sounds: [sound] };
    }
  }

  /**
   * Ends the present turn if the agent has been silent for long enough.
   * @param sinceMs earlier silence does not count @returns when the turn ended
   */
  endAfterSilence(untilMs: number, sinceMs: number): number | undefined {
    if (this.open?.sounds.every(({ isBackground }) => isBackground)) this.open = undefined;
    const last = this.open?.sounds.at(-1);
    if (!last || last.isOpen || this.heard.isOnsetPending) return undefined;
    const playedAt = this.heard.turnEndPlayedAt(last.startMs);
    const isLeadIn = this.isLeadIn;
    const silenceMs = isLeadIn ? Math.max(this.turnEndMs, LEAD_IN.waitMs) : this.turnEndMs;
    const bySilence = Math.max(last.endMs, sinceMs) + silenceMs;
    const byEvent = playedAt === null ? Infinity : Math.max(playedAt, last.endMs + AFTER_TURN_END_MS);
    const endedAt = Math.min(bySilence, byEvent);
    if (endedAt > untilMs || this.heard.hasAudibleLeft(untilMs)) return undefined;
    if (isLeadIn && bySilence <= byEvent) {
      this.open = undefined;
      return undefined;
    }
    this.close(byEvent < bySilence ? 'transport' : 'silence', last.endMs);
    return endedAt;
  }

  /** The caller begins a line, possibly over the agent. */
  callerTakesFloor(atMs: number): void {
    const last = this.heard.sounds.at(-1);
    this.tail = last?.isOpen ? last : undefined;
    if (this.isAnswer) this.close('caller', atMs);
    this.open = undefined;
  }

  /** All turns so far. */
  until(callEndMs: number): AgentTurnFact[] {
    if (this.isAnswer) this.close('call_end', Math.min(callEndMs, this.open?.sounds.at(-1)?.endMs ?? callEndMs));
    return this.ended;
  }

  private get isLeadIn(): boolean {
    return this.open?.sounds.at(-1)?.isOpen === false && this.audibleMs() < LEAD_IN.maxMs;
  }

  /** While the caller speaks: a collision, or interrupted speech that continues after a short pause. */
  private isNoAnswer(floor: Span, sound: HeardSound, previous: HeardSound | undefined): boolean {
    if (sound.startMs < floor.startMs || sound.startMs >= floor.endMs) return false;
    const isAtOnce = sound.startMs - floor.startMs < COLLISION.afterCallerMs;
    if (!previous) return isAtOnce && this.turnAt(sound.startMs) === 1;
    const sincePreviousMs = sound.startMs - previous.endMs;
    if (previous === this.tail && sincePreviousMs < this.turnEndMs) return true;
    return isAtOnce && sincePreviousMs < COLLISION.afterAgentMs;
  }

  private close(endedBy: AgentTurnFact['endedBy'], endMs: number): void {
    const { turn, startMs } = this.open!;
    this.ended.push({ turn, startMs, endMs: Math.max(startMs, endMs), audibleMs: this.audibleMs(endMs), endedBy });
    this.open = undefined;
  }
}
